package conform

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// site serves a check's pages at three addresses: two ports of one host, and another host, which browsers take for another site.
type site struct {
	origin, port, other string
	servers             []*http.Server

	mu    sync.Mutex
	shown *shown
}

// shown is what the site serves during one check.
type shown struct {
	files    map[string][]byte
	values   *values
	over     context.Context // ends with the check, and with it every answer that is held back
	end      context.CancelFunc
	release  chan struct{} // closed by a request for /release
	released sync.Once
}

func openSite() (*site, error) {
	s := &site{}
	s.show(nil, nil)
	for _, url := range []*string{&s.origin, &s.port, &s.other} {
		host := "127.0.0.1"
		if url == &s.other {
			host = "127.0.0.2"
		}
		l, err := net.Listen("tcp", host+":0")
		if err != nil && url == &s.other { // not every system has a second loopback address
			host = "localhost"
			l, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			s.close()
			return nil, fmt.Errorf("serve the checks' pages: %w", err)
		}
		server := &http.Server{Handler: http.HandlerFunc(s.serve)}
		s.servers = append(s.servers, server)
		go server.Serve(l) // ends when the server is closed
		*url = fmt.Sprintf("http://%s:%d", host, l.Addr().(*net.TCPAddr).Port)
	}
	return s, nil
}

func (s *site) close() {
	s.show(nil, nil)
	for _, server := range s.servers {
		server.Close()
	}
}

// show serves other files from now on.
func (s *site) show(files map[string][]byte, v *values) {
	next := &shown{files: files, values: v, release: make(chan struct{})}
	next.over, next.end = context.WithCancel(context.Background())
	s.mu.Lock()
	before := s.shown
	s.shown = next
	s.mu.Unlock()
	if before != nil {
		before.end()
	}
}

// releaseTime is how long a request for /release takes: the end of what it releases comes meanwhile.
const releaseTime = 500 * time.Millisecond

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	now := s.shown
	s.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	dir, name := path.Split(strings.TrimPrefix(r.URL.Path, "/"))
	switch {
	case r.URL.Path == "/redirect":
		http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
	case dir == "status/":
		code, err := strconv.Atoi(name)
		if err != nil || code < 200 || code > 599 {
			code = http.StatusNotFound
		}
		w.WriteHeader(code)
		if code != http.StatusNoContent {
			fmt.Fprintf(w, "Status %d\n", code)
		}
	case dir == "save/":
		now.download(w, r, name, func() {})
	case dir == "held/":
		now.download(w, r, name, func() { wait(now, r, now.release) })
	case dir == "cut/":
		now.download(w, r, name, func() {
			wait(now, r, now.release)
			panic(http.ErrAbortHandler)
		})
	case r.URL.Path == "/hang":
		wait[struct{}](now, r, nil)
	case dir == "release/", r.URL.Path == "/release":
		now.released.Do(func() { close(now.release) })
		var over <-chan time.Time
		if name != "hang" {
			over = time.After(releaseTime)
		}
		wait(now, r, over)
		fmt.Fprintln(w, "Released")
	default:
		now.file(w, r)
	}
}

// wait holds an answer back until something happens, the client goes or the check is over.
func wait[T any](s *shown, r *http.Request, until <-chan T) {
	select {
	case <-until:
	case <-r.Context().Done():
	case <-s.over.Done():
	}
}

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".csv": "text/csv", ".txt": "text/plain; charset=utf-8", ".json": "application/json",
}

func (s *shown) file(w http.ResponseWriter, r *http.Request) {
	data, err := s.read(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if kind := contentTypes[path.Ext(r.URL.Path)]; kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	io.WriteString(w, data)
}

func (s *shown) read(name string) (string, error) {
	data, ok := s.files[name]
	if !ok || s.values == nil {
		return "", fmt.Errorf("there is no %s", name)
	}
	return s.values.expand(string(data))
}

// download sends a file as one, half of it before something happens.
func (s *shown) download(w http.ResponseWriter, r *http.Request, name string, halfway func()) {
	data, err := s.read(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff") // else browsers wait for more of it before they begin
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	io.WriteString(w, data[:len(data)/2])
	http.NewResponseController(w).Flush()
	halfway()
	io.WriteString(w, data[len(data)/2:])
}
