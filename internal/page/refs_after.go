package page

// NewRefsAfter starts the numbers of a session behind those that an earlier one gave out.
func NewRefsAfter(last int) *Refs { return &Refs{next: last + 1} }
