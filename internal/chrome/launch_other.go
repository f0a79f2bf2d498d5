//go:build !linux && !darwin

package chrome

import (
	"context"
	"io"
)

// Process is a running browser. On this system there is none.
type Process struct{}

// Launch returns [ErrUnsupported].
func Launch(context.Context, Options) (*Process, error) { return nil, ErrUnsupported }

// Pipe is the DevTools connection.
func (p *Process) Pipe() io.ReadWriteCloser { return nil }

// PID is the process id of the browser process.
func (p *Process) PID() int { return 0 }

// UID is the user id that the browser runs as.
func (p *Process) UID() int { return 0 }

// Profile is the browser's profile folder.
func (p *Process) Profile() string { return "" }

// Done is closed when no process of the browser is left.
func (p *Process) Done() <-chan struct{} { return nil }

// Err says why the browser ended.
func (p *Process) Err() error { return nil }

// MakeDir makes a new folder that the browser may write to.
func (p *Process) MakeDir(string) (string, error) { return "", ErrUnsupported }

// Own hands a file to the browser's user.
func (p *Process) Own(string) error { return ErrUnsupported }

// Close ends the browser and removes its folder.
func (p *Process) Close(context.Context) error { return nil }

func smallSharedMemory() (uint64, bool) { return 0, false }

func sandboxProof(int) error { return ErrUnsupported }
