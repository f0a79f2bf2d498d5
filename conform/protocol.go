package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Settings are what an executor is asked to provide by a configure line: complete, so that what is left out is the default again.
type Settings struct {
	// Hosts are the destinations, HOST:PORT, that calls may reach, all on loopback addresses. Nothing else needs to be reachable, and
	// what is not listed must be refused.
	Hosts []string `json:"hosts"`
	// Configs are the "configs" of the toolset entry (contract §2).
	Configs map[string]json.RawMessage `json:"configs,omitempty"`
	// Viewport is the width and height of every tab in CSS pixels.
	Viewport *[2]int `json:"viewport,omitempty"`
	// Dialogs is "accept" or "dismiss", the default: what happens to alert, confirm and prompt.
	Dialogs string `json:"dialogs,omitempty"`
	// Timeout bounds each call, in seconds; a call's own duration is added.
	Timeout float64 `json:"timeout,omitempty"`
	// Uploads are the folders that file_upload may take files from.
	Uploads []string `json:"uploads,omitempty"`
	// Documents are the files staged for file_upload, by document id.
	Documents map[string]string `json:"documents,omitempty"`
	// Downloads is the folder that downloads are kept in. Their paths may be told: the kit reads them.
	Downloads string `json:"downloads,omitempty"`
}

// Control is a control line: one of its fields is set.
type Control struct {
	Configure *Settings `json:"configure,omitempty"`
	Reset     bool      `json:"reset,omitempty"`
}

// ParseControl reads a control line. It returns nil for any other value, a turn for example; the error says what is wrong
// with a control line.
func ParseControl(line []byte) (*Control, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil || fields["configure"] == nil && fields["reset"] == nil {
		return nil, nil
	}
	var c Control
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("control line: %w", err)
	}
	if (c.Configure != nil) == c.Reset {
		return nil, errors.New(`control line: it must be {"configure":{…}} or {"reset":true}`)
	}
	return &c, nil
}

// Done is the answer to a control line that was obeyed.
type Done struct {
	OK bool `json:"ok"`
}
