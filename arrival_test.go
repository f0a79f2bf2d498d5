package pagehand_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/browsertest"
)

// TestNavigateOutcomes: each way a navigation can end has words of its own, and none is a bare failure.
func TestNavigateOutcomes(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<title>Home</title>home") })
	mux.HandleFunc("/gone", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusGone)
		io.WriteString(w, "gone")
	})
	mux.HandleFunc("/bare", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=a.csv")
		io.WriteString(w, "a,b")
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/?there", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close()
		}
	})
	for path, challenge := range map[string]string{
		"/staff": `Basic realm="Staff \"only\"", charset="UTF-8"`, "/token": "Digest nonce=a, realm=Token", "/nameless": "Basic", "/unasked": "",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if challenge != "" {
				w.Header().Set("WWW-Authenticate", challenge)
			}
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, "members only")
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	secure.Config.ErrorLog = nil
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	for _, test := range []struct{ url, want string }{
		{server.URL, "Navigated to {}/"},
		{server.URL + "/moved", "Navigated to {}/?there"},
		{server.URL + "/gone", "Navigated to {}/gone (HTTP 410)"},
		{server.URL + "/bare", "Error: Navigation to {}/bare failed: the server answered with an error and no page (ERR_HTTP_RESPONSE_CODE_FAILURE)."},
		{server.URL + "/nothing", "The server answered without content (HTTP 204); the page is unchanged."},
		{server.URL + "/file", "The address is a download, not a page; the tab stays where it was."},
		{server.URL + "/loop", "Error: Navigation to {}/loop failed: the server redirected too many times (ERR_TOO_MANY_REDIRECTS)."},
		{server.URL + "/empty", "Error: Navigation to {}/empty failed: the server sent no answer (ERR_EMPTY_RESPONSE)."},
		{server.URL + "/staff", `Error: Navigation to {}/staff failed: the page requires HTTP authentication, a user name and password for "Staff \"only\"" (HTTP 401).`},
		{server.URL + "/token", `Error: Navigation to {}/token failed: the page requires HTTP authentication, a user name and password for "Token" (HTTP 401).`},
		{server.URL + "/nameless", "Error: Navigation to {}/nameless failed: the page requires HTTP authentication, a user name and password (HTTP 401)."},
		{server.URL + "/unasked", "Navigated to {}/unasked (HTTP 401)"},
		{"http://" + closed.Addr().String(), "Error: Navigation to http://" + closed.Addr().String() + "/ failed: the server refused the connection (ERR_CONNECTION_REFUSED)."},
		{secure.URL, "Error: Navigation to " + secure.URL + "/ failed: the server's certificate is not valid (ERR_CERT_AUTHORITY_INVALID)."},
		{server.URL, "Navigated to {}/"},
	} {
		c := call(1, "navigate", fmt.Sprintf(`{"url":%q}`, test.url))
		// The download may be completed within its own call or later.
		got := strings.TrimSuffix(strings.Replace(told(c, s.Do(t.Context(), c)), "download_started", "download_completed", 1), "\n(download_completed dl-1 )")
		if want := strings.ReplaceAll(test.want, "{}", server.URL); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.url, got, want)
		}
	}
}

