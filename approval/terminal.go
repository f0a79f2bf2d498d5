package approval

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// ErrClosed says that the terminal is closed, so nobody can answer.
var ErrClosed = errors.New("the terminal is closed")

// Terminal asks on a terminal. One goroutine reads the answers; it ends with the input.
type Terminal struct {
	out  io.Writer
	turn chan struct{} // holds a token while nobody asks
	gone chan struct{} // closed when the input has ended

	mu      sync.Mutex
	waiting chan string // of the question that is asked now, else nil
	unsure  bool        // a question has ended without an answer, and its line may still come
}

// NewTerminal asks on out and reads answers from in, which must be a person's terminal and which nothing else may read.
func NewTerminal(in io.Reader, out io.Writer) *Terminal {
	t := &Terminal{out: out, turn: make(chan struct{}, 1), gone: make(chan struct{})}
	t.turn <- struct{}{}
	go t.read(in)
	return t
}

// maxAnswer is how long a line may be, in bytes; a longer one is no answer, and nothing after it is.
const maxAnswer = 1024

// read hands each line to the question that is being asked. A line that comes while none is was meant for an earlier one and is dropped.
func (t *Terminal) read(in io.Reader) {
	defer close(t.gone)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		t.mu.Lock()
		if t.waiting != nil {
			t.waiting <- lines.Text() // has room for one
			t.waiting = nil
		}
		t.unsure = false
		t.mu.Unlock()
	}
}

// maxShown is how many characters of an input are shown on a terminal, so that the question stays on the screen.
const maxShown = 3000

// Approve asks; y and yes are a yes, everything else is a no. Questions are asked one at a time.
func (t *Terminal) Approve(ctx context.Context, r Request) (Answer, error) {
	select {
	case <-t.turn:
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
	defer func() { t.turn <- struct{}{} }()

	if _, err := io.WriteString(t.out, question(r.View())); err != nil {
		return Answer{}, fmt.Errorf("ask on the terminal: %w", err)
	}
	line, unsure, err := t.line(ctx)
	if err == nil && unsure {
		if _, err := io.WriteString(t.out, "That may have been for the question before, which is over. "+prompt); err != nil {
			return Answer{}, fmt.Errorf("ask on the terminal: %w", err)
		}
		line, _, err = t.line(ctx)
	}
	if err != nil {
		return Answer{}, err
	}
	line = strings.ToLower(strings.TrimSpace(line))
	return Answer{Yes: line == "y" || line == "yes", Digest: r.Digest(), By: "terminal"}, nil
}

// line waits for a line, and tells whether it may be the answer to an earlier question.
func (t *Terminal) line(ctx context.Context) (line string, unsure bool, err error) {
	answer := make(chan string, 1)
	t.mu.Lock()
	t.waiting, unsure = answer, t.unsure
	t.mu.Unlock()
	select {
	case line = <-answer:
		return line, unsure, nil
	case <-t.gone:
		err = ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
		// The terminal may be gone; then the refusal is all the same.
		_, _ = io.WriteString(t.out, "\nToo late: refused.\n")
	}
	t.mu.Lock()
	t.waiting, t.unsure = nil, true
	t.mu.Unlock()
	return "", false, err
}

const prompt = "Do it? [y/N] "

// question puts what matters last, where a long input cannot scroll it away.
func question(v View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nInput, %d characters:\n%s\n\n", v.Characters, excerpt(v.Input, maxShown))
	for _, row := range [][2]string{
		{"Member", v.Member}, {"Host", v.Host}, {"Page", v.URL}, {"Tab", v.Tab}, {"Element", v.Element}, {"Form", v.Form}, {"Because", v.Reason},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "%-8s %s\n", row[0], strings.ReplaceAll(excerpt(row[1], 400), "\n", " "))
		}
	}
	b.WriteString(prompt)
	return b.String()
}
