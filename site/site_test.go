package site

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the addresses that answer 200 to a plain visit.
var pages = []string{
	"/", "/?category=desk&sort=price", "/product/enamel-mug", "/cart", "/docs", "/docs/getting-started", "/search", "/search?q=install",
	"/search?q=nothing-like-this", "/pricing", "/login", "/workbench", "/forms", "/frames", "/frames/inner?place=Other+host", "/shadow", "/board",
	"/canvas", "/feed", "/dialogs", "/console", "/upload", "/download", "/slow?ms=1", "/slow?ms=1&early=1", "/order/HG-1001",
	"/api/products", "/api/products/oak-stool", "/api/cart", "/api/feed?after=390",
}

type visitor struct {
	*testing.T
	http.Client
	base string
}

func newVisitor(t *testing.T) visitor {
	server := httptest.NewServer(Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return visitor{t, http.Client{Jar: jar}, server.URL}
}

// read returns the final response of a request and its body.
func (v visitor) read(resp *http.Response, err error) (*http.Response, string) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	return resp, string(body)
}

func (v visitor) visit(path string, status int) string {
	v.Helper()
	resp, body := v.read(v.Get(v.base + path))
	if resp.StatusCode != status {
		v.Errorf("GET %s: status %d, want %d", path, resp.StatusCode, status)
	}
	return body
}

func (v visitor) send(path string, form url.Values, status int) string {
	v.Helper()
	resp, body := v.read(v.PostForm(v.base+path, form))
	if resp.StatusCode != status {
		v.Errorf("POST %s: status %d, want %d", path, resp.StatusCode, status)
	}
	return body
}

func wantText(t *testing.T, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("missing %q in %.2000s", text, body)
		}
	}
}

var link = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

func TestPagesAndLinks(t *testing.T) {
	v := newVisitor(t)
	seen := map[string]bool{}
	queue := slices.Clone(pages)
	for len(queue) > 0 {
		page := queue[0]
		queue = queue[1:]
		if page == "/download/broken.bin" || page == "/forms/submit" || seen[page] {
			continue
		}
		seen[page] = true
		body := v.visit(page, http.StatusOK)
		for _, m := range link.FindAllStringSubmatch(body, -1) {
			target := strings.ReplaceAll(m[1], "&amp;", "&")
			switch {
			case strings.HasPrefix(target, "#"), strings.HasPrefix(target, "data:"):
			case !strings.HasPrefix(target, "/"), strings.HasPrefix(target, "//"):
				t.Errorf("%s links to %q, which is not a path of the site", page, target)
			case strings.HasPrefix(target, "/download/slow.bin"):
				queue = append(queue, "/download/slow.bin?ms=0")
			case strings.HasPrefix(target, "/slow"):
				queue = append(queue, "/slow?ms=0")
			default:
				queue = append(queue, target)
			}
		}
	}
	for _, it := range catalog {
		if !seen["/product/"+it.ID] {
			t.Errorf("no page links to product %s", it.ID)
		}
	}
}

