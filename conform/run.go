package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
)

// Verdict is what a check came to.
type Verdict string

// The verdicts. A check is not implemented when the executor says that it does not offer what the check needs: a control line or a member.
const (
	Pass           Verdict = "pass"
	Fail           Verdict = "fail"
	NotImplemented Verdict = "not implemented"
)

// Outcome is a check that was run.
type Outcome struct {
	Check
	Verdict Verdict
	// Reason says in one line what was not as expected, or is not implemented.
	Reason string
	Took   time.Duration
}

// Options say how checks are run. The zero value runs all, one after the other.
type Options struct {
	// Checks are the ones to run. Nil means all.
	Checks []Check
	// Timeout bounds each check. Zero means 60 seconds.
	Timeout time.Duration
	// Parallel is how many executors are started, each for a part of the checks. Zero means 1.
	Parallel int
	// Done is called after each check, once at a time. May be nil.
	Done func(Outcome)
}

const (
	defaultTimeout = time.Minute
	startTimeout   = 2 * time.Minute // of an executor, until it has taken a control line
)

// Run runs checks. An executor that dies or does not answer in time fails the check and is started again. The error is one of the kit
// itself, or says that an executor has never answered anything; the report then holds what was done before.
func Run(ctx context.Context, start Start, o Options) (*Report, error) {
	if o.Checks == nil {
		o.Checks = Checks()
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	report := &Report{Started: time.Now()}
	outcomes := make([]*Outcome, len(o.Checks))
	left := order(o.Checks)
	var mu sync.Mutex // guards the outcomes, what is left and the calls of Done
	take := func() (i int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(left) == 0 || ctx.Err() != nil {
			return 0, false
		}
		i, left = left[0], left[1:]
		return i, true
	}
	var runners sync.WaitGroup
	for range max(o.Parallel, 1) {
		runners.Go(func() {
			err := runSome(ctx, start, o.Timeout, func(r *runner) error {
				for i, more := take(); more; i, more = take() {
					outcome, err := r.run(ctx, o.Checks[i])
					if err != nil {
						return err
					}
					mu.Lock()
					outcomes[i] = &outcome
					if o.Done != nil {
						o.Done(outcome)
					}
					mu.Unlock()
				}
				return nil
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	runners.Wait()
	for _, outcome := range outcomes {
		if outcome != nil {
			report.Outcomes = append(report.Outcomes, *outcome)
		}
	}
	report.Took = time.Since(report.Started)
	return report, context.Cause(ctx)
}

// order is the order in which checks are run: those of the same settings after each other, since a reset costs less than a configure line.
func order(checks []Check) []int {
	indices := make([]int, len(checks))
	for i := range indices {
		indices[i] = i
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		return bytes.Compare(checks[a].script.Files["session"], checks[b].script.Files["session"])
	})
	return indices
}

// runSome gives checks what they need of the kit: pages, a folder and an executor, which is ended afterwards.
func runSome(ctx context.Context, start Start, timeout time.Duration, checks func(*runner) error) (err error) {
	s, err := openSite()
	if err != nil {
		return err
	}
	defer s.close()
	dir, err := os.MkdirTemp("", "pagehand-conform-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // the executor may run as another user
		return err
	}
	r := &runner{start: start, timeout: timeout, site: s, dir: dir, refused: map[string]string{}}
	defer func() { err = errors.Join(err, r.stop()) }()
	return checks(r)
}

// runner runs checks on an executor, one after the other.
type runner struct {
	start   Start
	timeout time.Duration
	site    *site
	dir     string

	executor   Executor          // nil: none is running
	answered   bool              // an executor has answered something
	configured string            // the settings of the running executor, as they were sent; empty: none
	fresh      bool              // nothing was done in its session but what failed as it should
	refused    map[string]string // control lines that were, and why
	count      int               // of checks
	calls      int
}

// missing is what an executor lacks that a check needs.
type missing struct{ what string }

func (m *missing) Error() string { return m.what }

var errTimeout = errors.New("the check took too long")

// run runs a check. The error ends the run: it was cancelled, or the executor has never answered.
func (r *runner) run(ctx context.Context, c Check) (Outcome, error) {
	began := time.Now()
	err := r.perform(ctx, c)
	outcome := Outcome{Check: c, Verdict: Pass, Took: time.Since(began)}
	var lacks *missing
	switch {
	case ctx.Err() != nil:
		return outcome, context.Cause(ctx)
	case errors.As(err, &lacks):
		outcome.Verdict, outcome.Reason = NotImplemented, lacks.what
	case err != nil && !r.answered:
		return outcome, err
	case err != nil:
		outcome.Verdict, outcome.Reason = Fail, oneLine(err.Error(), 2000)
	}
	return outcome, nil
}

// perform runs a check. What it leaves behind in the executor is the next one's to clear.
func (r *runner) perform(ctx context.Context, c Check) error {
	r.count++
	v := &values{site: r.site}
	dir := filepath.Join(r.dir, strconv.Itoa(r.count))
	if err := v.prepare(dir, c.script.Files); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r.site.show(c.script.Files, v)
	defer r.site.show(nil, nil)
	if err := r.begin(ctx, c, v); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, r.timeout, errTimeout)
	defer cancel()
	p := &play{runner: r, check: c, values: v, conversation: check.NewConversation(check.Options{})}
	fresh := r.fresh && c.onlyErrors()
	r.fresh = false
	if err := p.run(bounded); err != nil {
		return err
	}
	r.fresh = fresh
	return nil
}

// begin makes sure that an executor runs, with the check's settings, in a fresh session.
func (r *runner) begin(ctx context.Context, c Check, v *values) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("the executor did not answer in time"))
	defer cancel()
	if r.executor == nil {
		var err error
		if r.executor, err = r.start(ctx); err != nil {
			r.executor = nil
			return err
		}
	}
	want, err := c.settings(v)
	if err != nil {
		return err
	}
	line, err := json.Marshal(Control{Configure: &want})
	if err != nil {
		return err
	}
	control := line
	if r.configured == string(line) {
		if r.fresh {
			return nil
		}
		control = []byte(`{"reset":true}`)
	}
	reason, known := r.refused[string(control)]
	if !known {
		if reason, err = r.control(ctx, control); err != nil {
			return err
		}
	}
	switch {
	case reason == "":
		r.configured, r.fresh = string(line), true
		return nil
	case r.configured != string(line) && c.needs.any():
		return &missing{reason}
	}
	r.refused[string(control)] = reason
	return r.clear(ctx)
}

// control sends a control line. The reason tells why the executor does not obey it.
func (r *runner) control(ctx context.Context, line []byte) (reason string, err error) {
	data, err := r.exchange(ctx, line)
	if err != nil {
		return "", err
	}
	var told struct {
		OK    bool `json:"ok"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	switch err := json.Unmarshal(data, &told); {
	case err != nil:
		return "", fmt.Errorf("the answer to a control line is no JSON object: %s", excerpt(data))
	case told.OK:
		return "", nil
	case told.Error == nil:
		return "the control line was not understood: " + excerpt(data), nil
	}
	return "the control line was refused: " + excerpt([]byte(told.Error.Message)), nil
}

// clear replaces the tabs of earlier checks by a new one, for an executor that can't reset. What it can't do shows in the checks.
func (r *runner) clear(ctx context.Context) error {
	res, err := r.call(ctx, r.use("new_tab", "{}"))
	if err != nil || len(res.Content) == 0 {
		return err
	}
	state, ok := res.Content[0].(*contract.BrowserState)
	if !ok {
		return nil
	}
	for _, tab := range state.Tabs {
		if tab.Active {
			continue
		}
		if _, err := r.call(ctx, r.use("close_tab", fmt.Sprintf(`{"tab_id":%q}`, tab.TabID))); err != nil {
			return err
		}
	}
	return nil
}

// call makes one call, whose result is not judged: an empty one stands for what can't be read.
func (r *runner) call(ctx context.Context, use contract.ToolUse) (res contract.ToolResult, err error) {
	message, err := assistant([]contract.ToolUse{use}, "")
	if err != nil {
		return res, err
	}
	data, err := r.exchange(ctx, message)
	if err != nil {
		return res, err
	}
	if raw, err := userResults(data); err == nil && len(raw) == 1 && json.Unmarshal(raw[0], &res) != nil {
		res = contract.ToolResult{}
	}
	return res, nil
}

func (r *runner) use(name, input string) contract.ToolUse {
	r.calls++
	return contract.ToolUse{ID: fmt.Sprintf("toolu_%06d", r.calls), Name: name, ToolsetName: contract.ToolsetName, Input: json.RawMessage(input)}
}

// exchange asks the executor. One that fails to answer is ended.
func (r *runner) exchange(ctx context.Context, value []byte) ([]byte, error) {
	data, err := r.executor.Exchange(ctx, value)
	if err != nil {
		return nil, errors.Join(err, r.stop())
	}
	r.answered = true
	return bytes.TrimSpace(data), nil
}

// stop ends the executor, if one is running.
func (r *runner) stop() error {
	if r.executor == nil {
		return nil
	}
	err := r.executor.Close()
	r.executor, r.configured, r.fresh = nil, "", false
	return err
}
