package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal ended.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return e.signal.String() }

func (e *signalError) status() int {
	if number, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return statusFailure
}

// untilSignal returns a context that the first SIGINT or SIGTERM ends; its cause is a *signalError. A second one then has its
// usual effect, so that whoever is in a hurry needs no SIGKILL: the browser and its files go all the same.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			cancel(&signalError{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}
