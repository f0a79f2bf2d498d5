package pagehand

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/page"
)

// ToolError is a failure of a call as the model reads it, after "Error: ": one line that says what happened, why, and what to do
// next, without local paths or secrets. Err is the cause, for the operator only.
type ToolError struct {
	Message string
	Err     error
}

func (e *ToolError) Error() string { return e.Message }

func (e *ToolError) Unwrap() error { return e.Err }

func toolErrorf(format string, args ...any) error {
	return &ToolError{Message: fmt.Sprintf(format, args...)}
}

// errDeadline is the cause when a call used up its time.
var errDeadline = errors.New("the call's deadline passed")

// explain words any failure of a call for the model.
func explain(member string, t *tab, patience time.Duration, err error) *ToolError {
	var own *ToolError
	var problem *page.Problem
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &problem):
		return &ToolError{problem.Text, err}
	case errors.Is(err, errDeadline):
		return &ToolError{fmt.Sprintf("%s timed out after %s. The page may be busy or unavailable; its effect is unknown. Take a screenshot or read the page before you retry.", member, inWords(patience)), err}
	case errors.Is(err, context.Canceled):
		return &ToolError{member + " was cancelled.", err}
	case errors.Is(err, page.ErrDialogs):
		return &ToolError{fmt.Sprintf("%s was given up: the page opens one dialog after the other without end. Its effect is unknown; read the page before you go on.", member), err}
	case errors.Is(err, page.ErrCrashed):
		return &ToolError{fmt.Sprintf("The page in %s crashed during %s and the tab is closed. Open it again with new_tab.", tabName(t), member), err}
	case errors.Is(err, cdp.ErrDetached):
		return &ToolError{fmt.Sprintf("%s was closed during %s. Call list_tabs to see the open tabs.", tabName(t), member), err}
	case errors.Is(err, cdp.ErrClosed):
		return &ToolError{"The browser is not running any more. Call list_tabs, then open the page again.", err}
	}
	return &ToolError{member + " failed inside the browser. Read the page to see its state, then retry.", err}
}

func tabName(t *tab) string {
	if t == nil {
		return "the tab"
	}
	return t.id
}

// inWords gives a duration in seconds, as the contract's examples do.
func inWords(d time.Duration) string {
	seconds := d.Seconds()
	if seconds == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%g seconds", seconds)
}
