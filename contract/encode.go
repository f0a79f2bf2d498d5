package contract

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
)

// Encode writes the message to w as one line, as a json.Encoder does that doesn't escape HTML.
//
// It writes piece by piece: encoding/json copies and scans each image and text once for every level that it is nested
// in, and for a screenshot that takes longer than making it. A w that is a *bufio.Writer of 32 KiB or more is used as it
// is, and flushed.
func (m Message) Encode(w io.Writer) error {
	e := newEncoder(w)
	e.message(m)
	e.raw("\n")
	if e.err != nil {
		return e.err
	}
	return e.out.Flush() // bufio keeps the first error of the writes before
}

// encoder writes the pieces of a message. After a value that has no JSON, err is set.
type encoder struct {
	out   *bufio.Writer
	piece bytes.Buffer
	json  *json.Encoder // into piece
	err   error
}

func newEncoder(w io.Writer) *encoder {
	e := &encoder{out: bufio.NewWriterSize(w, 32<<10)} // w itself, when it is a bufio.Writer of that size
	e.json = json.NewEncoder(&e.piece)
	e.json.SetEscapeHTML(false)
	return e
}

func (e *encoder) message(m Message) {
	e.raw(`{"role":`)
	e.value(m.Role)
	e.raw(`,"content":[`)
	for i, r := range m.Content {
		e.comma(i)
		e.result(r)
	}
	e.raw(`]`)
	if m.ModelView != "" {
		e.raw(`,"model_view":`)
		e.value(m.ModelView)
	}
	e.raw(`}`)
}

func (e *encoder) result(r ToolResult) {
	e.raw(`{"type":"tool_result","tool_use_id":`)
	e.value(r.ToolUseID)
	if r.ToolsetName != "" {
		e.raw(`,"toolset_name":`)
		e.value(r.ToolsetName)
	}
	if r.IsError {
		e.raw(`,"is_error":true`)
	}
	e.raw(`,"content":[`)
	for i, b := range r.Content {
		e.comma(i)
		e.block(b)
	}
	e.raw(`]}`)
}

func (e *encoder) block(b Block) {
	switch b := b.(type) {
	case Text:
		e.raw(`{"type":"text","text":`)
		e.value(b.Text)
		e.raw(`}`)
	case Image:
		e.raw(`{"type":"image","source":{"type":"base64","media_type":`)
		e.value(b.MediaType)
		e.raw(`,"data":"`)
		data := base64.NewEncoder(base64.StdEncoding, e.out)
		data.Write(b.Data)
		data.Close()
		e.raw(`"}}`)
	default:
		e.value(b)
	}
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.raw(`,`)
	}
}

func (e *encoder) raw(s string) { e.out.WriteString(s) }

func (e *encoder) value(v any) {
	if e.err != nil {
		return
	}
	e.piece.Reset()
	if e.err = e.json.Encode(v); e.err == nil {
		e.out.Write(bytes.TrimSuffix(e.piece.Bytes(), []byte("\n")))
	}
}
