package approval

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pagehand/pagehand/policy"
)

func payment() Request {
	return Request{
		Act: policy.Act{
			Member: "left_click", Tab: "tab-1", URL: "https://shop.example/cart", Host: "shop.example",
			Input:   json.RawMessage(`{"target":{"type":"ref","ref":"ref_3"}}`),
			Element: &policy.Element{Role: "button", Name: "Pay", Form: &policy.Form{Action: "https://shop.example/pay", Method: "post"}},
		},
		Reason: "it looks like buying or paying",
	}
}

// says is an approver that gives one answer.
type says func(ctx context.Context, r Request) (Answer, error)

func (s says) Approve(ctx context.Context, r Request) (Answer, error) { return s(ctx, r) }

func yes(_ context.Context, r Request) (Answer, error) {
	return Answer{Yes: true, Digest: r.Digest(), By: "test"}, nil
}

// changes are acts that differ from payment in one thing.
var changes = map[string]func(a *policy.Act){
	"member":       func(a *policy.Act) { a.Member = "double_click" },
	"tab":          func(a *policy.Act) { a.Tab = "tab-2" },
	"page":         func(a *policy.Act) { a.URL = "https://shop.example/cart?total=9999" },
	"host":         func(a *policy.Act) { a.Host = "evil.example" },
	"input":        func(a *policy.Act) { a.Input = json.RawMessage(`{"target":{"type":"ref","ref":"ref_4"}}`) },
	"name":         func(a *policy.Act) { a.Element.Name = "Pay 9999" },
	"form":         func(a *policy.Act) { a.Element.Form.Action = "https://evil.example/pay" },
	"no element":   func(a *policy.Act) { a.Element = nil },
	"bad input":    func(a *policy.Act) { a.Input = json.RawMessage(`{"target":`) },
	"shifted text": func(a *policy.Act) { a.Tab, a.URL = "", a.Tab+a.URL },
}

