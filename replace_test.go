package pagehand_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/browsertest"
)

// TestReplaceSession: after the end of a browser nothing that the model remembers means something else (contract §3 and §5).
func TestReplaceSession(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Header().Set("Content-Disposition", "attachment")
			w.Header().Set("Content-Type", "application/octet-stream")
			io.WriteString(w, strings.Repeat("begun", 1000))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<title>T</title><a href="/file">File</a>`)
	}))
	t.Cleanup(server.Close)
	open := call(1, "navigate", fmt.Sprintf(`{"url":%q}`, server.URL))
	read := call(2, "read_page", `{}`)

	b, err := pagehand.Launch(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	old := newSession(t, b, pagehand.SessionOptions{})
	old.RunTurn(t.Context(), []pagehand.Call{open, read})
	click := call(3, "left_click", `{"target":{"type":"ref","ref":"ref_1"}}`)
	if got := told(click, old.Do(t.Context(), click)); !strings.Contains(got, "download_started dl-1") {
		t.Fatalf("no download began: %s", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}

	s, err := browsertest.Browser(t).ReplaceSession(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	list := call(4, "list_tabs", `{}`)
	r := s.Do(t.Context(), list)
	if state, ok := r.Content[0].(*contract.BrowserState); !ok || len(r.Content) != 1 || state.Tabs[0].TabID != "tab-2" {
		t.Errorf("list_tabs returns %+v", r)
	} else if i := slices.IndexFunc(state.StateChanges, func(c contract.StateChange) bool { return c.Type == contract.DownloadFailed && c.DownloadID == "dl-1" }); i < 0 {
		t.Errorf("the download that was on its way is not reported as failed: %+v", state.StateChanges)
	}
	if got := told(click, s.Do(t.Context(), click)); !strings.HasPrefix(got, "Error: ref_1 is stale") {
		t.Errorf("an earlier reference: %s", got)
	}
	const restarted = "The browser had to be restarted; earlier tabs and references are gone."
	if got := told(open, s.Do(t.Context(), open)); !strings.Contains(got, restarted) {
		t.Errorf("the first text: %s", got)
	}
	if got := told(read, s.Do(t.Context(), read)); !strings.Contains(got, `link "File" [ref_2]`) || strings.Contains(got, restarted) {
		t.Errorf("the second text: %s", got)
	}
	click = call(5, "left_click", `{"target":{"type":"ref","ref":"ref_2"}}`)
	if got := told(click, s.Do(t.Context(), click)); !strings.Contains(got, "download_started dl-2") {
		t.Errorf("the next download: %s", got)
	}
}
