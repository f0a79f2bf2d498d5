package approval

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxPending is how many questions may wait at once.
const maxPending = 100

// Errors of a [Queue].
var (
	ErrUnknown = errors.New("no such question is waiting; it was answered, it expired, or it never was")
	ErrFull    = errors.New("too many questions are waiting")
)

// Pending is a question that waits in a [Queue].
type Pending struct {
	// ID names this asking. It is needed to answer and cannot be guessed.
	ID    string    `json:"id"`
	Asked time.Time `json:"asked"`
	// Expires is when it becomes a no; zero when the asker set no time.
	Expires time.Time `json:"expires,omitzero"`
	View    View      `json:"request"`

	number int
	answer chan Answer
}

// Queue keeps questions until somebody answers by their id, through an HTTP API for example. The zero value is ready.
type Queue struct {
	mu      sync.Mutex
	asked   int
	pending map[string]*Pending
}

// Approve waits for the answer until ctx ends.
func (q *Queue) Approve(ctx context.Context, r Request) (Answer, error) {
	p := &Pending{ID: newID(), Asked: time.Now(), View: r.View(), answer: make(chan Answer, 1)}
	if deadline, ok := ctx.Deadline(); ok {
		p.Expires = deadline
	}
	if err := q.add(p); err != nil {
		return Answer{}, err
	}
	defer q.take(p.ID)
	select {
	case answer := <-p.answer:
		return answer, nil
	case <-ctx.Done():
		return Answer{}, context.Cause(ctx)
	}
}

func (q *Queue) add(p *Pending) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) >= maxPending {
		return ErrFull
	}
	if q.pending == nil {
		q.pending = map[string]*Pending{}
	}
	q.asked++
	p.number = q.asked
	q.pending[p.ID] = p
	return nil
}

// take removes a question, so that it is answered once at most.
func (q *Queue) take(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.pending, id)
}

// Pending lists the questions that wait, the oldest first.
func (q *Queue) Pending() []Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]Pending, 0, len(q.pending))
	for _, p := range q.pending {
		shown := *p
		shown.answer = nil
		list = append(list, shown)
	}
	slices.SortFunc(list, func(a, b Pending) int { return cmp.Compare(a.number, b.number) })
	return list
}

// Answer answers a question that waits, once. The digest is the one that was shown with it: with another one the question goes on
// waiting and the error is [ErrMismatch]; with an id that waits no more it is [ErrUnknown].
func (q *Queue) Answer(id, digest string, yes bool, by string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.pending[id]
	if !ok {
		return ErrUnknown
	}
	if subtle.ConstantTimeCompare([]byte(p.View.Digest), []byte(digest)) != 1 {
		return ErrMismatch
	}
	delete(q.pending, id)
	p.answer <- Answer{Yes: yes, Digest: digest, By: by}
	return nil
}
