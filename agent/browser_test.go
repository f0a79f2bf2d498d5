package agent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/agent"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }

// shop is a page with two links, one of which opens a tab.
func shop(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>%s</title><a href="/other" target="_blank">Other</a> <button onclick="document.title += '!'">Buy</button>`, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func sessionOptions(t *testing.T) *pagehand.SessionOptions {
	rules, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	return &pagehand.SessionOptions{Destinations: rules}
}

// TestResumeInBrowser continues a run in another session: nothing of what the model remembers comes to mean something else.
func TestResumeInBrowser(t *testing.T) {
	page := shop(t)
	first, err := browsertest.Browser(t).NewSession(t.Context(), sessionOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	tr := newTrial(t,
		says("tool_use", use("toolu_1", "navigate", `{"url":"`+page+`"}`), use("toolu_2", "find", `{"query":"buy button"}`), use("toolu_3", "find", `{"query":"other link"}`)),
		says("tool_use", use("toolu_4", "left_click", `{"target":{"type":"ref","ref":"ref_2"}}`)),
		func(http.ResponseWriter) { interrupt() })
	tr.options.Session = first
	equal(t, "reason", tr.runContext(t, ctx, "Buy it.").Reason, agent.Interrupted)
	if got := tr.answers(t, 1); !strings.Contains(got[1], "[ref_1]") || !strings.Contains(got[2], "[ref_2]") {
		t.Fatalf("read %q", got)
	}
	if got := tr.answers(t, 2); !strings.Contains(got[0], "[browser_state]") {
		t.Fatalf("clicked: %q", got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	numbers := agent.Numbers(tr.recorded(t))
	if numbers != (pagehand.Numbers{Tabs: 2, Refs: 2}) {
		t.Fatalf("numbers %+v", numbers)
	}

	second, err := browsertest.Browser(t).ContinueSession(t.Context(), sessionOptions(t), numbers)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	resumed := newTrial(t,
		says("tool_use", use("toolu_5", "navigate", `{"url":"`+page+`"}`), use("toolu_6", "read_page", `{}`)),
		says("tool_use", use("toolu_7", "left_click", `{"target":{"type":"ref","ref":"ref_1"}}`)),
		says("end_turn", text("Bought.")))
	resumed.options.Session, resumed.options.Resume = second, tr.recorded(t)
	equal(t, "answer", resumed.run(t, "").Answer, "Bought.")
	got := resumed.answers(t, 1)
	if !strings.Contains(got[0], "The browser had to be restarted; earlier tabs and references are gone.") || !strings.Contains(got[0], "[browser_state]") {
		t.Errorf("the first result: %q", got[0])
	}
	if tabs := second.Tabs(); len(tabs) != 1 || tabs[0].TabID != "tab-3" {
		t.Errorf("tabs %+v", tabs)
	}
	if !strings.Contains(got[1], "[ref_3]") || strings.Contains(got[1], "[ref_1]") {
		t.Errorf("read %q", got[1])
	}
	equal(t, "an old reference", resumed.answers(t, 2), []string{"toolu_7 error: Error: ref_1 is stale or not found on the current page. Re-read the page to get fresh references."})
}

// TestAttachInBrowser attaches real observations, which bring browser_state blocks with them.
func TestAttachInBrowser(t *testing.T) {
	page := shop(t)
	for _, attach := range []agent.Attachment{agent.AttachScreenshot, agent.AttachTree} {
		session, err := browsertest.Browser(t).NewSession(t.Context(), sessionOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		tr := newTrial(t,
			says("tool_use", use("toolu_1", "navigate", `{"url":"`+page+`"}`), use("toolu_2", "find", `{"query":"other link"}`)),
			says("tool_use", use("toolu_3", "left_click", `{"target":{"type":"ref","ref":"ref_1"}}`), use("toolu_4", "list_tabs", `{}`)),
			says("end_turn", text("Done.")))
		tr.options.Session, tr.options.Attach = session, attach
		tr.run(t, "Go.")
		want := map[agent.Attachment]string{agent.AttachScreenshot: "[image]", agent.AttachTree: `button "Buy"`}[attach]
		for n := 1; n <= 2; n++ {
			if got := tr.answers(t, n); !strings.Contains(strings.Join(got, "\n"), want) || strings.Contains(strings.Join(got, "\n"), "Screenshot captured") {
				t.Errorf("%s: %q", attach, got)
			}
		}
		if got := tr.answers(t, 2); got[1] != "toolu_4 ok: [browser_state]" {
			t.Errorf("%s: the tabs: %q", attach, got[1])
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestEarlyStartInBrowser breaks the reply off after a click has been made: the click is not made again.
func TestEarlyStartInBrowser(t *testing.T) {
	page := shop(t)
	session, err := browsertest.Browser(t).NewSession(t.Context(), sessionOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	click := `{"target":{"type":"ref","ref":"ref_1"}}`
	tr := newTrial(t,
		says("tool_use", use("toolu_1", "navigate", `{"url":"`+page+`"}`), use("toolu_2", "find", `{"query":"buy button"}`)),
		breaks(1, use("toolu_3", "left_click", click), use("toolu_4", "left_click", click)),
		says("end_turn", text("Bought once.")))
	tr.options.Session, tr.options.EarlyStart = session, true
	equal(t, "answer", tr.run(t, "Buy one.").Answer, "Bought once.")
	if tabs := session.Tabs(); len(tabs) != 1 || tabs[0].Title != "/!" {
		t.Errorf("tabs %+v", tabs)
	}
}