// TestFrameOutcomes: a frame whose page the browser does not show says why, and one that shows nothing takes no line.
func TestFrameOutcomes(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/denied", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Frame-Options", "DENY")
		io.WriteString(w, "denied")
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
		io.WriteString(w, "none")
	})
	mux.HandleFunc("/empty", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<!doctype html><title>Empty</title>") })
	other := browsertest.OtherHost(t, mux)
	page := func(src string) string {
		return fmt.Sprintf(`<!doctype html><title>P</title><p>Before</p><iframe title=F src=%q></iframe><p>After</p>`, src)
	}
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	for _, test := range []struct{ src, line string }{
		{other + "/denied", "\n (this frame could not be loaded: the server's headers forbid showing it here (ERR_BLOCKED_BY_RESPONSE))"},
		{other + "/none", "\n (this frame could not be loaded: the server's headers forbid showing it here (ERR_BLOCKED_BY_RESPONSE))"},
		{"http://nowhere.invalid/", "\n (this frame could not be loaded: the host name could not be resolved (ERR_NAME_NOT_RESOLVED))"},
		{other + "/empty", ""},
	} {
		succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, serveHTML(t, page(test.src))))
		got := regexp.MustCompile(`\[ref_\d+\] `).ReplaceAllString(succeed(t, s, "read_page", `{}`), "")
		if want := "\"Before\"\niframe \"F\" url=" + test.src + test.line + "\n\"After\""; got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, got, want)
		}
	}
}

// TestDownloadsAreToldByTheirClick: the click that starts a download says so, also where Chromium announces none: for links with a
// download attribute, clicked by the model or by the page.
func TestDownloadsAreToldByTheirClick(t *testing.T) {
	t.Parallel()
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, serveHTML(t, `<!doctype html><title>D</title>
		<a download href="data:text/csv,a">Data</a> <a download id=b>Blob</a> <a download href="/c">Same site</a> <button>By a script</button>
		<a target=_blank href="data:application/octet-stream,e">In a tab</a> <a download href="data:text/csv,f" onclick="return false">Prevented</a>
		<script>b.href = URL.createObjectURL(new Blob(['b']));
		document.querySelector('button').onclick = () => {
			const a = document.createElement('a');
			a.download = 'd.csv';
			a.href = b.href;
			document.body.append(a);
			a.click();
			a.remove();
		}</script>`)))
	succeed(t, s, "read_page", `{}`)
	count := 0
	for range 2 { // Chromium allows ten of these in a second
		for ref := 1; ref <= 5; ref++ {
			count++
			got := succeed(t, s, "left_click", fmt.Sprintf(`{"target":{"type":"ref","ref":"ref_%d"}}`, ref))
			if want := regexp.MustCompile(fmt.Sprintf(`\(download_(started|completed) dl-%d \)`, count)); !want.MatchString(got) || strings.Contains(got, "tab_opened") {
				t.Errorf("click on ref_%d: %s", ref, got)
			}
		}
	}
	if got := succeed(t, s, "left_click", `{"target":{"type":"ref","ref":"ref_6"}}`); strings.Contains(got, fmt.Sprintf("dl-%d ", count+1)) {
		t.Errorf("a click that the page prevented: %s", got)
	}
}

// TestNavigateRefusesPrivate: without a word from the operator nothing private is opened, also not through a redirect.
func TestNavigateRefusesPrivate(t *testing.T) {
	t.Parallel()
	s, err := browsertest.Browser(t).NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, url := range []string{"http://127.0.0.1:8080", "localhost:3000", "http://[::1]/", "http://10.0.0.1", "http://169.254.169.254/latest", "http://0x7f.1/"} {
		c := call(1, "navigate", fmt.Sprintf(`{"url":%q}`, url))
		if r := s.Do(t.Context(), c); !r.IsError || !strings.Contains(told(c, r), "refused") {
			t.Errorf("%s: %s", url, told(c, r))
		}
	}
}

// TestSlowLoads: what never comes is the contract's error; what comes and goes on loading is success (contract §4).
func TestSlowLoads(t *testing.T) {
	if os.Getenv("PAGEHAND_SLOW") == "" {
		t.Skip("slow: make test-slow")
	}
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			io.WriteString(w, `<title>Page</title><p>There</p><img src="/never">`)
		default:
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}))
	defer server.Close()
	defer close(release)
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{Timeout: 12 * time.Second})
	if got, want := succeed(t, s, "navigate", fmt.Sprintf(`{"url":"%s/page"}`, server.URL)), "Navigated to "+server.URL+"/page\nStill loading."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := succeed(t, s, "read_page", `{}`); !strings.Contains(got, "There") {
		t.Errorf("the page cannot be read while it loads: %q", got)
	}
	c := call(1, "navigate", fmt.Sprintf(`{"url":"%s/never"}`, server.URL))
	if got, want := told(c, s.Do(t.Context(), c)), "Error: Navigation to "+server.URL+"/never timed out after 12 seconds. The page may be unavailable."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := succeed(t, s, "read_page", `{}`); !strings.Contains(got, "There") {
		t.Errorf("after a navigation that timed out the page reads %q", got)
	}
}

