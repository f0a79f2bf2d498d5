package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func collect(in io.Reader, lines bool) (texts []string, last error) {
	for v := range values(context.Background(), in, lines) {
		switch {
		case errors.Is(v.err, errTooLong):
			texts = append(texts, "too long")
		case v.err != nil:
			last = v.err
		default:
			texts = append(texts, string(v.data))
		}
	}
	return texts, last
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200<<10) // longer than the reader's buffer
	exact := strings.Repeat("x", maxInput)
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one", "a\n", []string{"a"}},
		{"no newline at the end", "a\nb", []string{"a", "b"}},
		{"blank lines", "\na\n \r\n\n", []string{"a"}},
		{"a blank line at the end", "a\n ", []string{"a"}},
		{"byte order mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"nothing but a byte order mark", "\ufeff", nil},
		{"long", "a\n" + long + "\nb\n", []string{"a", long, "b"}},
		{"as long as allowed", exact + "\nb", []string{exact, "b"}},
		{"too long", "a\n" + exact + "x\nb\n", []string{"a", "too long", "b"}},
		{"too long at the end", "a\n" + exact + "x", []string{"a", "too long"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := collect(strings.NewReader(test.in), true)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %d lines, %v; want %d", len(got), err, len(test.want))
			}
		})
	}
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))
	if got, err := collect(in, true); !slices.Equal(got, []string{"a"}) || !errors.Is(err, broken) {
		t.Errorf("lines: got %q, %v", got, err)
	}
	if got, err := collect(iotest.ErrReader(broken), false); got != nil || !errors.Is(err, broken) {
		t.Errorf("whole: got %q, %v", got, err)
	}
}

func TestWholeInput(t *testing.T) {
	if got, err := collect(strings.NewReader("a\nb\n"), false); err != nil || !slices.Equal(got, []string{"a\nb\n"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := collect(strings.NewReader("\ufeff[]"), false); err != nil || !slices.Equal(got, []string{"[]"}) {
		t.Errorf("with a byte order mark: got %q, %v", got, err)
	}
	if got, _ := collect(strings.NewReader(strings.Repeat(" ", maxInput+1)), false); !slices.Equal(got, []string{"too long"}) {
		t.Errorf("got %d values", len(got))
	}
}

// endless is an input that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "a\n"), nil }

// A reader that nobody needs any more ends with the context.
func TestAbandonedInput(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	lines := values(ctx, endless{}, true)
	<-lines
	cancel()
	for range lines { // until the channel is closed
	}
}
