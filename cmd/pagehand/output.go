package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/pagehand/pagehand/contract"
)

// lineWriter writes JSON values, each on a line of its own, flushed.
//
// Messages are written piece by piece: encoding/json would copy and scan each image and text once for every level that it is
// nested in, and on the way of a screenshot that takes longer than encoding it.
type lineWriter struct {
	out     *bufio.Writer
	scratch bytes.Buffer
	json    *json.Encoder // into scratch
}

func newLineWriter(w io.Writer) *lineWriter {
	l := &lineWriter{out: bufio.NewWriterSize(w, 64<<10)}
	l.json = json.NewEncoder(&l.scratch)
	l.json.SetEscapeHTML(false)
	return l
}

// value writes any value as one line.
func (l *lineWriter) value(v any) error {
	if err := l.piece(v); err != nil {
		return err
	}
	return l.endLine()
}

// text writes plain text and a newline.
func (l *lineWriter) text(s string) error {
	l.out.WriteString(s)
	return l.endLine()
}

// message writes a user message as one line, as json.Marshal would without escaping HTML.
func (l *lineWriter) message(m contract.Message) error {
	l.out.WriteString(`{"role":`)
	if err := l.piece(m.Role); err != nil {
		return err
	}
	l.out.WriteString(`,"content":[`)
	for i, r := range m.Content {
		if i > 0 {
			l.out.WriteByte(',')
		}
		if err := l.result(r); err != nil {
			return err
		}
	}
	l.out.WriteByte(']')
	if m.ModelView != "" {
		l.out.WriteString(`,"model_view":`)
		if err := l.piece(m.ModelView); err != nil {
			return err
		}
	}
	l.out.WriteByte('}')
	return l.endLine()
}

func (l *lineWriter) result(r contract.ToolResult) error {
	l.out.WriteString(`{"type":"tool_result","tool_use_id":`)
	if err := l.piece(r.ToolUseID); err != nil {
		return err
	}
	if r.ToolsetName != "" {
		l.out.WriteString(`,"toolset_name":`)
		if err := l.piece(r.ToolsetName); err != nil {
			return err
		}
	}
	if r.IsError {
		l.out.WriteString(`,"is_error":true`)
	}
	l.out.WriteString(`,"content":[`)
	for i, b := range r.Content {
		if i > 0 {
			l.out.WriteByte(',')
		}
		if err := l.block(b); err != nil {
			return err
		}
	}
	l.out.WriteString("]}")
	return nil
}

func (l *lineWriter) block(b contract.Block) error {
	switch b := b.(type) {
	case contract.Text:
		l.out.WriteString(`{"type":"text","text":`)
		if err := l.piece(b.Text); err != nil {
			return err
		}
		l.out.WriteByte('}')
		return nil
	case contract.Image:
		l.out.WriteString(`{"type":"image","source":{"type":"base64","media_type":`)
		if err := l.piece(b.MediaType); err != nil {
			return err
		}
		l.out.WriteString(`,"data":"`)
		data := base64.NewEncoder(base64.StdEncoding, l.out)
		if _, err := data.Write(b.Data); err != nil {
			return err
		}
		if err := data.Close(); err != nil {
			return err
		}
		l.out.WriteString(`"}}`)
		return nil
	}
	return l.piece(b)
}

// piece writes a value without a newline.
func (l *lineWriter) piece(v any) error {
	l.scratch.Reset()
	if err := l.json.Encode(v); err != nil {
		return err
	}
	_, err := l.out.Write(bytes.TrimSuffix(l.scratch.Bytes(), []byte("\n")))
	return err
}

func (l *lineWriter) endLine() error {
	l.out.WriteByte('\n')
	const usual = 1 << 20
	if l.scratch.Cap() > usual {
		l.scratch = bytes.Buffer{} // don't hold on to the memory of one huge reading
	}
	return l.out.Flush() // bufio keeps the first error of the writes before
}
