//go:build linux || darwin

package chrome

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// killGrace bounds the wait for processes that were killed. Only one stuck in the kernel takes that long.
const killGrace = 10 * time.Second

// startScript sets what only a process can set for itself and becomes the browser: files Chromium writes are
// for nobody else, and a crash leaves no image of its memory behind.
const startScript = `umask 077; ulimit -c 0; exec "$@"`

// Process is a running browser: the process group that Launch started, its pipe and its folder.
type Process struct {
	pipe   *pipe
	cmd    *exec.Cmd
	user   account
	folder *folder
	guard  *guard
	output tail

	closing atomic.Bool   // Close has begun, so the end is no surprise
	done    chan struct{} // closed when processes and folder are gone; the two errors are set before
	ended   error         // why the browser ended
	cleanup error         // what could not be removed
}

// Launch starts a browser and returns without waiting for it to answer: the caller's first call on the pipe does
// that. When the browser can't run, the pipe ends, Done is closed and Err says why.
//
// The context bounds the start only. The caller must Close the process. Should this program end without doing
// so, by a panic or SIGKILL, the browser is killed and its folder removed all the same.
func Launch(ctx context.Context, o Options) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Executable.Path == "" {
		found, err := Find("")
		if err != nil {
			return nil, err
		}
		o.Executable = found
	}
	if o.Logger == nil {
		o.Logger = discard
	}
	user, err := browserAccount(o.User)
	if err != nil {
		return nil, err
	}
	p, err := launch(o, user)
	if err != nil {
		user.release()
		return nil, err
	}
	return p, nil
}

func launch(o Options, user account) (*Process, error) {
	if err := user.canReach(o.Executable.Path); err != nil {
		return nil, fmt.Errorf("the browser's executable: %w", err)
	}
	folder, err := newFolder(user)
	if err != nil {
		return nil, fmt.Errorf("make the browser's folder: %w", err)
	}
	guard, err := startGuard(folder.path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the guard of the browser's folder: %w", err), folder.remove())
	}
	p := &Process{user: user, folder: folder, guard: guard, done: make(chan struct{})}
	if err := p.start(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", o.Executable.Path, err), p.clear())
	}
	return p, nil
}

// start runs the browser and leaves a goroutine that waits for its end.
func (p *Process) start(o Options) error {
	args, err := flags(o, p.folder.profile)
	if err != nil {
		return err
	}
	if _, small := smallSharedMemory(); small {
		args = append(args, "--disable-dev-shm-usage")
	}
	ours, theirs, err := newPipe()
	if err != nil {
		return err
	}
	printed, prints, err := os.Pipe()
	if err != nil {
		ours.Close()
		theirs.Close()
		return err
	}

	cmd := exec.Command("/bin/sh", append([]string{"-c", startScript, "sh", o.Executable.Path}, args...)...)
	p.cmd, p.pipe = cmd, ours
	cmd.Dir = p.folder.home
	cmd.Env = environment(o, p.folder)
	cmd.Stderr = prints
	cmd.ExtraFiles = []*os.File{theirs.r, theirs.w} // fd 3 and 4, as --remote-debugging-pipe wants
	cmd.SysProcAttr = p.user.processAttributes()

	started := make(chan error)
	go func() {
		// The parent-death signal comes when the thread that started the child ends, so this one stays for as
		// long as the browser runs.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		theirs.Close()
		prints.Close()
		if err != nil {
			started <- err
			return
		}
		p.guard.watch(p.PID())
		started <- nil
		p.wait(printed, o.Logger)
	}()
	err = <-started
	if err != nil {
		ours.Close()
		printed.Close()
	}
	if errors.Is(err, syscall.EPERM) && p.user.separate {
		return fmt.Errorf("%w: root may not change to user %d here; run as an ordinary user instead", err, p.user.uid)
	}
	return err
}

// wait returns when no process and no file of the browser is left.
func (p *Process) wait(printed *os.File, log *slog.Logger) {
	defer close(p.done)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p.output.read(printed, log)
	}()

	awaitExit(p.PID()) // the unreaped leader keeps its group's number from being used again
	syscall.Kill(-p.PID(), syscall.SIGKILL)
	p.cmd.Wait() // what it says is in ProcessState
	p.guard.watch(0)

	// Every process of the browser can print, also the crash handlers, which are no members of its group and leave
	// when they have nobody to watch: the end of that pipe is the end of the last one.
	printed.SetReadDeadline(time.Now().Add(killGrace))
	<-gone
	printed.Close()
	reapOrphans(p.PID())

	if !p.closing.Load() || !killedOrDone(p.cmd.ProcessState) {
		p.ended = explain(p.cmd.ProcessState.String(), p.output.last())
	}
	p.cleanup = p.clear()
	p.user.release()
}

