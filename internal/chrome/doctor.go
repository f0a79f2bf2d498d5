package chrome

import (
	"bufio"
	"context"
	_ "embed" // fonts.js
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// Status grades a [Check].
type Status int

const (
	// Fail means that no browser can be started.
	Fail Status = iota
	// Warn means that it works, but some pages look or behave worse than they should.
	Warn
	// OK means that nothing needs doing.
	OK
)

func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Warn:
		return "warn"
	default:
		return "fail"
	}
}

// Check is one fact about this machine.
type Check struct {
	// Name is what was looked at, such as "browser" or "fonts".
	Name string
	// Status grades the fact.
	Status Status
	// Text is a sentence that states it.
	Text string
	// Fix is the command that mends it, to be run as root where it installs or configures. Empty when there is
	// nothing to mend or no command does it; then Text says what to do.
	Fix string
}

// Report is what [Examine] found, in the order to print it.
type Report struct{ Checks []Check }

// Status is the worst of the checks.
func (r Report) Status() Status {
	worst := OK
	for _, c := range r.Checks {
		worst = min(worst, c.Status)
	}
	return worst
}

func (r *Report) add(name string, status Status, text, fix string) {
	r.Checks = append(r.Checks, Check{Name: name, Status: status, Text: text, Fix: fix})
}

// Examine finds out whether browsers can be started here with these options, by starting one. It takes about as
// long as that; the context bounds it.
func Examine(ctx context.Context, o Options) Report {
	var r Report
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		r.add("system", Fail, ErrUnsupported.Error()+".", "")
		return r
	}
	if o.Executable.Path == "" {
		found, err := Find("")
		if err != nil {
			r.add("browser", Fail, "There is none to use: "+err.Error()+".", installCommand())
			return r
		}
		o.Executable = found
	}
	r.start(ctx, o)
	if _, small := smallSharedMemory(); small {
		r.add("shared memory", Warn,
			"/dev/shm has little room, so Chromium keeps shared memory in temporary files, which is slower.",
			"mount -o remount,size=1G /dev/shm   (Docker: docker run --shm-size=1g)")
	}
	return r
}

// start adds what only a running browser can show.
func (r *Report) start(ctx context.Context, o Options) {
	where := o.Executable.Path
	if o.Executable.Wrapper != "" {
		where += ", which " + o.Executable.Wrapper + " starts"
	}
	browser, err := Launch(ctx, o)
	if err != nil {
		r.add("browser", Fail, o.Executable.Kind+" ("+where+") can't be started: "+err.Error()+".", "")
		return
	}
	stop := context.AfterFunc(ctx, func() { browser.Close(context.Background()) })
	defer stop()
	facts, err := ask(browser)
	proof := err
	if err == nil {
		proof = sandboxProof(browser.PID())
	}
	end := browser.Close(context.WithoutCancel(ctx))

	var sandbox *SandboxError
	switch cause := browser.Err(); {
	case ctx.Err() != nil:
		r.add("browser", Fail, o.Executable.Kind+" ("+where+") did not answer in time.", "")
		return
	case errors.As(cause, &sandbox):
		version, err := o.Executable.Version(ctx)
		if err != nil {
			version = o.Executable.Kind
		}
		r.add("browser", OK, version+" ("+where+") is there.", "")
		r.add("sandbox", Fail, "Chromium can't build it: "+sandbox.Cause+".", sandbox.Fix)
		return
	case err != nil:
		if cause != nil {
			err = cause // that its end broke the connection says nothing
		}
		r.add("browser", Fail, o.Executable.Kind+" ("+where+") does not work: "+strings.TrimRight(err.Error(), ".")+".", "")
		return
	}
	r.add("browser", OK, facts.product+" ("+where+") starts and answers.", "")
	r.add("user", OK, whoRuns(browser), "")
	if proof != nil {
		r.add("sandbox", Fail, "It is incomplete: "+proof.Error()+".", "")
	} else {
		r.add("sandbox", OK, "Chromium's own sandbox confines the pages.", "")
	}
	if end != nil {
		r.add("clean-up", Warn, "Something of the browser is left: "+end.Error()+".", "")
	}
	r.fonts(facts)
}

// fonts adds what the browser could not draw.
func (r *Report) fonts(f facts) {
	var missing, packages []string
	if !f.Latin {
		missing, packages = append(missing, "Latin"), append(packages, "fonts-liberation")
	}
	if !f.Chinese || !f.Japanese || !f.Korean {
		missing, packages = append(missing, "Chinese, Japanese or Korean"), append(packages, "fonts-noto-cjk")
	}
	if !f.Emoji {
		missing, packages = append(missing, "emoji in colour"), append(packages, "fonts-noto-color-emoji")
	}
	if len(missing) == 0 {
		r.add("fonts", OK, "Latin, Chinese, Japanese, Korean and emoji are there.", "")
		return
	}
	text := "No font for " + strings.Join(missing, " and ") + ": screenshots show boxes or the like instead."
	if !isDebian() {
		r.add("fonts", Warn, text+" Install Noto Sans CJK and Noto Color Emoji.", "")
		return
	}
	r.add("fonts", Warn, text, "apt-get update && apt-get install -y "+strings.Join(packages, " "))
}

// whoRuns says as whom a browser runs.
func whoRuns(p *Process) string {
	if uid := p.UID(); uid != os.Geteuid() {
		return fmt.Sprintf("Started as root, so Chromium runs as user id %d.", uid)
	}
	return fmt.Sprintf("Chromium runs as the user who starts it, id %d.", os.Geteuid())
}

// facts are what a browser says about itself.
type facts struct {
	product                                 string
	Latin, Chinese, Japanese, Korean, Emoji bool
}

//go:embed fonts.js
var fontsScript string

// ask has a new browser open a page and draw in it.
func ask(p *Process) (facts, error) {
	c := dialogue{pipe: p.Pipe(), in: bufio.NewReader(p.Pipe())}
	var version struct{ Product string }
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	var drawn struct{ Result struct{ Value facts } }
	err := c.call("Browser.getVersion", nil, &version)
	if err == nil {
		err = c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	}
	if err == nil {
		err = c.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	}
	if err == nil {
		c.session = session.SessionID
		err = c.call("Runtime.evaluate", map[string]any{"expression": fontsScript, "returnByValue": true}, &drawn)
	}
	drawn.Result.Value.product = version.Product
	return drawn.Result.Value, err
}

// dialogue speaks the DevTools protocol one call at a time, which is enough to examine a browser.
type dialogue struct {
	pipe    io.Writer
	in      *bufio.Reader
	id      int
	session string
}

func (d *dialogue) call(method string, params, result any) error {
	d.id++
	message, err := json.Marshal(struct {
		ID        int    `json:"id"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
		SessionID string `json:"sessionId,omitempty"`
	}{d.id, method, params, d.session})
	if err != nil {
		return err
	}
	if _, err := d.pipe.Write(append(message, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		text, err := d.in.ReadBytes(0)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		var reply struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &reply); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case reply.ID != d.id: // an event
		case reply.Error != nil:
			return fmt.Errorf("%s: %s", method, reply.Error.Message)
		default:
			return json.Unmarshal(reply.Result, result)
		}
	}
}
