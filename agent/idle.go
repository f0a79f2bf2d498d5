package agent

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"
)

// errIdle is a connection on which nothing arrives any more. A reply that takes long is not silent: the API sends pings.
var errIdle = errors.New("the API has been silent for too long")

// notIdle ends a request when the API has been silent for so long. Only waiting counts, not the time between two reads.
func notIdle(patience time.Duration, end context.CancelCauseFunc) option.RequestOption {
	silent := func() { end(errIdle) }
	return option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		timer := time.AfterFunc(patience, silent)
		res, err := next(r)
		timer.Stop()
		if res != nil && res.Body != nil {
			res.Body = &watchedBody{res.Body, patience, silent}
		}
		return res, err
	})
}

type watchedBody struct {
	io.ReadCloser
	patience time.Duration
	silent   func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.patience, b.silent)
	defer timer.Stop()
	return b.ReadCloser.Read(p)
}
