package agent

import (
	"github.com/pagehand/pagehand/models"
)

// Usage counts tokens by what they are billed as, and what they cost.
type Usage struct {
	Input, CacheRead, CacheWrite, Output int64
	// Dollars is an estimate by the model's price; 0 when that is not known.
	Dollars float64
}

// Total is the number of tokens of every kind.
func (u Usage) Total() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

func (u Usage) plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Dollars + v.Dollars}
}

// Window is how full the model's context is, in tokens. Size is 0 when it isn't known.
type Window struct{ Used, Size int64 }

// Share is the part that is used, from 0 to 1; 0 when the size isn't known.
func (w Window) Share() float64 {
	if w.Size == 0 {
		return 0
	}
	return float64(w.Used) / float64(w.Size)
}

// meter measures by what is known of the model.
type meter struct {
	facts *models.Model // nil: nothing
	used  int64         // of the window, by the last reply
}

func (m *meter) window() Window {
	if m.facts == nil {
		return Window{Used: m.used}
	}
	return Window{m.used, int64(m.facts.ContextWindow)}
}

// spend books what a request used, also when its reply was never complete.
func (r *run) spend(reply *reply) {
	u := reply.message.Usage
	hour := u.CacheCreation.Ephemeral1hInputTokens
	used := Usage{Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens}
	if facts := r.meter.facts; facts != nil {
		used.Dollars, _ = facts.Price.Cost(models.Usage{
			Input: used.Input, Output: used.Output, CacheRead: used.CacheRead, CacheWrite: used.CacheWrite - hour, CacheWriteHour: hour,
		})
	}
	reply.usage = used
	r.outcome.Usage = r.outcome.Usage.plus(used)
	if used.Total() > 0 {
		r.meter.used = used.Total()
	}
}
