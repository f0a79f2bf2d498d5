package pagehand_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/browsertest"
	"github.com/pagehand/pagehand/script"
)

var update = flag.Bool("update", false, "write what the calls of testdata/*/*.txtar really return into their want sections")

// TestBehaviour runs every testdata/*/*.txtar in a real Chromium: it opens page.html, makes the calls and compares what the model
// would read with the want section.
//
//	page.html   the page; any other file is served beside it
//	session     optional: {"enable":["read_console"],"dialogs":"accept","viewport":[800,600],"max_chars":200}
//	calls       one call a line, each a turn of its own, in the notation of package script
//	want        the results, one after the other
//
// In all of them {{origin}} is the server's address, {{port}} the same host by another port, {{other}} another site.
func TestBehaviour(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	b := browsertest.Browser(t)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runScript(t, b, file)
		})
	}
}

type scriptOptions struct {
	Enable   []string `json:"enable"`
	Dialogs  string   `json:"dialogs"`
	Viewport [2]int   `json:"viewport"`
	MaxChars int      `json:"max_chars"`
	Timeout  float64  `json:"timeout"`
	Uploads  bool     `json:"uploads"` // the files of the archive below uploads/ may be uploaded
}

func runScript(t *testing.T, b *pagehand.Browser, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := script.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	archive := txtar.Parse(data)
	parts := map[string]string{}
	for _, f := range archive.Files {
		parts[f.Name] = string(f.Data)
	}
	site := serve(t, parts)
	options, err := parseScriptOptions(t, parts, site)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s, err := b.NewSession(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	open := s.Do(ctx, call(0, "navigate", fmt.Sprintf(`{"url":%q}`, site.expand("{{origin}}/page.html"))))
	if open.IsError {
		t.Fatalf("open the page: %s", told(call(0, "navigate", "{}"), open))
	}
	conversation := check.NewConversation(check.Options{})
	inspect(t, conversation, call(0, "navigate", `{"url":"https://example.com"}`), open)
	var got strings.Builder
	var refs script.Resolver
	for _, turn := range parsed.Turns {
		for _, asked := range turn.Calls {
			input, err := refs.Resolve(asked.Input)
			if err != nil {
				t.Fatalf("%s: line %d: %v", file, asked.Line, err)
			}
			c := call(asked.Line, asked.Name, site.expand(string(input)))
			res := s.Do(ctx, c)
			inspect(t, conversation, c, res)
			refs.Observe(c, res)
			got.WriteString(site.contract(told(c, res)) + "\n")
		}
	}
	if *update {
		updateWant(t, file, archive, got.String())
		return
	}
	if want := parts["want"]; got.String() != want {
		t.Errorf("%s\n--- got\n%s--- want\n%s", file, got.String(), want)
	}
}

// inspect checks a result with the API's rules.
func inspect(t *testing.T, conversation *check.Conversation, c pagehand.Call, r pagehand.Result) {
	t.Helper()
	for _, f := range conversation.Turn([]pagehand.Call{c}, []pagehand.Result{r}) {
		t.Errorf("%s %s: %s", c.Name, c.Input, f)
	}
}

func updateWant(t *testing.T, file string, archive *txtar.Archive, got string) {
	for i := range archive.Files {
		if archive.Files[i].Name == "want" {
			archive.Files[i].Data = []byte(got)
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want"})
	updateWant(t, file, archive, got)
}

func parseScriptOptions(t *testing.T, parts map[string]string, site *testSite) (*pagehand.SessionOptions, error) {
	var so scriptOptions
	if raw := parts["session"]; raw != "" {
		d := json.NewDecoder(strings.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&so); err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
	}
	rules, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		return nil, err
	}
	configs, err := pagehand.Configs{}.Enable(so.Enable...)
	if err != nil {
		return nil, err
	}
	o := &pagehand.SessionOptions{
		Configs: configs, Destinations: rules, AcceptDialogs: so.Dialogs == "accept", MaxChars: so.MaxChars,
		Viewport: pagehand.Size{Width: so.Viewport[0], Height: so.Viewport[1]}, Timeout: time.Duration(so.Timeout * float64(time.Second)),
	}
	if so.Uploads {
		root := t.TempDir()
		for name, data := range parts {
			if path, ok := strings.CutPrefix(name, "uploads/"); ok {
				if err := os.WriteFile(filepath.Join(root, path), []byte(data), 0o600); err != nil {
					return nil, err
				}
			}
		}
		o.UploadRoots = []string{root}
		site.uploads = root
	}
	return o, nil
}

func call(n int, name, input string) pagehand.Call {
	return pagehand.Call{ID: fmt.Sprintf("toolu_%d", n), Name: name, ToolsetName: contract.ToolsetName, Input: json.RawMessage(input)}
}

// told is what the model learns from a result, without the footers, which are the contract package's matter: texts, the size of
// images, and what changed about the tabs. What the API would say against it stands before.
func told(c pagehand.Call, r pagehand.Result) string {
	var lines []string
	for _, f := range check.NewConversation(check.Options{}).Turn([]pagehand.Call{c}, []pagehand.Result{r}) {
		lines = append(lines, "("+f.String()+")")
	}
	for _, block := range r.Content {
		switch block := block.(type) {
		case contract.Text:
			lines = append(lines, block.Text)
		case contract.Image:
			config, err := png.DecodeConfig(bytes.NewReader(block.Data))
			if err != nil {
				lines = append(lines, "(bad image: "+err.Error()+")")
				continue
			}
			lines = append(lines, fmt.Sprintf("(image %dx%d)", config.Width, config.Height))
		case *contract.BrowserState:
			if len(r.Content) == 1 {
				lines = append(lines, new(contract.View).Render(c, r))
				continue
			}
			for _, change := range block.StateChanges {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("(%s %s%s %s)", change.Type, change.TabID, change.DownloadID, change.Error)))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// testSite serves a test's files at three addresses.
type testSite struct {
	origin, port, other, uploads string
}

func serve(t *testing.T, parts map[string]string) *testSite {
	site := &testSite{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := parts[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if ct := contentTypes[filepath.Ext(r.URL.Path)]; ct != "" {
			w.Header().Set("Content-Type", ct)
		}
		fmt.Fprint(w, site.expand(body))
	})
	first, second := httptest.NewServer(handler), httptest.NewServer(handler)
	t.Cleanup(first.Close)
	t.Cleanup(second.Close)
	site.origin, site.port = first.URL, second.URL
	site.other = browsertest.OtherHost(t, handler)
	return site
}

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".csv": "text/csv", ".txt": "text/plain; charset=utf-8", ".svg": "image/svg+xml",
}

func (s *testSite) expand(text string) string {
	return strings.NewReplacer("{{origin}}", s.origin, "{{port}}", s.port, "{{other}}", s.other, "{{uploads}}", s.uploads).Replace(text)
}

func (s *testSite) contract(text string) string {
	pairs := []string{s.origin, "{{origin}}", s.port, "{{port}}", s.other, "{{other}}"}
	for _, url := range []string{s.origin, s.port, s.other} {
		pairs = append(pairs, strings.TrimPrefix(url, "http://"), "{{"+map[string]string{s.origin: "origin", s.port: "port", s.other: "other"}[url]+"}}")
	}
	if s.uploads != "" {
		pairs = append(pairs, s.uploads, "{{uploads}}")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
