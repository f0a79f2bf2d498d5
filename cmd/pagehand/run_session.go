package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pagehand/pagehand"
)

// living is a session whose browser is started again when it ends, as exec does.
type living struct {
	flags   *browserFlags
	log     *slog.Logger
	configs pagehand.Configs
	browser *pagehand.Browser
	session *pagehand.Session
}

// openLiving starts a browser with a session, whose numbers go on after those of an earlier run.
func openLiving(ctx context.Context, flags *browserFlags, log *slog.Logger, after pagehand.Numbers, resumed bool) (*living, error) {
	options, err := flags.sessionOptions(log)
	if err != nil {
		return nil, err
	}
	l := &living{flags: flags, log: log, configs: options.Configs}
	if l.browser, err = flags.launch(ctx, log); err != nil {
		return nil, err
	}
	if resumed {
		l.session, err = l.browser.ContinueSession(ctx, options, after)
	} else {
		l.session, err = l.browser.NewSession(ctx, options)
	}
	if err != nil {
		l.close()
		return nil, openingError(ctx, err)
	}
	return l, nil
}

// open opens a page and tells the model of it in the task.
func (l *living) open(ctx context.Context, url, task string) (string, error) {
	if err := l.session.Open(ctx, url); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("--url: %w", err)
	}
	return strings.TrimSpace(task + "\n\nThe browser already shows " + url), nil
}

// Do runs a call. A signal cancels it; the cause of that is ours and no failure of the browser's.
func (l *living) Do(ctx context.Context, c pagehand.Call) pagehand.Result {
	plain, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	ctx = plain
	select {
	case <-l.browser.Done():
		if err := l.revive(ctx); err != nil {
			l.log.Error("the browser can't be started again", "cause", err)
		}
	default:
	}
	return l.session.Do(ctx, c)
}

func (l *living) revive(ctx context.Context) error {
	browser, err := l.flags.launch(ctx, l.log)
	if err != nil {
		return err
	}
	session, err := browser.ReplaceSession(ctx, l.session)
	if err != nil {
		return errors.Join(err, browser.Close())
	}
	l.close()
	l.browser, l.session = browser, session
	return nil
}

func (l *living) close() {
	if err := l.browser.Close(); err != nil {
		l.log.Error("something of the browser is left", "error", err)
	}
}
