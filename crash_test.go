package pagehand_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand"
)

// TestProcessesKilled kills each kind of process while a call runs (security.md X-07): what was lost is told at once, and what can go on
// goes on.
func TestProcessesKilled(t *testing.T) {
	clicked := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>Page</title><button onclick="navigator.sendBeacon('/clicked'); for (;;);">Go</button>`)
	})
	mux.HandleFunc("/clicked", func(http.ResponseWriter, *http.Request) { clicked <- struct{}{} })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, test := range []struct{ kind, want string }{
		{"renderer", "Error: The page in tab-1 crashed during left_click and the tab is closed. Open it again with new_tab."},
		{"browser", "Error: The browser is not running any more. Call list_tabs, then open the page again."},
	} {
		t.Run(test.kind, func(t *testing.T) {
			b, err := pagehand.Launch(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			s := testSession(t, b, 0)
			if text, failed := ask(s, "navigate", `{"url":"%s"}`, server.URL); failed {
				t.Fatal(text)
			}
			go func() {
				<-clicked
				kill(t, b, test.kind)
			}()
			if text, _ := ask(s, "left_click", `{"target":{"type":"coordinate","x":20,"y":20}}`); text != test.want {
				t.Errorf("left_click: %s\nwant: %s", text, test.want)
			}
			if test.kind == "browser" {
				if text, _ := ask(s, "read_page", `{}`); text != test.want {
					t.Errorf("read_page: %s\nwant: %s", text, test.want)
				}
				return
			}
			if tabs := s.Tabs(); len(tabs) != 0 {
				t.Errorf("tabs afterwards: %v", tabs)
			}
			if text, failed := ask(s, "new_tab", `{}`); failed || !strings.Contains(text, "tab-2") {
				t.Errorf("new_tab: %s", text)
			}
			if text, failed := ask(s, "navigate", `{"url":"%s"}`, server.URL); failed {
				t.Errorf("navigate: %s", text)
			}
			kill(t, b, "GPU")
			if text, failed := ask(s, "screenshot", `{}`); failed {
				t.Errorf("screenshot after the end of the GPU process: %s", text)
			}
		})
	}
}

// TestKilledWhilePausing kills the browser during the calls that only let time pass: they end at once.
func TestKilledWhilePausing(t *testing.T) {
	t.Parallel()
	for member, input := range map[string]string{"wait": `{"duration":30}`, "hold_key": `{"text":"Shift","duration":30}`} {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			b, err := pagehand.Launch(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			s := testSession(t, b, 0)
			if text, failed := ask(s, "screenshot", `{}`); failed {
				t.Fatal(text)
			}
			answer := make(chan string, 1)
			go func() {
				text, _ := ask(s, member, "%s", input)
				answer <- text
			}()
			kill(t, b, "browser")
			want := "Error: The browser is not running any more. Call list_tabs, then open the page again."
			select {
			case text := <-answer:
				if text != want {
					t.Errorf("got %s\nwant %s", text, want)
				}
			case <-time.After(20 * time.Second): // before the pause would be over
				t.Error("the call goes on without a browser")
			}
		})
	}
}

func kill(t *testing.T, b *pagehand.Browser, kind string) {
	ids, err := b.PIDs(t.Context(), kind)
	if err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		p, err := os.FindProcess(id)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Errorf("kill the %s process %d: %v", kind, id, err)
		}
	}
}
