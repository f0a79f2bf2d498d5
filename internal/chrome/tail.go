package chrome

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"unicode"
)

const (
	tailLines    = 12  // lines kept of what Chromium prints
	tailLineSize = 400 // bytes kept of one line
)

// tail keeps the end of what a browser prints, for the operator. A page can influence that text, so it is
// bounded and reduced to printable characters.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// read follows r until it ends. It never stops early: a full pipe would block the browser.
func (t *tail) read(r io.Reader, log *slog.Logger) {
	in := bufio.NewReaderSize(r, tailLineSize)
	for {
		line, more, err := in.ReadLine()
		text := printable(line)  // before the buffer is used again
		for more && err == nil { // the line is longer than we keep
			_, more, err = in.ReadLine()
		}
		if text != "" {
			t.add(text)
			log.LogAttrs(context.Background(), slog.LevelDebug, "browser output", slog.String("line", text))
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, line)
}

func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.lines...)
}

func printable(line []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(line)))
}
