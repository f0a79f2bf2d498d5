package main

import (
	"context"
	"log/slog"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
)

// inspector checks results with the API's rules while the next turn may already run, and logs what it finds.
type inspector struct {
	turns chan inspected
	done  chan struct{}
}

// inspected is a turn to be checked. Without calls it says that another session begins.
type inspected struct {
	calls   []contract.ToolUse
	results []contract.ToolResult
}

func newInspector(log *slog.Logger) *inspector {
	i := &inspector{turns: make(chan inspected, 4), done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.run(log)
	}()
	return i
}

func (i *inspector) run(log *slog.Logger) {
	conversation := check.NewConversation(check.Options{Forget: true})
	for turn := range i.turns {
		if len(turn.calls) == 0 {
			conversation = check.NewConversation(check.Options{Forget: true})
			continue
		}
		for _, f := range conversation.Turn(turn.calls, turn.results) {
			level := slog.LevelError
			if f.Warning {
				level = slog.LevelDebug // a page can cause some, by saying what the API says
			}
			log.Log(context.Background(), level, "a result is not as the contract has it", "finding", f.String())
		}
	}
}

// turn has a turn checked. It waits only when several others still are.
func (i *inspector) turn(calls []contract.ToolUse, results []contract.ToolResult) {
	if len(calls) > 0 {
		i.turns <- inspected{calls, results}
	}
}

// another says that the turns from here on are of another session.
func (i *inspector) another() { i.turns <- inspected{} }

// close waits until everything has been checked.
func (i *inspector) close() {
	close(i.turns)
	<-i.done
}
