package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pagehand/pagehand/check"
)

// Finding is something that is not as it must be: a request breaks a rule of package check, or a result is not what the script expects.
type Finding struct {
	// Conversation is the id of the transcript; empty when the request told of none.
	Conversation string `json:"conversation,omitempty"`
	// Request is the id of the request.
	Request string `json:"request"`
	// Rule is the id of the rule of package check; empty when it is the script that expects something else.
	Rule string `json:"rule,omitempty"`
	// Warning says that the API would not mind: the rule is the executor's, or advice.
	Warning bool `json:"warning,omitempty"`
	// Line is the script's; 0 when it is none.
	Line int `json:"line,omitempty"`
	// Text is one line.
	Text string `json:"text"`
}

// Transcript is a conversation as far as the server knows it.
type Transcript struct {
	ID      string    `json:"id"`
	Model   string    `json:"model"`
	Started time.Time `json:"started"`
	// Requests is how many there were, also those that were answered with an error.
	Requests int `json:"requests"`
	// Turns is how many of the model's turns the client has been sent, repeated ones too.
	Turns int `json:"turns"`
	// Over tells that the script has nothing to add.
	Over     bool      `json:"over"`
	Findings []Finding `json:"findings"`
	// Readings are what the model read and said, with what it said last.
	Readings []check.Reading `json:"readings"`
	// Text is the same for people.
	Text string `json:"text"`
}

// conversation is a conversation that the server remembers. Where it is in the script is not remembered: the messages tell.
type conversation struct {
	Transcript
	key    string
	moved  bool // a request had a turn of the model in it
	played map[string]int
	tape   *tape
}

// maxConversations bounds what is remembered.
const maxConversations = 1000

// keyOf tells conversations apart that have no calls yet: by the user they are for and by what they begin with.
func keyOf(r *request) string {
	first := 0
	for first < len(r.read) && !isAssistant(r.read[first]) {
		first++
	}
	return r.Metadata.UserID + "\x00" + textOf(r.read[:first])
}

func conversationID(key string, nth int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(nth) + "\x00" + key))
	return hex.EncodeToString(sum[:4])
}

// conversation finds the conversation of a request: by the id in the newest call's id, else by its beginning. A request from the
// beginning begins another one when the last that began so has gone on.
func (s *Server) conversation(r *request) *conversation {
	for _, reading := range slices.Backward(r.read) {
		if id, ok := s.options.Script.parseCallID(reading.ID); ok && reading.Role == check.Call {
			return s.conversationWith(id.conversation, keyOf(r))
		}
	}
	key := keyOf(r)
	_, continued := lastAssistant(r.read)
	nth := 0
	var last *conversation
	for _, c := range s.conversations {
		if c.key == key {
			nth++
			last = c
		}
	}
	if last != nil && (continued || !last.moved && !last.Over) {
		return last
	}
	return s.conversationWith(conversationID(key, nth), key)
}

func (s *Server) conversationWith(id, key string) *conversation {
	i := slices.IndexFunc(s.conversations, func(c *conversation) bool { return c.ID == id })
	if i >= 0 {
		return s.conversations[i]
	}
	c := &conversation{key: key, played: map[string]int{}}
	c.Transcript = Transcript{ID: id, Started: time.Now().UTC(), Findings: []Finding{}}
	if s.options.Record != "" {
		c.tape = newTape(s.options.Record, c.ID, c.Started)
	}
	s.conversations = append(s.conversations, c)
	if len(s.conversations) > maxConversations {
		s.conversations = slices.Delete(s.conversations, 0, 1)
	}
	return c
}

