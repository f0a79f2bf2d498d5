package agent

import (
	"time"

	"github.com/pagehand/pagehand"
)

// Event is something that an observer is told: one of the types below.
type Event interface{ event() }

// TurnStarted says that a reply is asked for. N counts them from 1.
type TurnStarted struct{ N int }

// Said is a piece of the model's text, as it streams in.
type Said struct{ Text string }

// CallStarted says that a call begins to run. About is what the call's ref was called when it was read, such as button "Pay"; may be
// empty.
type CallStarted struct {
	Call  pagehand.Call
	About string
}

// CallDone says that the call which started last has been answered. A call that is not run, because the batch was halted, only has this.
type CallDone struct {
	Call   pagehand.Call
	Result pagehand.Result
	Took   time.Duration
}

// TurnEnded says that a reply is complete and its calls are answered.
type TurnEnded struct {
	N     int
	Calls int
	// Final says that the run ends with this turn.
	Final bool
	// Usage is this reply's.
	Usage   Usage
	Context Window
}

// Asked says that a question of the model was answered, by a person or because nobody is there.
type Asked struct {
	Question Question
	Answer   string
}

// Noted is a remark: a repeated request, results that were taken out of the context.
type Noted struct{ Text string }

func (TurnStarted) event() {}
func (Said) event()        {}
func (CallStarted) event() {}
func (CallDone) event()    {}
func (TurnEnded) event()   {}
func (Asked) event()       {}
func (Noted) event()       {}