// clear removes what a browser leaves in the file system.
func (p *Process) clear() error {
	err := p.folder.remove()
	p.guard.stop()
	return err
}

// killedOrDone says whether a browser ended as Close makes it end, not by a failure that Close came upon.
func killedOrDone(s *os.ProcessState) bool {
	return s.Success() || s.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
}

// explain finds out from its last words why a browser ended that nobody closed.
func explain(status string, lines []string) error {
	for _, l := range lines {
		if strings.Contains(l, "No usable sandbox") || strings.Contains(l, "Failed to move to new namespace") {
			return sandboxError()
		}
	}
	return &EndError{Status: status, Output: lines}
}

// Pipe is the DevTools connection: JSON messages, each ended by a NUL byte. Reading ends with io.EOF when the
// browser is gone. Close of the Process closes it too.
func (p *Process) Pipe() io.ReadWriteCloser { return p.pipe }

// PID is the process id of the browser process; it is also the id of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// UID is the user id that the browser runs as.
func (p *Process) UID() int { return int(p.user.uid) }

// Profile is the browser's profile folder.
func (p *Process) Profile() string { return p.folder.profile }

// Done is closed when nothing of the browser is left, neither a process nor its folder.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says why the browser ended: nil while it runs and when Close ended it, a *[SandboxError], or an *[EndError].
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.ended
	default:
		return nil
	}
}

// MakeDir makes a new folder that the browser may write to, beside its profile, and returns its path. The name is
// made from pattern as [os.MkdirTemp] does. Only the browser's user and ours can enter it. It goes with the browser.
func (p *Process) MakeDir(pattern string) (string, error) {
	return p.folder.makeDir(pattern)
}

// Own hands a file to the browser's user, so that Chromium can read what was staged for it.
func (p *Process) Own(path string) error { return p.user.own(path) }

// Close kills the browser and waits until no process and no folder is left. Chromium isn't asked to leave, which
// takes it a second or more: its profile is thrown away, so there is nothing to save. When the context ends first,
// or after ten seconds, Close returns an error and the work goes on. Close may be called again.
func (p *Process) Close(ctx context.Context) error {
	p.closing.Store(true)
	p.cmd.Process.Kill() // fails only when it ended before
	p.pipe.Close()
	ctx, cancel := context.WithTimeout(ctx, killGrace)
	defer cancel()
	select {
	case <-p.done:
		return p.cleanup
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of the killed browser (process %d): %w", p.PID(), ctx.Err())
	}
}

// environment is all that Chromium gets to know of ours.
func environment(o Options, f *folder) []string {
	env := []string{
		"HOME=" + f.home,
		"TMPDIR=" + f.temp,
		"PATH=" + f.programs + ":/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8",
		"LANGUAGE=" + strings.ReplaceAll(o.locale(), "-", "_"), // on Linux it decides instead of --lang
		// No desktop services: they could ask a person, and failing to find them costs time.
		"DBUS_SESSION_BUS_ADDRESS=disabled:",
		"DBUS_SYSTEM_BUS_ADDRESS=disabled:",
	}
	pass := []string{"TZ", "LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"} // where libraries and fonts are
	if o.Headful {
		pass = append(pass, "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
	}
	for _, name := range pass {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if o.Timezone != "" {
		env = append(env, "TZ="+o.Timezone) // the last one counts
	}
	return env
}

// pipe is our end of the DevTools connection.
type pipe struct{ r, w *os.File }

// newPipe returns both ends; the browser reads what we write and the other way round.
func newPipe() (ours, theirs *pipe, err error) {
	theirR, ourW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ourR, theirW, err := os.Pipe()
	if err != nil {
		theirR.Close()
		ourW.Close()
		return nil, nil, err
	}
	return &pipe{r: ourR, w: ourW}, &pipe{r: theirR, w: theirW}, nil
}

func (p *pipe) Read(b []byte) (int, error)  { return p.r.Read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.w.Write(b) }

// Close closes both directions, so that a blocked Read or Write returns.
func (p *pipe) Close() error { return errors.Join(p.w.Close(), p.r.Close()) }

// reapOrphans reaps the killed members of a process group that became our children, as all orphans do when we are
// the first process of a container.
func reapOrphans(group int) {
	for {
		_, err := syscall.Wait4(-group, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return // ECHILD: there is none, or no more
		}
	}
}
