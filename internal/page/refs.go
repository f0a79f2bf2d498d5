package page

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// Refs hands out the numbers of element references, one sequence for a session, and remembers which document each one
// belongs to (contract §3: numbers are unique per session and never restart).
type Refs struct {
	mu    sync.Mutex
	next  int
	spans []span // ascending and disjoint
}

// span says that the references first to last were given out in a world.
type span struct {
	first, last int
	world       *world
}

// NewRefs starts the numbers of a session at ref_1.
func NewRefs() *Refs { return NewRefsAfter(0) }

// NewRefsAfter starts the numbers of a session behind those that an earlier one gave out.
func NewRefsAfter(last int) *Refs { return &Refs{next: last + 1} }

// begin is the next free number. The session runs one call at a time, so nobody else takes it meanwhile.
func (r *Refs) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// end records that w has given out every number below next.
func (r *Refs) end(w *world, next int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next <= r.next {
		return
	}
	if n := len(r.spans); n > 0 && r.spans[n-1].world == w && r.spans[n-1].last == r.next-1 {
		r.spans[n-1].last = next - 1
	} else {
		r.spans = append(r.spans, span{r.next, next - 1, w})
	}
	r.next = next
}

// worldOf is the world that gave out a reference, nil when nobody did.
func (r *Refs) worldOf(n int) *world {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := sort.Search(len(r.spans), func(i int) bool { return r.spans[i].last >= n })
	if i == len(r.spans) || r.spans[i].first > n {
		return nil
	}
	return r.spans[i].world
}

// parseRef reads "ref_7".
func parseRef(ref string) (int, bool) {
	digits, ok := strings.CutPrefix(ref, "ref_")
	if !ok || digits == "" || digits[0] == '0' || digits[0] == '+' {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0
}

// staleRef is the contract's sentence (§3), word for word.
func staleRef(ref string) error {
	return problemf("%s is stale or not found on the current page. Re-read the page to get fresh references.", shorten(ref, 60))
}

// refWorld finds the document a reference belongs to. A reference of another tab, or of a document that this tab no longer shows, is stale.
func (p *Page) refWorld(ref string) (*world, int, error) {
	n, ok := parseRef(ref)
	if !ok {
		return nil, 0, staleRef(ref)
	}
	w := p.opts.Refs.worldOf(n)
	if w == nil || w.page != p {
		return nil, 0, staleRef(ref)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Only the document counts: one that went into the back/forward cache and came back may have got another world of ours since, in which
	// the same library answers.
	if f := p.frames[w.frame]; f == nil || f.loader != w.loader {
		return nil, 0, staleRef(ref)
	}
	return w, n, nil
}

func refName(n int) string { return fmt.Sprintf("ref_%d", n) }
