package pagehand

import (
	"context"
	"strconv"
	"strings"
)

var scriptMembers = []Member{
	off(onTab("javascript_exec", "Run JavaScript in the page and get the value of its last expression.", javascriptExec)),
}

type javascriptExecInput struct {
	Text string `json:"text" need:"true" doc:"The code. The value of the last expression is returned, without return; promises are awaited."`
	tabInput
}

func javascriptExec(ctx context.Context, t *tab, in javascriptExecInput) (output, error) {
	t.session.log.InfoContext(ctx, "javascript_exec", "tab", t.id, "code", in.Text) // contract §8: log the code
	var value string
	settled, err := t.act(ctx, func() error {
		var err error
		value, err = t.page.Evaluate(ctx, in.Text)
		return err
	})
	if err != nil {
		return output{}, err
	}
	if strings.TrimSpace(value) == "" {
		value = strconv.Quote(value) // the API takes no empty text
	}
	return say(value + t.outcome(settled))
}
