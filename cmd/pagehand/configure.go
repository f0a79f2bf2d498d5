package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/conform"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
)

// obey does what a control line of the conformance kit asks for: settings of its own, or a fresh session with the same ones.
func (x *execution) obey(ctx context.Context, c *conform.Control) error {
	options := x.options
	if c.Configure != nil {
		var err error
		if options, err = configured(x.options, *c.Configure); err != nil {
			return x.refuse(err)
		}
		x.dropSpare()
	}
	session, err := x.fresh(ctx, options)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return x.refuse(err)
	}
	x.closeSession(x.session)
	x.session, x.options, x.model = session, options, contract.View{}
	x.checks.another()
	if c.Reset { // likely not the last one: the next session opens while this one is used
		x.spare = begin(func() (*pagehand.Session, error) { return x.browser.NewSession(ctx, options) })
	}
	return x.out.value(conform.Done{OK: true})
}

// fresh returns a session that has not been used: the spare one, if there is one.
func (x *execution) fresh(ctx context.Context, options *pagehand.SessionOptions) (*pagehand.Session, error) {
	if x.spare == nil {
		return x.browser.NewSession(ctx, options)
	}
	<-x.spare.done
	session, err := x.spare.session, x.spare.err
	x.spare = nil
	return session, err
}

// dropSpare closes the spare session, if there is one.
func (x *execution) dropSpare() {
	if x.spare == nil {
		return
	}
	<-x.spare.done
	if x.spare.err == nil {
		x.closeSession(x.spare.session)
	}
	x.spare = nil
}

func (x *execution) closeSession(s *pagehand.Session) {
	if err := s.Close(); err != nil {
		x.log.Error("something of a session is left", "error", err)
	}
}

func (x *execution) refuse(err error) error {
	return x.out.value(badLine{badLineError{"invalid_input", err.Error()}})
}

// configured are the options that the settings of the kit ask for. What they leave out is the default again; what they know nothing of stays.
func configured(options *pagehand.SessionOptions, s conform.Settings) (*pagehand.SessionOptions, error) {
	rules, err := egress.Parse(egress.Options{Allow: []string{}, AllowPrivateAt: s.Hosts})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(s.Configs)
	if err != nil {
		return nil, err
	}
	configs, err := pagehand.ParseConfigs(raw)
	if err != nil {
		return nil, err
	}
	o := *options
	o.Destinations, o.Configs = rules, configs
	o.Viewport = pagehand.Size{}
	if s.Viewport != nil {
		o.Viewport = pagehand.Size{Width: s.Viewport[0], Height: s.Viewport[1]}
	}
	switch s.Dialogs {
	case "", "dismiss", "accept":
		o.AcceptDialogs = s.Dialogs == "accept"
	default:
		return nil, fmt.Errorf("dialogs: %q is neither accept nor dismiss", s.Dialogs)
	}
	if s.Timeout < 0 {
		return nil, errors.New("timeout: it is negative")
	}
	o.Timeout = time.Duration(s.Timeout * float64(time.Second))
	o.UploadRoots, o.Documents = s.Uploads, s.Documents
	o.Downloads, o.ExposeDownloads = s.Downloads, s.Downloads != ""
	return &o, nil
}
