package main

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/pagehand/pagehand/contract"
)

// lineWriter writes values, each on a line of its own, flushed.
type lineWriter struct{ out *bufio.Writer }

func newLineWriter(w io.Writer) *lineWriter { return &lineWriter{bufio.NewWriterSize(w, 64<<10)} }

// value writes any value as JSON.
func (l *lineWriter) value(v any) error {
	encoder := json.NewEncoder(l.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	return l.out.Flush()
}

// message writes a user message as JSON.
func (l *lineWriter) message(m contract.Message) error { return m.Encode(l.out) }

// text writes plain text.
func (l *lineWriter) text(s string) error {
	l.out.WriteString(s)
	l.out.WriteByte('\n')
	return l.out.Flush() // bufio keeps the first error of the writes before
}
