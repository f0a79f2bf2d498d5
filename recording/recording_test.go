package recording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/recording"
)

func TestWriteAndRead(t *testing.T) {
	var file strings.Builder
	w := recording.NewWriter(&file)
	for _, e := range []recording.Event{
		{Type: recording.TypeRequest, Request: json.RawMessage(`{"model":"m"}`)},
		{Type: recording.TypeMessage, Message: json.RawMessage(`{"role":"user","content":"<a> & b"}`)},
		{Type: recording.TypeEnd, End: &recording.End{Reason: "end_turn", Turns: 1}},
	} {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(file.String(), `"<a> & b"`) {
		t.Errorf("the message was not kept as it is: %s", file.String())
	}
	var types []string
	for e, err := range recording.Read(strings.NewReader(file.String() + "\n" + `{"type":"message","mess`)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Time.IsZero() {
			t.Errorf("%s has no time", e.Type)
		}
		types = append(types, string(e.Type))
	}
	if got := strings.Join(types, " "); got != "request message end" {
		t.Errorf("read %s", got)
	}
}

func TestReadBadLine(t *testing.T) {
	var last error
	for _, err := range recording.Read(strings.NewReader("{\"type\":\"note\"}\nnonsense\n{\"type\":\"note\"}\n")) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "line 2") {
		t.Errorf("error: %v", last)
	}
}