func TestNothingExternal(t *testing.T) {
	address := regexp.MustCompile(`(?i)(?:https?:|wss?:)?//[a-z0-9.-]+\.[a-z0-9]|url\(["']?https?:`)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		text = bytes.ReplaceAll(text, []byte(`xmlns="http://www.w3.org/2000/svg"`), nil)
		if found := address.Find(text); found != nil {
			t.Errorf("%s names another host: %s", name, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The words of the contract's quick start, in its order.
func TestQuickStart(t *testing.T) {
	v := newVisitor(t)
	body := v.visit("/docs", http.StatusOK)
	wantText(t, body, "<title>Documentation</title>", `<a href="/pricing" target="_blank"`)
	last := -1
	for _, control := range []string{">Documentation</a>", ">Getting started</a>", `aria-label="Search docs"`, "<button>Search</button>", ">Pricing</a>"} {
		at := strings.Index(body, control)
		if at <= last {
			t.Errorf("%s is at %d, want it after %d", control, at, last)
		}
		last = at
	}
	wantText(t, v.visit("/search?q=install", http.StatusOK), "Search results for “install”", `href="/docs/getting-started"`, "<mark>Install</mark>")
	wantText(t, v.visit("/search?q=mug+ENAMEL", http.StatusOK), `href="/product/enamel-mug"`)
	wantText(t, v.visit("/pricing", http.StatusOK), "<title>Pricing</title>", "Download price list (CSV)")
}

func TestInnerFrame(t *testing.T) {
	v := newVisitor(t)
	body := v.visit("/frames/inner?place=Same+origin", http.StatusOK)
	wantText(t, body, "<title>Same origin</title>", `src="/frames/inner?place=Nested+frame"`)
	if strings.Contains(body, "<header") || strings.Contains(body, "<footer") {
		t.Error("the inner page has the shop's header or footer")
	}
}

func TestEscaping(t *testing.T) {
	v := newVisitor(t)
	const attack = `"><script>alert(1)</script>`
	for _, body := range []string{
		v.visit("/search?q="+url.QueryEscape(attack), http.StatusOK),
		v.send("/login", url.Values{"username": {attack}}, http.StatusUnauthorized),
		v.visit("/?category="+url.QueryEscape(attack), http.StatusOK),
	} {
		if strings.Contains(body, attack) {
			t.Errorf("not escaped: %.300s", body)
		}
	}
}

func TestPriceList(t *testing.T) {
	v := newVisitor(t)
	resp, body := v.read(v.Get(v.base + "/pricing/price-list.csv"))
	if got := resp.Header.Get("Content-Disposition"); got != "attachment; filename=price-list.csv" {
		t.Errorf("Content-Disposition = %q", got)
	}
	if got := resp.Header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(catalog)*4*8; len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	if want := []string{"HG-001-001", "Enamel mug", "Kitchen", "paper", "1", "14.00", "14.00"}; !slices.Equal(rows[1], want) {
		t.Errorf("first row %q, want %q", rows[1], want)
	}
}

func TestDownloads(t *testing.T) {
	v := newVisitor(t)
	resp, _ := v.read(v.Get(v.base + "/download/manual.txt"))
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] != "Handbuch für Enamel mug ☕.txt" {
		t.Errorf("filename %q, %v", params["filename"], err)
	}
	if body := v.visit("/download/slow.bin?ms=0", http.StatusOK); len(body) != downloadSize {
		t.Errorf("slow download: %d bytes, want %d", len(body), downloadSize)
	}
	broken, err := v.Get(v.base + "/download/broken.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Body.Close()
	if broken.ContentLength >= 0 {
		t.Error("the broken download names its length, so Chromium asks for it again and again")
	}
	if n, err := io.Copy(io.Discard, broken.Body); err == nil || n != downloadSize/2 {
		t.Errorf("broken download ended after %d bytes with %v, want half of it and an error", n, err)
	}
}

func TestLogin(t *testing.T) {
	v := newVisitor(t)
	wantText(t, v.visit("/account", http.StatusOK), "<h1>Log in</h1>")
	wrong := v.send("/login", url.Values{"username": {"demo"}, "password": {"wrong"}}, http.StatusUnauthorized)
	wantText(t, wrong, "The user name or the password is wrong.", `value="demo"`)
	wantText(t, v.send("/login", url.Values{"username": {"demo"}, "password": {"demo"}}, http.StatusOK), "Welcome back, demo", "HG-980")
	wantText(t, v.visit("/login", http.StatusOK), "Welcome back, demo")
	v.send("/logout", nil, http.StatusOK)
	wantText(t, v.visit("/account", http.StatusOK), "<h1>Log in</h1>")
}

func TestCartAndCheckout(t *testing.T) {
	v := newVisitor(t)
	resp, body := v.read(v.Post(v.base+"/api/cart", "application/json", strings.NewReader(`{"product":"enamel-mug","quantity":2}`)))
	if resp.StatusCode != http.StatusOK || body != `{"count":2,"total":"$28.00"}` {
		t.Fatalf("add to cart: %d %s", resp.StatusCode, body)
	}
	wantText(t, v.send("/cart", url.Values{"action": {"add"}, "product": {"oak-stool"}}, http.StatusOK), "$124.00", `<span id="cart-count">3</span>`)
	wantText(t, v.send("/cart", url.Values{"action": {"set"}, "product": {"enamel-mug"}, "quantity": {"99"}}, http.StatusOK), `value="20"`)
	if body := v.send("/cart", url.Values{"action": {"remove"}, "product": {"enamel-mug"}}, http.StatusOK); strings.Contains(body, "Enamel mug") {
		t.Error("the removed product is still in the cart")
	}
	v.send("/cart", url.Values{"action": {"add"}, "product": {"unicorn"}}, http.StatusBadRequest)

	form := url.Values{"name": {"Ada"}, "email": {"nonsense"}, "street": {"Quay 1"}, "city": {"Cork"}, "postcode": {"T12"}}
	wrong := v.send("/checkout", form, http.StatusUnprocessableEntity)
	wantText(t, wrong, "Please enter an email address", "Please accept the terms", `value="nonsense"`, `value="Ada"`)
	form.Set("email", "ada@harbor.example")
	form.Set("terms", "yes")
	wantText(t, v.send("/checkout", form, http.StatusOK), "Thank you", "HG-1", `<span id="cart-count">0</span>`)
	wantText(t, v.visit("/checkout", http.StatusOK), "Your cart is empty.")
}

// multipartBody has a text field, a password and a file.
func multipartBody(t *testing.T) (body *bytes.Buffer, contentType string) {
	t.Helper()
	body = &bytes.Buffer{}
	form := multipart.NewWriter(body)
	for _, f := range []field{{"name", "Ada & <Co>"}, {"password", "geheim"}} {
		if err := form.WriteField(f.Name, f.Value); err != nil {
			t.Fatal(err)
		}
	}
	file, err := form.CreateFormFile("picture", "boat.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(file, "ahoy") // a buffer takes everything
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return body, form.FormDataContentType()
}

func TestFormEcho(t *testing.T) {
	v := newVisitor(t)
	body, contentType := multipartBody(t)
	_, page := v.read(v.Post(v.base+"/forms/submit", contentType, body))
	wantText(t, page, "Ada &amp; &lt;Co&gt;", "6 characters", "boat.txt (4 bytes)")
	if strings.Contains(page, "geheim") {
		t.Error("the page shows the password")
	}
	v.send("/forms/submit", url.Values{"name": {"Ada"}}, http.StatusBadRequest) // not multipart
}

func TestUpload(t *testing.T) {
	v := newVisitor(t)
	sum := sha256.Sum256([]byte("ahoy"))
	want := upload{"picture", "boat.txt", 4, hex.EncodeToString(sum[:])}

	body, contentType := multipartBody(t)
	_, page := v.read(v.Post(v.base+"/upload", contentType, body))
	wantText(t, page, want.Name, want.SHA256)

	body, contentType = multipartBody(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.base+"/upload", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	_, answer := v.read(v.Do(req))
	var got []upload
	if err := json.Unmarshal([]byte(answer), &got); err != nil || !slices.Equal(got, []upload{want}) {
		t.Errorf("upload answered %s (%v), want %+v", answer, err, want)
	}
}

func TestRefusals(t *testing.T) {
	v := newVisitor(t)
	for path, status := range map[string]int{
		"/nowhere": 404, "/product/unicorn": 404, "/docs/unicorn": 404, "/order/42": 404, "/api/products/unicorn": 404,
		"/slow?ms=30001": 400, "/slow?ms=-1": 400, "/slow?ms=soon": 400,
		"/status/199": 400, "/status/600": 400, "/status/404": 404, "/status/503": 503, "/status/204": 204, "/status/401": 401,
		"/redirect?to=//example.com": 400, "/redirect?to=http://example.com": 400, "/redirect?to=/%5Cexample.com": 400, "/redirect?to=docs": 400, "/redirect": 400,
		"/redirect?to=/docs": 200, "/frames/inner?place=elsewhere": 400, "/search?q=" + strings.Repeat("a", 201): 400,
	} {
		v.visit(path, status)
	}
}

func TestStart(t *testing.T) {
	s, err := Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v := visitor{T: t}
	for _, base := range []string{s.URL(), s.SecondPortURL(), s.OtherHostURL()} {
		v.base = base
		wantText(t, v.visit("/frames", http.StatusOK), s.SecondPortURL()+"/frames/inner", s.OtherHostURL()+"/frames/inner")
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the site still answers after Close")
	}

	ctx, cancel := context.WithCancel(t.Context())
	s, err = Start(ctx, "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = s.Close() // waits for what the context began
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the site still answers after its context ended")
	}

	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:80", "nonsense"} {
		if s, err := Start(t.Context(), addr); err == nil {
			t.Errorf("Start(%q) serves at %s, want an error", addr, s.URL())
		}
	}
}
