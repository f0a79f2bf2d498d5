package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pagehand/pagehand/recording"
)

// Kind is what a document is.
type Kind string

// The kinds of documents.
const (
	KindRequest   Kind = "request"   // the body of a Messages request
	KindMessages  Kind = "messages"  // a list of messages
	KindRecording Kind = "recording" // JSON Lines of package recording
)

// Document is an input that has been checked.
type Document struct {
	Kind         Kind
	Findings     []Finding
	Conversation *Conversation
}

// Any checks a request, a list of messages or a recording, whichever data is. The last turn of a list or a recording may be without
// results. An error says that it is none of them.
func Any(data []byte, o Options) (*Document, error) {
	d := &Document{Conversation: NewConversation(o)}
	var found findings
	v, err := parse(data, "", &found)
	switch {
	case err != nil:
		if !isRecording(data) {
			return nil, err
		}
		found = findings{}
		d.Kind, err = KindRecording, d.Conversation.recording(data, &found)
	case v.isList():
		d.Kind, v.name = KindMessages, "messages"
		found.moved("messages")
		d.Conversation.all(v.items, &found)
	case v.get("messages") != nil:
		d.Kind = KindRequest
		d.Conversation.wholeRequest(v, &found)
	case isRecording(data):
		found = findings{}
		d.Kind, err = KindRecording, d.Conversation.recording(data, &found)
	default:
		return nil, errors.New("neither a request, which has messages, nor a list of messages, nor a recording")
	}
	if err != nil {
		return nil, err
	}
	d.Findings = found.list()
	return d, nil
}

// moved puts findings below a root that was named later.
func (f *findings) moved(root string) {
	for i := range f.noted {
		f.noted[i].Path = root + f.noted[i].Path
	}
}

// isRecording reports whether the first line is an event.
func isRecording(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	var e struct {
		Time string         `json:"time"`
		Type recording.Type `json:"type"`
	}
	types := []recording.Type{recording.TypeRequest, recording.TypeMessage, recording.TypeCall, recording.TypeNote, recording.TypeEnd}
	return json.Unmarshal(line, &e) == nil && e.Time != "" && slices.Contains(types, e.Type)
}

// recording checks the requests and messages of a recording.
func (c *Conversation) recording(data []byte, found *findings) error {
	var run []*value // messages between two requests
	flush := func() {
		c.all(run, found)
		run = nil
	}
	n := 0
	for e, err := range recording.Read(bytes.NewReader(data)) {
		if err != nil {
			return err
		}
		switch e.Type {
		case recording.TypeRequest:
			flush()
			if v, ok := c.parse(e.Request, "", found); ok {
				c.request(v, found)
			}
		case recording.TypeMessage:
			if v, ok := c.parse(e.Message, fmt.Sprintf("messages[%d]", n), found); ok {
				run = append(run, v)
			}
			n++
		}
	}
	flush()
	return nil
}
