package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/contract"
)

// TestAlbum: the names carry the ids of calls, which are the model's, and overwrite nothing.
func TestAlbum(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "002-zoom-____a_b.jpg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := newAlbum(folder)
	if err != nil {
		t.Fatal(err)
	}
	var calls []contract.ToolUse
	var results []contract.ToolResult
	add := func(id, member, kind string) {
		calls = append(calls, contract.ToolUse{ID: id, Name: member})
		results = append(results, contract.ToolResult{ToolUseID: id, Content: []contract.Block{contract.Image{MediaType: kind, Data: []byte("picture")}}})
	}
	add(strings.Repeat("x", 500), "screenshot", "image/png")
	add("/../a\x00b", "zoom", "image/jpeg")
	if err := a.add(calls, results); err != nil {
		t.Fatal(err)
	}
	var got []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := []string{"001-screenshot-" + strings.Repeat("x", 64) + ".png", "002-zoom-____a_b.jpg", "003-zoom-____a_b.jpg"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