// answer finds the answer to a request and remembers what there is to remember.
func (s *Server) answer(r *request, doc *check.Document, id string) (message, *answer, error) {
	rejected := rejection(doc.Findings, r.Model)
	var used usage
	if rejected == nil {
		used = s.cache.usage(r) // takes its time with pictures, so nobody else waits for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if rejected != nil {
		s.reject(r, doc.Findings, id, rejected)
		return message{}, nil, rejected
	}
	c := s.conversation(r)
	c.Requests++
	c.Model = r.Model
	if _, moved := lastAssistant(r.read); moved {
		c.moved = true
	}
	s.findRules(c, doc.Findings, id)
	p := player{script: s.options.Script, request: r, conversation: c.ID, played: c.played}
	a := p.play()
	for _, key := range a.played {
		c.played[key]++
	}
	for _, f := range a.findings {
		s.find(c, f, id)
	}
	c.Over = a.over
	if a.refused != nil {
		c.Readings, c.Text = doc.Conversation.View(), doc.Conversation.Text()
		err := &apiError{kind: a.refused.kind, retryAfter: a.refused.retryAfter}
		s.record(c, func(t *tape) error { return t.failed(r, err) })
		return message{}, nil, err
	}
	used.Output = a.tokens()
	m := message{ID: fmt.Sprintf("msg_%s_%d", c.ID, c.Requests), Type: "message", Role: "assistant", Model: r.Model, Content: a.blocks(), Usage: used}
	m.StopReason, m.StopSequence, m.StopDetails = a.stopped()
	if len(m.Content) > 0 && a.broken == nil {
		doc.Conversation.Add(encode(map[string]any{"role": "assistant", "content": m.Content}))
	}
	c.Readings, c.Text = doc.Conversation.View(), doc.Conversation.Text()
	c.Turns++
	s.record(c, func(t *tape) error { return t.answered(r, m, &a) })
	return m, &a, nil
}

// reject notes why a request was rejected, with its conversation if it is a known one's.
func (s *Server) reject(r *request, findings []check.Finding, id string, err *apiError) {
	key := keyOf(r)
	var c *conversation
	for _, known := range s.conversations {
		if known.key == key {
			c = known
		}
	}
	if err.kind.status == http.StatusNotFound {
		s.find(c, Finding{Text: err.text()}, id)
	}
	s.findRules(c, findings, id)
}

func (s *Server) findRules(c *conversation, findings []check.Finding, id string) {
	for _, f := range findings {
		s.find(c, Finding{Rule: f.Rule, Warning: f.Warning, Text: f.String()}, id)
	}
}

// find notes a finding, once for each conversation: a request repeats all messages before it.
func (s *Server) find(c *conversation, f Finding, id string) {
	f.Request = id
	if c != nil {
		if slices.ContainsFunc(c.Findings, func(old Finding) bool { return old.Rule == f.Rule && old.Text == f.Text }) {
			return
		}
		f.Conversation = c.ID
		c.Findings = append(c.Findings, f)
		s.record(c, func(t *tape) error { return t.note(f.Text) })
	}
	s.findings = append(s.findings, f)
	s.options.Log.Warn("finding", "conversation", f.Conversation, "request", f.Request, "text", f.Text)
}

// record writes to the conversation's recording. A failure is told once, and ends it.
func (s *Server) record(c *conversation, write func(*tape) error) {
	if c.tape == nil {
		return
	}
	if err := write(c.tape); err != nil {
		s.options.Log.Error("the conversation is not recorded any more", "conversation", c.ID, "cause", err)
		c.tape = nil
	}
}

// Findings lists everything that was not as it must be, in order. A client that keeps to the contract, with results that the script
// expects, has none.
func (s *Server) Findings() []Finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.findings)
}

// Transcripts lists the last 1,000 conversations in the order of their beginning.
func (s *Server) Transcripts() []Transcript {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Transcript{}
	for _, c := range s.conversations {
		t := c.Transcript
		t.Findings = slices.Clone(t.Findings)
		list = append(list, t)
	}
	return list
}

func (s *Server) listTranscripts(w http.ResponseWriter, _ *http.Request, _ string) error {
	writeJSON(w, http.StatusOK, map[string]any{"transcripts": s.Transcripts(), "findings": append([]Finding{}, s.Findings()...)})
	return nil
}

// showTranscript answers with the text of one.
func (s *Server) showTranscript(w http.ResponseWriter, r *http.Request, _ string) error {
	id := r.PathValue("id")
	for _, t := range s.Transcripts() {
		if t.ID != id {
			continue
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		var b strings.Builder
		b.WriteString(t.Text)
		for _, f := range t.Findings {
			fmt.Fprintf(&b, "\n[finding]\n%s\n", f.Text)
		}
		_, _ = w.Write([]byte(b.String())) // that the client has gone is nothing to tell
		return nil
	}
	return failure("not_found_error", "there is no transcript %q", id)
}