func TestA01NothingButAClearYesInTime(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx      context.Context
		approver Approver
		cause    error
	}{
		"nobody":      {t.Context(), nil, ErrNobody},
		"zero answer": {t.Context(), says(func(context.Context, Request) (Answer, error) { return Answer{}, nil }), ErrRefused},
		"yes and an error": {t.Context(), says(func(ctx context.Context, r Request) (Answer, error) {
			a, _ := yes(ctx, r)
			return a, io.ErrUnexpectedEOF
		}), io.ErrUnexpectedEOF},
		"no digest": {t.Context(), says(func(context.Context, Request) (Answer, error) { return Answer{Yes: true}, nil }), ErrMismatch},
		"other digest": {t.Context(), says(func(context.Context, Request) (Answer, error) {
			return Answer{Yes: true, Digest: Request{}.Digest()}, nil
		}), ErrMismatch},
		"no answer":        {t.Context(), says(func(ctx context.Context, _ Request) (Answer, error) { <-ctx.Done(); return Answer{}, nil }), ErrLate},
		"late yes":         {t.Context(), says(func(ctx context.Context, r Request) (Answer, error) { <-ctx.Done(); return yes(ctx, r) }), ErrLate},
		"call ended":       {ended, says(yes), context.Canceled},
		"closed terminal":  {t.Context(), NewTerminal(strings.NewReader(""), io.Discard), ErrClosed},
		"line without end": {t.Context(), NewTerminal(strings.NewReader(strings.Repeat("y", 1<<20)), io.Discard), ErrClosed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			grant, err := Ask(test.ctx, test.approver, payment(), 20*time.Millisecond)
			if grant != nil || !errors.Is(err, test.cause) {
				t.Fatalf("got %v and %v, want a refusal because %v", grant, err, test.cause)
			}
		})
	}
	t.Run("approver that never returns", func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		_, err := Ask(t.Context(), says(func(context.Context, Request) (Answer, error) { <-stuck; return Answer{}, nil }), payment(), time.Millisecond)
		if !errors.Is(err, ErrLate) {
			t.Error(err)
		}
	})
	t.Run("input that is not an object", func(t *testing.T) {
		for _, input := range []string{`{`, `[]`, `"x"`, `{} {}`} {
			if _, err := Ask(t.Context(), says(yes), Request{Act: policy.Act{Input: json.RawMessage(input)}}, time.Minute); !errors.Is(err, ErrInput) {
				t.Errorf("%s: %v", input, err)
			}
		}
	})
	for name, change := range changes {
		t.Run("changed "+name, func(t *testing.T) {
			grant, err := Ask(t.Context(), says(yes), payment(), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			other := payment().Act
			change(&other)
			if err := grant.Spend(other); !errors.Is(err, ErrChanged) {
				t.Errorf("another act: %v", err)
			}
			if err := grant.Spend(payment().Act); !errors.Is(err, ErrSpent) {
				t.Errorf("after it: %v", err)
			}
		})
	}
	t.Run("replayed", func(t *testing.T) {
		grant, err := Ask(t.Context(), says(yes), payment(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		results := make(chan error, 10)
		for range cap(results) {
			wg.Go(func() { results <- grant.Spend(payment().Act) })
		}
		wg.Wait()
		close(results)
		spent := 0
		for err := range results {
			if err == nil {
				spent++
			}
		}
		if spent != 1 {
			t.Errorf("spent %d times", spent)
		}
	})
	if err := (*Grant)(nil).Spend(payment().Act); err == nil {
		t.Error("a nil grant covers an act")
	}
	if err := new(Grant).Spend(payment().Act); err == nil {
		t.Error("a zero grant covers an act")
	}
}

func TestDigest(t *testing.T) {
	base := payment()
	same := payment()
	same.Act.Input = json.RawMessage("{ \"target\": {\"ref\":\"ref_\\u0033\", \"type\":\"ref\"} }\n")
	same.Reason, same.Picture = "another reason", []byte("png")
	if base.Digest() != same.Digest() {
		t.Error("the same act written in another way has another digest")
	}
	seen := map[string]string{base.Digest(): "the act itself"}
	for name, change := range changes {
		r := payment()
		change(&r.Act)
		if other, taken := seen[r.Digest()]; taken {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[r.Digest()] = name
	}
}

func TestRefusalText(t *testing.T) {
	tests := map[error]string{
		ErrRefused: `A person refused left_click on button "Pay". Do not try it again; go on without it or ask the user.`,
		ErrLate:    `Nobody approved left_click on button "Pay". Do not try it again; go on without it or ask the user.`,
		ErrChanged: `The page changed while a person was asked, so nobody approved left_click on button "Pay" as it is now and it was not done. Read the page before you go on.`,
	}
	for cause, want := range tests {
		if got := (&Refused{payment().Act, cause}).Error(); got != want {
			t.Error(got)
		}
	}
}

// screen collects what a terminal shows; asked gets a value with each question.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	asked chan struct{}
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.text.Write(b)
	s.mu.Unlock()
	if strings.HasSuffix(string(b), "[y/N] ") {
		s.asked <- struct{}{}
	}
	return len(b), nil
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestTerminal(t *testing.T) {
	for line, want := range map[string]bool{
		"y\n": true, "YES\r\n": true, " y \n": true, "\n": false, "n\n": false, "yy\n": false, "yes please\n": false, "\x1b[Ay\n": false, "у\n": false,
	} {
		in, person := io.Pipe()
		out := &screen{asked: make(chan struct{}, 1)}
		terminal := NewTerminal(in, out)
		go func() {
			<-out.asked
			terminal.await()
			_, _ = io.WriteString(person, line)
		}()
		grant, err := Ask(t.Context(), terminal, payment(), time.Minute)
		if (grant != nil) != want || !want && !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v, %v", line, grant, err)
		}
		person.Close()
	}
}

// await returns when the terminal listens to the question that is on the screen.
func (t *Terminal) await() {
	for {
		t.mu.Lock()
		listening := t.waiting != nil
		t.mu.Unlock()
		if listening {
			return
		}
		runtime.Gosched()
	}
}

func TestA01TerminalDropsWhatWasTypedForAnEarlierQuestion(t *testing.T) {
	in, person := io.Pipe()
	out := &screen{asked: make(chan struct{}, 2)}
	terminal := NewTerminal(in, out)
	if _, err := Ask(t.Context(), terminal, payment(), time.Millisecond); !errors.Is(err, ErrLate) {
		t.Fatal(err)
	}
	<-terminal.turn // the question is over
	terminal.turn <- struct{}{}
	_, _ = io.WriteString(person, "y\n")
	_, _ = person.Write(nil) // returns when the line was read and the reader is back
	go func() {
		<-out.asked
		<-out.asked
		terminal.await()
		person.Close()
	}()
	if _, err := Ask(t.Context(), terminal, payment(), time.Minute); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A line that comes with the next question may still be for the one that is over, so it is asked again.
func TestA01TerminalAsksAgainAfterAnExpiredQuestion(t *testing.T) {
	for second, want := range map[string]bool{"y\n": true, "\n": false} {
		in, person := io.Pipe()
		out := &screen{asked: make(chan struct{}, 3)}
		terminal := NewTerminal(in, out)
		if _, err := Ask(t.Context(), terminal, payment(), time.Millisecond); !errors.Is(err, ErrLate) {
			t.Fatal(err)
		}
		<-out.asked
		go func() {
			for _, line := range []string{"y\n", second} {
				<-out.asked
				terminal.await()
				_, _ = io.WriteString(person, line)
			}
		}()
		grant, err := Ask(t.Context(), terminal, payment(), time.Minute)
		if (grant != nil) != want || !want && !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v, %v", second, grant, err)
		}
		person.Close()
	}
}

func TestA02InputIsShownEscapedWithItsLength(t *testing.T) {
	hostile := map[string]string{
		"bidi":      "abc\u202edef\u2066x\u200f",
		"escape":    "\x1b[2J\x1b]0;title\x07\u009b31m",
		"html":      `<b onclick="x()">&amp;</b>`,
		"zero":      "a\u200b\u200d\u2060\ufeff\u00adb",
		"tags":      "\U000E0041\U000E0042 \ufe0f\U000E0100",
		"fillers":   "\u3164\u115f\u2800\u034f",
		"spaces":    "a\u00a0b\u2003c\u2028d\r\n\te",
		"marks":     "z" + strings.Repeat("\u0301", 50),
		"private":   "\ue000\U000F0000",
		"backslash": `\u202e \n "`,
		"million":   strings.Repeat("A", 1<<20-4) + "last",
	}
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			r := payment()
			raw, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				t.Fatal(err)
			}
			r.Act.Input, r.Act.Element.Name, r.Act.URL = raw, text, "https://shop.example/"+text
			v := r.View()
			for _, shown := range []string{v.Input, v.Element, v.URL, question(v)} {
				if lines := strings.ReplaceAll(shown, "\n", ""); escape(lines) != lines {
					t.Errorf("%.200q is shown", shown)
				}
			}
			var back struct{ Text string }
			if err := json.Unmarshal([]byte(v.Input), &back); err != nil || back.Text != text {
				t.Errorf("what is shown is not the input: %v", err)
			}
			if raw, _ := canonical(raw); v.Characters != len([]rune(string(raw))) {
				t.Errorf("%d characters", v.Characters)
			}
			screen := question(v)
			if len(screen) > 6*(maxShown+2000) || !strings.Contains(screen, strconv.Itoa(v.Characters)+" characters") {
				t.Errorf("the question has %d bytes or lacks the length", len(screen))
			}
			if i := strings.Index(screen, "Input, "); !strings.Contains(screen[i:], "Member") || !strings.HasSuffix(screen, "Do it? [y/N] ") {
				t.Error("the input comes after what matters")
			}
		})
	}
	r := payment()
	r.Act.Input = json.RawMessage(`{"text":"` + hostile["million"] + `"}`)
	if shown := question(r.View()); !strings.Contains(shown, "characters are not shown") || !strings.Contains(shown, `last"}`) {
		t.Error("a long input is not cut in its middle")
	}
}

