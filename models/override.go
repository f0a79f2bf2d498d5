package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
)

// Override returns the table with the entries of a YAML document: a list of models, each with its id and the fields that differ. An
// entry for a known id changes only the fields it names; another is a model that the table didn't have, of the brand that its id
// begins with, and with the image limits of the models that have the toolset. A field that doesn't exist is an error.
//
//   - id: claude-opus-5
//     price: {input: 4, output: 20}
//   - id: claude-opus-6
//     toolset: true
func (t Table) Override(document []byte) (Table, error) {
	var raw []yaml.RawMessage
	if err := decode(document, &raw); err != nil {
		return Table{}, err
	}
	entries := make([]Model, len(raw))
	for i, entry := range raw {
		var named struct {
			ID string `yaml:"id"`
		}
		if err := decode(entry, &named); err != nil {
			return Table{}, err
		}
		if named.ID == "" {
			return Table{}, fmt.Errorf("models: entry %d has no id", i+1)
		}
		entries[i] = t.entry(named.ID)
		// The decoder sets the fields that are named and leaves the others as they are.
		if err := decode(entry, &entries[i], yaml.Strict()); err != nil {
			return Table{}, err
		}
	}
	return t.With(entries...), nil
}

// entry is what the table says of a model, or what can be said of one that isn't in it.
func (t Table) entry(id string) Model {
	if m, ok := t.exact(id); ok {
		return m
	}
	m := Model{ID: id, Name: id, Brand: Claude, Image: fine}
	if strings.HasPrefix(id, string(Haijun)+"-") {
		m.Brand = Haijun
	}
	return m
}

func decode(document []byte, into any, options ...yaml.DecodeOption) error {
	err := yaml.NewDecoder(bytes.NewReader(document), options...).Decode(into)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
