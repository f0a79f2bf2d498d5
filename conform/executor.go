package conform

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/pagehand/pagehand/contract"
)

// Executor is a running executor. It answers one value at a time.
type Executor interface {
	// Exchange sends a JSON value and returns the answer. After an error the executor is of no use any more.
	Exchange(ctx context.Context, value []byte) ([]byte, error)
	// Close ends the executor and whatever it started.
	Close() error
}

// Start starts an executor, or connects to one.
type Start func(ctx context.Context) (Executor, error)

// maxAnswer bounds one answer, in bytes: many times what the API takes.
const maxAnswer = 256 << 20

// Command returns how to start an executor that reads and writes lines, such as "pagehand exec --lines --conform". The shell
// reads the command. What it prints on standard error is shown when it dies.
func Command(command string) Start {
	return func(context.Context) (Executor, error) {
		p := &process{cmd: shell(command), answers: make(chan answer, 1)}
		p.cmd.Stderr = &p.said
		p.cmd.WaitDelay = time.Second // for a process that left the group and keeps standard error open
		in, err := p.cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := p.cmd.Start(); err != nil {
			return nil, fmt.Errorf("start the executor: %w", err)
		}
		p.in = in
		p.end = sync.OnceValue(p.close)
		go p.read(out)
		return p, nil
	}
}

// process is an executor that reads and writes lines.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan answer // closed after the last
	said    tail
	end     func() error // close, once
}

type answer struct {
	line []byte
	err  error
}

// read passes the lines on. It ends when the process closes its output, at the latest when it is killed.
func (p *process) read(out io.Reader) {
	defer close(p.answers)
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), maxAnswer)
	for lines.Scan() {
		p.answers <- answer{line: bytes.Clone(lines.Bytes())}
	}
	if err := lines.Err(); err != nil {
		p.answers <- answer{err: err}
	}
}

func (p *process) Exchange(ctx context.Context, value []byte) ([]byte, error) {
	select {
	case a, more := <-p.answers:
		if more && a.err == nil {
			return nil, fmt.Errorf("the executor wrote a line that nobody asked for: %s", excerpt(a.line))
		}
		return nil, p.ended(a.err)
	default:
	}
	written := make(chan error, 1)
	go func() {
		_, err := p.in.Write(append(value, '\n'))
		written <- err
	}()
	select {
	case a, more := <-p.answers:
		if !more || a.err != nil {
			return nil, p.ended(a.err)
		}
		return a.line, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ended words why there is no answer, with all that the executor said.
func (p *process) ended(err error) error {
	text := "the executor ended"
	if err != nil {
		text = fmt.Sprintf("the executor's output can't be read (%v)", err)
	}
	closing := p.end()
	if said := p.said.String(); said != "" {
		text += "; it said: " + said
	}
	return errors.Join(errors.New(text), closing)
}

// grace is how long an executor may take to end by itself once its input has ended.
const grace = 5 * time.Second

func (p *process) Close() error { return p.end() }

// close ends the input, waits for the process to go by itself, and then kills what is left of its group.
func (p *process) close() error {
	p.in.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for range p.answers { // until its output ends
		}
	}()
	select {
	case <-gone:
	case <-time.After(grace):
	}
	err := killGroup(p.cmd)
	p.cmd.Wait() // closes its output; how it ended does not matter any more
	<-gone
	return err
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 500 // bytes
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if len(t.kept) > most {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-most:]...)
	}
	return len(b), nil
}

// String is what was kept as one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return excerpt(t.kept)
}

// HTTP returns how to use an executor that answers POST requests at a URL. It is neither started nor ended by the kit.
func HTTP(url string) Start {
	return func(context.Context) (Executor, error) { return &server{url: url, client: &http.Client{}}, nil }
}

type server struct {
	url    string
	client *http.Client
}

func (s *server) Exchange(ctx context.Context, value []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(value))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return body, err
}

func (s *server) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// excerpt is the beginning of what an executor said, for an error message.
func excerpt(data []byte) string { return oneLine(string(data), 500) }

// oneLine is a text as one line of at most so many bytes and what tells that it was cut, without anything that could steer a terminal.
func oneLine(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "…"
	}
	return contract.CleanTitle(text)
}