func TestQueue(t *testing.T) {
	var q Queue
	asked := func(n int) []Pending {
		for {
			if list := q.Pending(); len(list) == n {
				return list
			}
			runtime.Gosched()
		}
	}
	type outcome struct {
		grant *Grant
		err   error
	}
	ask := func(ctx context.Context) chan outcome {
		done := make(chan outcome, 1)
		go func() {
			g, err := Ask(ctx, &q, payment(), time.Minute)
			done <- outcome{g, err}
		}()
		return done
	}
	first := ask(t.Context())
	one := asked(1)[0]
	if one.Expires.IsZero() || one.View.Member != "left_click" {
		t.Errorf("%+v", one)
	}
	second := ask(t.Context())
	two := asked(2)[1]
	if err := q.Answer("guess", one.View.Digest, true, "me"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if err := q.Answer(one.ID, "", true, "me"); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	if err := q.Answer(two.ID, two.View.Digest, false, "me"); err != nil {
		t.Error(err)
	}
	if got := <-second; !errors.Is(got.err, ErrRefused) {
		t.Errorf("%+v", got)
	}
	if err := q.Answer(one.ID, one.View.Digest, true, "me"); err != nil {
		t.Error(err)
	}
	if got := <-first; got.err != nil || got.grant.By != "me" {
		t.Errorf("%+v", got)
	}
	if err := q.Answer(one.ID, one.View.Digest, true, "me"); !errors.Is(err, ErrUnknown) {
		t.Errorf("replayed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	third := ask(ctx)
	late := asked(1)[0]
	cancel()
	if got := <-third; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	asked(0)
	if err := q.Answer(late.ID, late.View.Digest, true, "me"); !errors.Is(err, ErrUnknown) {
		t.Errorf("late: %v", err)
	}
	for range maxPending {
		ask(t.Context())
	}
	for _, p := range asked(maxPending) {
		defer func() { _ = q.Answer(p.ID, p.View.Digest, false, "") }()
	}
	if _, err := q.Approve(t.Context(), payment()); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

var secret = []byte("0123456789abcdef0123456789abcdef")

func TestWebhook(t *testing.T) {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	type reply struct {
		status    int
		kind      string
		timestamp string
		signedAs  string
		with      []byte
		body      string
	}
	var earlier string
	good := func(q hookQuestion) reply {
		body, _ := json.Marshal(hookAnswer{q.ID, q.Request.Digest, "yes", "ada"})
		return reply{200, "application/json; charset=utf-8", now, "answer", secret, string(body)}
	}
	tests := []struct {
		name string
		edit func(r *reply, q hookQuestion)
		yes  bool
	}{
		{"yes", func(r *reply, q hookQuestion) { earlier = r.body }, true},
		{"replay of an earlier answer", func(r *reply, q hookQuestion) { r.body = earlier }, false},
		{"no", func(r *reply, q hookQuestion) { r.body = strings.Replace(r.body, `"yes"`, `"no"`, 1) }, false},
		{"true", func(r *reply, q hookQuestion) { r.body = strings.Replace(r.body, `"yes"`, `true`, 1) }, false},
		{"Yes", func(r *reply, q hookQuestion) { r.body = strings.Replace(r.body, `"yes"`, `"Yes"`, 1) }, false},
		{"no answer", func(r *reply, q hookQuestion) { r.body = "" }, false},
		{"other digest", func(r *reply, q hookQuestion) {
			r.body = strings.Replace(r.body, q.Request.Digest, strings.Repeat("0", 64), 1)
		}, false},
		{"no id", func(r *reply, q hookQuestion) { r.body = strings.Replace(r.body, q.ID, "", 1) }, false},
		{"unknown field", func(r *reply, q hookQuestion) { r.body = strings.Replace(r.body, "{", `{"x":1,`, 1) }, false},
		{"two objects", func(r *reply, q hookQuestion) { r.body += r.body }, false},
		{"too long", func(r *reply, q hookQuestion) { r.body += strings.Repeat(" ", maxReply) }, false},
		{"status", func(r *reply, q hookQuestion) { r.status = 201 }, false},
		{"redirect", func(r *reply, q hookQuestion) { r.status = 307 }, false},
		{"type", func(r *reply, q hookQuestion) { r.kind = "text/html" }, false},
		{"other secret", func(r *reply, q hookQuestion) { r.with = []byte("ffffffffffffffff") }, false},
		{"signed as a question", func(r *reply, q hookQuestion) { r.signedAs = "question" }, false},
		{"old", func(r *reply, q hookQuestion) { r.timestamp = "1000000000" }, false},
		{"no timestamp", func(r *reply, q hookQuestion) { r.timestamp = "" }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				var q hookQuestion
				if err != nil || json.Unmarshal(body, &q) != nil || r.Header.Get(SignatureHeader) != Sign(secret, "question", r.Header.Get(TimestampHeader), body) {
					t.Error("the question is not signed well")
				}
				answer := good(q)
				test.edit(&answer, q)
				w.Header().Set("Content-Type", answer.kind)
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set(TimestampHeader, answer.timestamp)
				w.Header().Set(SignatureHeader, Sign(answer.with, answer.signedAs, answer.timestamp, []byte(answer.body)))
				w.WriteHeader(answer.status)
				_, _ = io.WriteString(w, answer.body)
			}))
			defer server.Close()
			hook, err := NewWebhook(server.URL, secret, server.Client())
			if err != nil {
				t.Fatal(err)
			}
			grant, err := Ask(t.Context(), hook, payment(), time.Minute)
			if (grant != nil) != test.yes {
				t.Fatalf("%+v, %v", grant, err)
			}
			if test.yes && grant.By != "webhook ada" {
				t.Error(grant.By)
			}
		})
	}
	t.Run("no answer yet", func(t *testing.T) {
		var ids []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var q hookQuestion
			if err != nil || json.Unmarshal(body, &q) != nil {
				t.Error("the question cannot be read")
			}
			ids = append(ids, q.ID)
			if len(ids) < 3 {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusAccepted)
				return
			}
			answer := good(q)
			w.Header().Set("Content-Type", answer.kind)
			w.Header().Set(TimestampHeader, answer.timestamp)
			w.Header().Set(SignatureHeader, Sign(secret, "answer", answer.timestamp, []byte(answer.body)))
			_, _ = io.WriteString(w, answer.body)
		}))
		defer server.Close()
		hook, err := NewWebhook(server.URL, secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Ask(t.Context(), hook, payment(), time.Minute); err != nil || len(ids) != 3 || ids[0] != ids[2] {
			t.Errorf("%v after %v", err, ids)
		}
	})
	t.Run("never an answer", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusAccepted) }))
		defer server.Close()
		hook, err := NewWebhook(server.URL, secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Ask(t.Context(), hook, payment(), 50*time.Millisecond); !errors.Is(err, ErrLate) {
			t.Error(err)
		}
	})
	t.Run("silence", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
			<-r.Context().Done()
		}))
		defer server.Close()
		hook, err := NewWebhook(server.URL, secret, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Ask(t.Context(), hook, payment(), 20*time.Millisecond); !errors.Is(err, ErrLate) {
			t.Error(err)
		}
	})
}

