package pagehand

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"

	"github.com/pagehand/pagehand/contract"
)

type downloadFixture struct {
	*downloads
	cancelled []string
}

func newDownloadFixture(t *testing.T, limits downloadLimits) *downloadFixture {
	t.Helper()
	f := &downloadFixture{}
	d, err := newDownloads(t.TempDir(), t.TempDir(), true, limits, func(guid string) { f.cancelled = append(f.cancelled, guid) }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	f.downloads = d
	return f
}

// run lets a whole download happen, as Chromium reports it.
func (f *downloadFixture) run(t *testing.T, guid, url, name, content string) {
	t.Helper()
	write(t, filepath.Join(f.staging, guid), content)
	f.begin(browser.EventDownloadWillBegin{GUID: guid, URL: url, SuggestedFilename: name})
	f.progress(browser.EventDownloadProgress{GUID: guid, ReceivedBytes: float64(len(content)), State: browser.DownloadProgressStateCompleted})
	f.moves.Wait()
}

func told(changes []contract.StateChange) []string {
	var out []string
	for _, c := range changes {
		out = append(out, strings.TrimSpace(fmt.Sprint(c.Type, " ", c.DownloadID, " ", filepath.Base(c.Path), " ", c.Error)))
	}
	return out
}

func TestD01Names(t *testing.T) {
	for _, c := range []struct{ suggested, want string }{
		{"report.csv", "report.csv"},
		{"../../x", "_.._x"},
		{`..\..\x.exe`, `_.._x.exe`},
		{"/etc/passwd", "_etc_passwd"},
		{".bashrc", "bashrc"},
		{"-rf", "rf"},
		{"", "download"},
		{"...", "download"},
		{".. .", "download"},
		{"a\x00b\u2028c\u202etxt.exe", "ab ctxt.exe"},
		{"con?name*.txt", "con_name_.txt"},
		{"name. ", "name"},
		{strings.Repeat("n", 400) + ".csv", strings.Repeat("n", 146) + ".csv"},
		{strings.Repeat("日", 400), strings.Repeat("日", 50)},
		{"a." + strings.Repeat("e", 400), "a." + strings.Repeat("e", 148)},
	} {
		got := safeName(c.suggested, mostNameBytes)
		if got != c.want {
			t.Errorf("safeName(%q) = %q, want %q", c.suggested, got, c.want)
		}
		if len(got) > mostNameBytes || filepath.Base(got) != got {
			t.Errorf("safeName(%q) = %q is no plain name", c.suggested, got)
		}
	}
}

func TestD01NothingOverwritten(t *testing.T) {
	f := newDownloadFixture(t, defaultDownloadLimits)
	outside := filepath.Join(t.TempDir(), "victim")
	write(t, outside, "kept")
	link(t, outside, filepath.Join(f.dir, "linked.txt"))
	link(t, outside+"-missing", filepath.Join(f.dir, "dangling.txt"))
	f.run(t, "g1", "https://x.test/1", "a.txt", "one")
	f.run(t, "g2", "https://x.test/2", "a.txt", "two")
	f.run(t, "g3", "https://x.test/3", "linked.txt", "three")
	f.run(t, "g4", "https://x.test/4", "dangling.txt", "four")
	for name, want := range map[string]string{"a.txt": "one", "a (1).txt": "two", "linked (1).txt": "three", "dangling (1).txt": "four"} {
		path := filepath.Join(f.dir, name)
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if got, _ := os.ReadFile(outside); string(got) != "kept" {
		t.Errorf("the planted link was followed: %q", got)
	}
	want := []string{"download_completed dl-1 a.txt", "download_completed dl-2 a (1).txt", "download_completed dl-3 linked (1).txt", "download_completed dl-4 dangling (1).txt"}
	if got := told(f.take(200)); !slices.Equal(got, want) {
		t.Errorf("told %q", got)
	}
	if left, _ := os.ReadDir(f.staging); len(left) != 0 {
		t.Errorf("the staging folder still holds %v", left)
	}
}

// A taken-over browser may put anything into its staging folder.
func TestD01StagedLink(t *testing.T) {
	f := newDownloadFixture(t, defaultDownloadLimits)
	link(t, "/etc/hostname", filepath.Join(f.staging, "g1"))
	f.begin(browser.EventDownloadWillBegin{GUID: "g1", URL: "https://x.test/", SuggestedFilename: "x"})
	f.progress(browser.EventDownloadProgress{GUID: "g1", State: browser.DownloadProgressStateCompleted})
	f.moves.Wait()
	if got := told(f.take(9)); !slices.Equal(got, []string{"download_failed dl-1 . The file could not be saved."}) {
		t.Errorf("told %q", got)
	}
	if left, _ := os.ReadDir(f.dir); len(left) != 0 {
		t.Errorf("the directory holds %v", left)
	}
}

func TestD02Limits(t *testing.T) {
	f := newDownloadFixture(t, downloadLimits{file: 10 << 20, total: 15 << 20, count: 4})
	begin := func(guid string) {
		write(t, filepath.Join(f.staging, guid), "partial")
		f.begin(browser.EventDownloadWillBegin{GUID: guid, URL: "https://x.test/" + guid, SuggestedFilename: guid})
	}
	progress := func(guid string, received, total float64, state browser.DownloadProgressState) {
		f.progress(browser.EventDownloadProgress{GUID: guid, ReceivedBytes: received, TotalBytes: total, State: state})
	}
	const running, canceled = browser.DownloadProgressStateInProgress, browser.DownloadProgressStateCanceled
	begin("announced")
	progress("announced", 1, 11<<20, running)
	begin("endless")
	progress("endless", 9<<20, 0, running)
	begin("second")
	progress("second", 7<<20, 0, running) // over the total
	progress("second", 7<<20, 0, canceled)
	begin("fourth")
	progress("fourth", 1, 0, canceled)
	for i := range 300 {
		begin(fmt.Sprint("more", i))
	}
	progress("endless", 11<<20, 0, running)
	progress("unknown", 1, 1, running)
	f.moves.Wait()
	want := []string{
		"download_failed dl-1 . The file is larger than the 10 MB allowed.",
		"download_failed dl-2 . The file is larger than the 10 MB allowed.",
		"download_failed dl-3 . The downloads of this session are larger than the 15 MB allowed.",
		"download_failed dl-4 . The download was cancelled or interrupted.",
		"download_failed dl-5 . A session may download at most 4 files. This and all further downloads are cancelled.",
	}
	if got := told(f.take(200)); !slices.Equal(got, want) {
		t.Errorf("told\n%s", strings.Join(got, "\n"))
	}
	if len(f.cancelled) != 3+300 {
		t.Errorf("%d were cancelled", len(f.cancelled))
	}
	for _, guid := range []string{"announced", "endless", "second", "fourth"} {
		if _, err := os.Stat(filepath.Join(f.staging, guid)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the partial file of %s is still there", guid)
		}
	}
}

func TestD03URLs(t *testing.T) {
	f := newDownloadFixture(t, defaultDownloadLimits)
	f.run(t, "g1", "https://u:hunter2@x.test/a.csv?X-Amz-Signature=hunter2&v=1#token=hunter2", "a.csv", "1")
	f.run(t, "g2", "blob:https://x.test/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "b", "2")
	f.run(t, "g3", "data:text/plain,hunter2", "c", "3")
	state := contract.BrowserState{StateChanges: f.take(200)}
	if err := state.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range state.StateChanges {
		if c.Type != contract.DownloadCompleted || c.SizeBytes == nil || *c.SizeBytes != 1 || c.Path == "" || strings.Contains(c.URL, "hunter2") {
			t.Errorf("reported %+v", c)
		}
	}
}

func TestDownloadEvents(t *testing.T) {
	f := newDownloadFixture(t, downloadLimits{file: 1 << 20, total: 1 << 30, count: 1000})
	f.expose = false
	f.begin(browser.EventDownloadWillBegin{GUID: "g", URL: "https://x.test/"})
	if got := told(f.take(200)); !slices.Equal(got, []string{"download_started dl-1 ."}) {
		t.Errorf("told %q", got)
	}
	write(t, filepath.Join(f.staging, "g"), "x")
	f.progress(browser.EventDownloadProgress{GUID: "g", State: browser.DownloadProgressStateCompleted})
	f.moves.Wait()
	changes := f.take(200)
	if len(changes) != 1 || changes[0].Type != contract.DownloadCompleted || changes[0].Path != "" {
		t.Errorf("told %+v", changes)
	}
	if again := f.take(200); len(again) != 0 {
		t.Errorf("told twice: %+v", again)
	}
	for i := range 250 {
		f.begin(browser.EventDownloadWillBegin{GUID: fmt.Sprint(i), URL: "https://x.test/"})
	}
	first, none, rest := f.take(200), f.take(-1), f.take(200)
	if len(first) != 200 || len(none) != 0 || len(rest) != 50 || first[0].DownloadID != "dl-2" || rest[49].DownloadID != "dl-251" {
		t.Errorf("carried over: %d, then %d, then %d", len(first), len(none), len(rest))
	}
}

// TestDownloadsListed: the application learns where each download is, whatever the model is told.
func TestDownloadsListed(t *testing.T) {
	f := newDownloadFixture(t, defaultDownloadLimits)
	f.expose = false
	f.run(t, "g1", "https://x.test/1?token=secret", "a.txt", "one")
	f.begin(browser.EventDownloadWillBegin{GUID: "g2", URL: "https://x.test/2", SuggestedFilename: "b.txt"})
	f.progress(browser.EventDownloadProgress{GUID: "g2", State: browser.DownloadProgressStateCanceled})
	f.begin(browser.EventDownloadWillBegin{GUID: "g3", URL: "https://x.test/3", SuggestedFilename: "c.txt"})
	f.take(200)
	want := []Download{
		{ID: "dl-1", URL: contract.CleanDownloadURL("https://x.test/1?token=secret"), State: contract.DownloadCompleted, Path: filepath.Join(f.dir, "a.txt"), Size: 3},
		{ID: "dl-2", URL: "https://x.test/2", State: contract.DownloadFailed, Error: "The download was cancelled or interrupted."},
		{ID: "dl-3", URL: "https://x.test/3", State: contract.DownloadStarted},
	}
	if got := (&Session{downloads: f.downloads}).Downloads(); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
