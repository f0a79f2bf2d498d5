package check

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what is found and read into testdata")

// TestExamples checks the documents' examples: nothing is found, and the model reads what the documents quote.
//
//	input.json   a request or a list of messages; input.jsonl a recording
//	findings     what is found, a line each
//	view         the conversation as the model reads it
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "broken.txtar" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 3 {
				t.Fatalf("%d files: %v", len(archive.Files), err)
			}
			d, err := Any(archive.Files[0].Data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var findings strings.Builder
			for _, f := range d.Findings {
				fmt.Fprintln(&findings, f)
			}
			got := []string{findings.String(), d.Conversation.Text()}
			for i, want := range archive.Files[1:] {
				if *update {
					archive.Files[i+1].Data = []byte(got[i])
				} else if got[i] != string(want.Data) {
					t.Errorf("%s: got\n%s\nwant\n%s", want.Name, got[i], want.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestBroken checks that each broken example is rejected for its reason.
func TestBroken(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/broken.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		rule, _, _ := strings.Cut(f.Name, "/")
		found := Request(f.Data, Options{})
		if !onlyRule(found, rule) {
			t.Errorf("%s: %v", f.Name, found)
		}
		if Rejected(found) == ruleOf(rule).Warning {
			t.Errorf("%s: rejected: %v", f.Name, Rejected(found))
		}
	}
}