// TestCaptureShowsWhatIsThere looks at pixels: of a scrolled, very tall page with a fixed header, as a whole and zoomed into.
func TestCaptureShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	// 80,000 pixels tall: bands of 100 pixels, whose green tells their number.
	url := serveHTML(t, `<!doctype html><title>T</title><style>body{margin:0}header{position:fixed;top:0;left:0;right:0;height:50px;background:rgb(255,0,0)}
		div{height:100px}</style><header></header><script>for (let i = 0; i < 800; i++) { const d = document.createElement('div');
		d.style.background = 'rgb(0,' + (i % 200) + ',' + Math.floor(i / 200) + ')'; document.body.append(d) } scrollTo(0, 65000)</script>`)
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, url))
	whole := picture(t, s, "screenshot", `{}`)
	checkPixel(t, whole, 640, 25, color.RGBA{255, 0, 0, 255})
	checkPixel(t, whole, 640, 150, color.RGBA{0, 51, 3, 255}) // band 651
	checkPixel(t, whole, 640, 650, color.RGBA{0, 56, 3, 255})
	part := picture(t, s, "zoom", `{"region":[0,100,320,280]}`)
	if size := part.Bounds().Size(); size != image.Pt(1280, 720) {
		t.Errorf("zoomed picture is %v", size)
	}
	checkPixel(t, part, 640, 100, color.RGBA{0, 51, 3, 255})
	checkPixel(t, part, 640, 600, color.RGBA{0, 52, 3, 255})
}

func picture(t *testing.T, s *pagehand.Session, member, input string) image.Image {
	t.Helper()
	for _, block := range s.Do(t.Context(), call(1, member, input)).Content {
		if b, ok := block.(contract.Image); ok {
			img, err := png.Decode(bytes.NewReader(b.Data))
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	t.Fatalf("%s gave no picture", member)
	return nil
}

func checkPixel(t *testing.T, img image.Image, x, y int, want color.RGBA) {
	t.Helper()
	if got := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); got != want {
		t.Errorf("pixel (%d, %d) is %v, want %v", x, y, got, want)
	}
}

// TestClickOnDeadLink: a link whose server never answers costs a bounded wait and not the page.
func TestClickOnDeadLink(t *testing.T) {
	if os.Getenv("PAGEHAND_SLOW") == "" {
		t.Skip("slow: make test-slow")
	}
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<title>Page</title><a href="/never">Never</a> <p>There</p>`)
			return
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	s := newSession(t, browsertest.Browser(t), pagehand.SessionOptions{})
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, server.URL))
	if got, want := succeed(t, s, "left_click", `{"target":{"type":"coordinate","x":20,"y":15}}`), "Clicked (20, 15), on link \"Never\" [ref_1].\nStill loading."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	read := call(1, "read_page", `{}`)
	if got, want := told(read, s.Do(t.Context(), read)), "Error: The tab is waiting for "+server.URL+"/never to answer and cannot be used meanwhile. Wait, or navigate elsewhere."; got != want && !strings.Contains(got, "There") {
		t.Errorf("got %q, want %q", got, want)
	}
	succeed(t, s, "navigate", fmt.Sprintf(`{"url":%q}`, server.URL))
	if got := succeed(t, s, "read_page", `{}`); !strings.Contains(got, "There") {
		t.Errorf("afterwards the page reads %q", got)
	}
}