func TestNewWebhook(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://hooks.example/x": true, "http://127.0.0.1:8080": true, "http://localhost/": true, "http://[::1]/": true,
		"http://hooks.example/": false, "http://localhost.evil.example/": false, "ftp://127.0.0.1/": false, "/x": false, "": false, "https://": false,
	} {
		if _, err := NewWebhook(address, secret, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := NewWebhook("https://hooks.example/", []byte("short"), nil); err == nil {
		t.Error("a short secret is accepted")
	}
}

// FuzzView: whatever the input, what is shown decodes to it and holds nothing that cannot be seen.
func FuzzView(f *testing.F) {
	f.Add(`{"text":"abc\u202e"}`, "Pay\x1b[2J")
	f.Add(`{"b":1.0,"a":[null,true,"\ud800"]}`, "\xff")
	f.Fuzz(func(t *testing.T, input, name string) {
		r := Request{Act: policy.Act{Member: "type", Input: json.RawMessage(input), Element: &policy.Element{Name: name}}}
		v := r.View()
		for _, shown := range []string{v.Input, v.Element} {
			if strings.ContainsAny(shown, "\x1b\u202e\u200b\n\r\x00") {
				t.Errorf("%q", shown)
			}
		}
		want, valid := canonical(r.Act.Input)
		if !valid {
			return
		}
		if got, ok := canonical(json.RawMessage(v.Input)); !ok || string(got) != string(want) {
			t.Errorf("%q is shown as %q", want, v.Input)
		}
		again := r
		again.Act.Input = want
		if r.Digest() != again.Digest() {
			t.Error("the canonical input has another digest")
		}
	})
}
