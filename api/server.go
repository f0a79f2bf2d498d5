package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/pagehand/pagehand/check"
	"github.com/pagehand/pagehand/models"
)

// MaxBody is the most bytes of a request's body, as at the API.
const MaxBody = 32 << 20

// UsageHeader is a header of every response with a count of tokens. Its value is "estimated".
const UsageHeader = "Pagehand-Usage"

// Options are what a server is made of. The zero value is ready to use: its model has nothing to say.
type Options struct {
	// Script is what the model does.
	Script *Script
	// Record is a folder that gets a file of package recording for each conversation. It must exist. Empty records nothing.
	Record string
	// Models are the models there are. The zero value means [models.Known].
	Models models.Table
	// Log gets each request at level debug, and each finding at level warn. Nil discards it.
	Log *slog.Logger
}

// Server is a local Messages API with a scripted model. It is an [http.Handler], and safe for concurrent use.
type Server struct {
	options Options
	cache   *cache
	mux     *http.ServeMux

	mu            sync.Mutex
	requests      int
	conversations []*conversation // in the order of their beginning
	findings      []Finding
}

// New returns a server.
func New(o Options) *Server {
	if o.Script == nil {
		o.Script = &Script{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Models.All()) == 0 {
		o.Models = models.Known()
	}
	s := &Server{options: o, cache: newCache(), mux: http.NewServeMux()}
	s.handle("POST", "/v1/messages", s.messages)
	s.handle("POST", "/v1/messages/count_tokens", s.countTokens)
	s.handle("GET", "/v1/models", s.listModels)
	s.handle("GET", "/v1/models/{id}", s.showModel)
	s.handle("GET", "/transcripts", s.listTranscripts)
	s.handle("GET", "/transcripts/{id}", s.showTranscript)
	s.mux.HandleFunc("/", s.answering(func(http.ResponseWriter, *http.Request, string) error { return failure("not_found_error", "Not found") }))
	return s
}

// handler answers a request that has got this id, or returns an *apiError.
type handler func(w http.ResponseWriter, r *http.Request, id string) error

func (s *Server) handle(method, path string, h handler) {
	s.mux.HandleFunc(method+" "+path, s.answering(h))
	s.mux.HandleFunc(path, s.answering(func(http.ResponseWriter, *http.Request, string) error {
		return &apiError{kind: errorKinds[0], message: "Method Not Allowed", allow: method}
	}))
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// answering does for every request what does not depend on its path.
func (s *Server) answering(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := s.nextID()
		w.Header().Set("Request-Id", id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		err := checkHost(r.Host)
		if err == nil {
			err = h(w, r, id)
		}
		s.options.Log.Debug("request", "id", id, "method", r.Method, "path", r.URL.Path, "error", err)
		if err == nil {
			return
		}
		var known *apiError
		if !errors.As(err, &known) {
			known = failure("api_error", "%s", err)
		}
		known.write(w, id)
	}
}

func (s *Server) nextID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return fmt.Sprintf("req_%08d", s.requests)
}

// checkHost refuses names that somebody else may have pointed at this computer, so that no page reads the transcripts through one (DNS
// rebinding).
func checkHost(host string) error {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsLoopback() || strings.EqualFold(name, "localhost") {
		return nil
	}
	return failure("permission_error", "Host: %q is not a loopback address, and this API answers on one only", host)
}

// The names that a brand's headers begin with (contract §9).
var brands = []struct {
	brand  models.Brand
	prefix string
}{
	{models.Claude, "Anthropic-"},
	{models.Haijun, "Juglow-"},
}

// apiVersions are the values of a version header that are accepted: contract §9 names the first, newer SDKs send the second.
var apiVersions = []string{"2023-06-01", "2026-10-21", "2023-01-01"}

// authorize checks the key, which may be any, and the version. It returns the brand of the headers.
func authorize(h http.Header) (models.Brand, error) {
	bearer, isBearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if h.Get("X-Api-Key") == "" && (!isBearer || bearer == "") {
		return "", failure("authentication_error", "x-api-key header is required")
	}
	for _, b := range brands {
		switch version := h.Get(b.prefix + "Version"); {
		case version == "":
		case slices.Contains(apiVersions, version):
			return b.brand, nil
		default:
			return "", failure("invalid_request_error", "%sversion: %q is not a valid version; there is %s", strings.ToLower(b.prefix), version, apiVersions[0])
		}
	}
	return "", failure("invalid_request_error", "anthropic-version: header is required")
}

func betas(h http.Header) []string {
	var names []string
	for _, b := range brands {
		for _, value := range h.Values(b.prefix + "Beta") {
			for name := range strings.SplitSeq(value, ",") {
				names = append(names, strings.TrimSpace(name))
			}
		}
	}
	return names
}

// readRequest reads and checks the body of a request. ignore says which findings don't count.
func (s *Server) readRequest(w http.ResponseWriter, r *http.Request, ignore func(check.Finding) bool) (*request, *check.Document, error) {
	if _, err := authorize(r.Header); err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, nil, failure("request_too_large", "Request exceeds the maximum size of %d bytes", MaxBody)
	case err != nil:
		return nil, nil, failure("invalid_request_error", "the body can't be read: %s", err)
	}
	if err := refuseThread(body); err != nil {
		return nil, nil, err
	}
	request, doc, err := parseRequest(body, check.Options{Betas: betas(r.Header), Models: s.options.Models.Lookup}, ignore)
	if err != nil {
		return nil, nil, failure("invalid_request_error", "%s", err)
	}
	return request, doc, nil
}

// refuseThread refuses requests that leave the messages before to be remembered by the API, in the way in which the official SDKs
// learn that they have to send everything.
func refuseThread(body []byte) error {
	var fields struct {
		Thread json.RawMessage `json:"thread"`
	}
	if err := json.Unmarshal(body, &fields); err != nil || len(fields.Thread) == 0 || string(fields.Thread) == "null" {
		return nil // what else may be wrong is found by the check
	}
	err := failure("invalid_request_error", "thread: this API needs the whole conversation in each request")
	err.details = map[string]any{"error_code": "thread_unsupported_request", "unsupported": []string{"thread"}}
	return err
}

// rejection is the error that the API would answer a request with that has these findings; nil if it would not.
func rejection(findings []check.Finding, model string) *apiError {
	var errs []check.Finding
	for _, f := range findings {
		switch {
		case !f.Warning:
			errs = append(errs, f)
		case f.Rule == "model-unknown":
			return failure("not_found_error", "model: %s", model)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	text := strings.TrimPrefix(errs[0].String(), "error: ")
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return failure("invalid_request_error", "%s", text)
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, id string) error {
	request, doc, err := s.readRequest(w, r, func(check.Finding) bool { return false })
	if err != nil {
		return err
	}
	m, a, err := s.answer(request, doc, id)
	if err != nil {
		return err
	}
	w.Header().Set(UsageHeader, "estimated")
	if request.Stream {
		a.stream(r.Context(), w, m, id)
		return nil
	}
	a.whole(r.Context(), w, m, id)
	return nil
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request, _ string) error {
	request, doc, err := s.readRequest(w, r, func(f check.Finding) bool { return f.Path == "max_tokens" })
	if err != nil {
		return err
	}
	if err := rejection(doc.Findings, request.Model); err != nil {
		return err
	}
	w.Header().Set(UsageHeader, "estimated")
	u := newCache().usage(request)
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": u.Input + u.CacheRead + u.CacheWrite})
	return nil
}
