// Package approval asks a person before an act (contract §8.6) and takes nothing but a clear yes in time for a yes: no answer, an
// error, an answer to another question, a late or repeated one are all a no.
//
// An approval covers one act, once: [Ask] gives a [Grant] that is bound to the digest of member, input, tab, URL, host and element, and
// [Grant.Spend] compares it with the act as it is at the moment of acting.
package approval

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pagehand/pagehand/policy"
)

// DefaultLimit is how long a person has to answer when nothing else is said.
const DefaultLimit = 2 * time.Minute

// Request is one act that a person is asked about.
type Request struct {
	Act policy.Act
	// Reason says why the person is asked, a clause without a full stop.
	Reason string
	// Picture is a PNG of the element in its surroundings. It may be absent.
	Picture []byte
}

// Digest identifies the act: a hash, as 64 hexadecimal digits, of its member, canonical input, tab, URL, host and element. The same act has the
// same digest, however its input is written; any change gives another one.
func (r Request) Digest() string {
	h := sha256.New()
	element, err := json.Marshal(r.Act.Element)
	if err != nil {
		panic("approval: " + err.Error()) // an Element is plain strings
	}
	input, valid := canonical(r.Act.Input)
	for _, part := range []string{
		"pagehand approval 1", r.Act.Member, strconv.FormatBool(valid), string(input), r.Act.Tab, r.Act.URL, r.Act.Host, string(element),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonical is a JSON text with sorted keys and no needless space. A text that is not one JSON value stays as it is.
func canonical(raw json.RawMessage) ([]byte, bool) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // 1 and 1.0 stay apart, and large numbers whole
	if d.Decode(&value) != nil {
		return raw, false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return raw, false
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return raw, false
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}

// Answer is what an approver says. The zero value is a no.
type Answer struct {
	// Yes is true for a clear yes only.
	Yes bool
	// Digest is that of the request the person saw.
	Digest string
	// By says who answered, for the recording.
	By string
}

// Approver puts a request to a person and waits for the answer until ctx ends.
type Approver interface {
	Approve(ctx context.Context, r Request) (Answer, error)
}

// Causes of a [Refused] beside an approver's own errors.
var (
	ErrRefused  = errors.New("a person said no")
	ErrLate     = errors.New("no answer came in time")
	ErrMismatch = errors.New("the answer is for another act")
	ErrChanged  = errors.New("the approval is for another act, or for the page as it was before")
	ErrSpent    = errors.New("the approval was used already")
	ErrNobody   = errors.New("there is nobody to ask")
	ErrInput    = errors.New("the input is not a JSON object")
)

// Refused says that an act has no approval. Its text is for the model; the cause, which it wraps, is for the operator.
type Refused struct {
	Act   policy.Act
	Cause error
}

// Error is the line that the model reads.
func (r *Refused) Error() string {
	const next = " Do not try it again; go on without it or ask the user."
	switch {
	case errors.Is(r.Cause, ErrRefused):
		return fmt.Sprintf("A person refused %s.%s", r.Act, next)
	case errors.Is(r.Cause, ErrChanged):
		return fmt.Sprintf("The page changed while a person was asked, so nobody approved %s as it is now and it was not done. Read the page before you go on.", r.Act)
	}
	return fmt.Sprintf("Nobody approved %s.%s", r.Act, next)
}

// Unwrap is the cause.
func (r *Refused) Unwrap() error { return r.Cause }

// Grant is the approval of one act.
type Grant struct {
	// By says who gave it.
	By     string
	digest string
	spent  atomic.Bool
}

// Digest is that of the act that was approved.
func (g *Grant) Digest() string { return g.digest }

// Spend takes the grant for an act. It is nil once, for the act that was approved; a try with another act uses the grant up too. Otherwise
// the error is a [*Refused]. A nil grant covers nothing.
func (g *Grant) Spend(act policy.Act) error {
	switch {
	case g == nil:
		return &Refused{act, ErrNobody}
	case g.spent.Swap(true):
		return &Refused{act, ErrSpent}
	case g.digest == "" || g.digest != (Request{Act: act}).Digest():
		return &Refused{act, ErrChanged}
	}
	return nil
}

// Ask puts a request to a person, who has so much time to answer (0: [DefaultLimit]). Its error is a [*Refused]. It returns in time even
// when the approver does not; such an approver's goroutine ends when its Approve does.
func Ask(ctx context.Context, a Approver, r Request, limit time.Duration) (*Grant, error) {
	if a == nil {
		return nil, &Refused{r.Act, ErrNobody}
	}
	if input, valid := canonical(r.Act.Input); !valid || input[0] != '{' && string(input) != "null" {
		return nil, &Refused{r.Act, ErrInput}
	}
	if limit <= 0 {
		limit = DefaultLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrLate)
	defer cancel()

	type outcome struct {
		answer Answer
		err    error
	}
	answered := make(chan outcome, 1)
	go func() {
		answer, err := a.Approve(ctx, r)
		answered <- outcome{answer, err}
	}()
	var got outcome
	select {
	case got = <-answered:
	case <-ctx.Done():
	}
	digest := r.Digest()
	switch {
	case ctx.Err() != nil: // also when an answer came at the same moment
		return nil, &Refused{r.Act, context.Cause(ctx)}
	case got.err != nil:
		return nil, &Refused{r.Act, got.err}
	case !got.answer.Yes:
		return nil, &Refused{r.Act, ErrRefused}
	case got.answer.Digest != digest:
		return nil, &Refused{r.Act, ErrMismatch}
	}
	return &Grant{By: got.answer.By, digest: digest}, nil
}

// newID names one asking; nobody can guess it.
func newID() string { return rand.Text() }
