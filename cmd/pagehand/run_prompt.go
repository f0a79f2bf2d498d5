package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/pagehand/pagehand/agent"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// prompt asks a person on a terminal.
type prompt struct {
	out   io.Writer
	begin func() // starts reading, once
	lines chan string
}

func newPrompt(in io.Reader, out io.Writer) *prompt {
	p := &prompt{out: out, lines: make(chan string)}
	p.begin = sync.OnceFunc(func() { go p.read(in) })
	return p
}

// read hands over lines. Nothing can end a read of a terminal, so it lives as long as the program.
func (p *prompt) read(in io.Reader) {
	defer close(p.lines)
	for scanner := bufio.NewScanner(in); scanner.Scan(); {
		p.lines <- scanner.Text()
	}
}

// ask waits for a line: an empty one, or the end of the input, is no answer.
func (p *prompt) ask(ctx context.Context, _ agent.Question) (string, error) {
	fmt.Fprint(p.out, "The model asks you. Your answer (empty: end here): ")
	p.begin()
	select {
	case line := <-p.lines:
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		fmt.Fprintln(p.out)
		return "", context.Cause(ctx)
	}
}
