// Package policy decides which calls of the browser toolset go on, which a person is asked about, and which are refused
// (contract §8.6). A policy is one YAML file: rules in order, of which the first that matches decides.
//
// Labels and forms come from the page, so a policy that looks at them guards against honest pages and careless models. A hostile page can
// name its button as it likes: what it may do is bounded by hosts, members and the network, not by words.
package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Decision is what becomes of a call. The zero value denies.
type Decision int

// The decisions.
const (
	Deny  Decision = iota // the call is refused
	Ask                   // a person is asked
	Allow                 // the call goes on
)

var decisionNames = []string{"deny", "ask", "allow"}

// String is the decision's name in a policy file; anything unknown denies.
func (d Decision) String() string {
	if d < Deny || d > Allow {
		return decisionNames[Deny]
	}
	return decisionNames[d]
}

// Act is one call of a member with what it would act on.
type Act struct {
	// Member is the member's name, such as left_click.
	Member string `json:"member"`
	// Tab is the id of the tab that the call works in.
	Tab string `json:"tab,omitempty"`
	// URL and Host are those of the document that the call acts in; for a call that goes to a URL, of where it goes. Host is canonical, as
	// package egress has it: lower case, ASCII, no trailing dot, IPv6 without brackets.
	URL  string `json:"url,omitempty"`
	Host string `json:"host,omitempty"`
	// Input is the call's input, a JSON object; absent counts as an empty one.
	Input json.RawMessage `json:"input,omitempty"`
	// Element is the operable element that the call acts on: the target, or what has the focus for keys. At a point where nothing is
	// operable it is the element that is there, of role generic for example. Nil when it is not known, or when the member has none.
	Element *Element `json:"element,omitempty"`
}

// Element is what a call acts on, with the texts as the page has them.
type Element struct {
	// Role and Name are the accessible ones; Text is the rendered text inside.
	Role string `json:"role"`
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Type is the DOM property type of an input, button, select or textarea, such as submit, password or select-one.
	Type string `json:"type,omitempty"`
	// Form is the form that the element belongs to.
	Form *Form `json:"form,omitempty"`
}

// Form is a form of a page.
type Form struct {
	// Action is the absolute URL that the form is sent to, by Method (get, post or dialog).
	Action string `json:"action,omitempty"`
	Method string `json:"method,omitempty"`
	// Fields says what the form asks for: for each field its type, its name and each token of its autocomplete attribute.
	Fields []string `json:"fields,omitempty"`
	// Submit is the label of the button that Enter presses.
	Submit string `json:"submit,omitempty"`
}

// maxName is how many characters of an element's name are quoted.
const maxName = 100

// String names the act in one line: left_click on button "Pay".
func (a Act) String() string {
	member := shorten(visible(a.Member))
	if a.Element == nil {
		return member
	}
	role, name := shorten(visible(a.Element.Role)), shorten(visible(a.Element.Name))
	if role == "" {
		role = "element"
	}
	if name == "" {
		return member + " on " + role
	}
	return member + " on " + role + " " + strconv.Quote(name)
}

// Verdict is a decision with the rule that it comes from.
type Verdict struct {
	Decision Decision
	// Rule and Line are the rule's name and its line in the policy file, 0 for one that the file extends. For a decision that no rule made, Rule is "default", or "input"
	// for an input that is not a JSON object.
	Rule string
	Line int
	// Reason is a clause without a full stop, written by the policy's author.
	Reason string
}

// Refusal is the line that the model reads when the verdict on a is [Deny].
func (v Verdict) Refusal(a Act) string {
	reason := ""
	if v.Reason != "" {
		reason = ": " + v.Reason
	}
	return fmt.Sprintf("The policy does not allow %s%s. Do not try it again; go on without it or tell the user.", a, reason)
}

// Policy is a list of rules. A nil policy allows everything.
type Policy struct {
	rules    []rule
	fallback Decision
	at       int // line of the default
}

// rule matches an act when all of its conditions do.
type rule struct {
	name     string
	line     int
	decision Decision
	reason   string
	checks   []check
	members  []entry
}

// entry is a text in a policy file with its line.
type entry struct {
	text string
	line int
}

// check is one condition of a rule.
type check struct {
	key  string                          // as in the file: element.role
	saw  func(s *subject) []string       // what it looks at, for explanations
	hits func(s *subject) (string, bool) // whether it holds, and by which entry of the file
}

// subject is an act while it is judged.
type subject struct {
	Act
	input any // decoded
	rest  map[clearing]label
}

// clearing is one text without one set of harmless phrases; rules share the work.
type clearing struct {
	text   string
	except *harmless
}

// without is a label without harmless phrases; nil takes nothing out.
func (s *subject) without(l label, except *harmless) label {
	if except == nil {
		return l
	}
	key := clearing{l.plain, except}
	rest, done := s.rest[key]
	if !done {
		rest = l.without(except.phrases)
		s.rest[key] = rest
	}
	return rest
}

func newSubject(a Act) (*subject, bool) {
	s := &subject{Act: a, rest: map[clearing]label{}}
	if len(a.Input) == 0 {
		return s, true
	}
	if json.Unmarshal(a.Input, &s.input) != nil {
		return nil, false
	}
	if s.input == nil {
		return s, true
	}
	_, object := s.input.(map[string]any)
	return s, object
}

const noPolicy = "there is no policy"

var badInput = Verdict{Decision: Deny, Rule: "input", Reason: "its input is not a JSON object"}

// Judge says what becomes of an act.
func (p *Policy) Judge(a Act) Verdict {
	return p.judge(a, nil)
}

// Rule is a rule of a policy. Line is 0 for one of the shipped policy in a file that extends it.
type Rule struct {
	Name     string
	Line     int
	Decision Decision
	Reason   string
}

// Rules lists the rules in the order in which they are tried, and last the default.
func (p *Policy) Rules() []Rule {
	if p == nil {
		return []Rule{{Name: "default", Decision: Allow, Reason: noPolicy}}
	}
	var rules []Rule
	for _, r := range p.rules {
		rules = append(rules, Rule{r.name, r.line, r.decision, r.reason})
	}
	return append(rules, Rule{Name: "default", Line: p.at, Decision: p.fallback})
}

// Step is one rule as [Policy.Explain] tried it.
type Step struct {
	Rule string `json:"rule"`
	Line int    `json:"line,omitempty"`
	// Matched tells that the rule decided; it is the last step.
	Matched bool `json:"matched"`
	// Because says which conditions held, with what stood there and the entry that it matches, or which was the first that did not.
	// Texts of the page in it are quoted, cleaned and bounded.
	Because string `json:"because"`
}

// Explain lists the rules as they were tried on an act, up to the one that decided.
func (p *Policy) Explain(a Act) []Step {
	steps := []Step{}
	p.judge(a, &steps)
	return steps
}

func (p *Policy) judge(a Act, steps *[]Step) Verdict {
	tell := func(v Verdict, matched bool, because string) {
		if steps != nil {
			*steps = append(*steps, Step{v.Rule, v.Line, matched, because})
		}
	}
	if p == nil {
		v := Verdict{Decision: Allow, Rule: "default", Reason: noPolicy}
		tell(v, true, v.Reason)
		return v
	}
	s, ok := newSubject(a)
	if !ok {
		tell(badInput, true, badInput.Reason)
		return badInput
	}
	for _, r := range p.rules {
		v := Verdict{r.decision, r.name, r.line, r.reason}
		failed := slices.IndexFunc(r.checks, func(c check) bool { _, ok := c.hits(s); return !ok })
		switch {
		case failed < 0:
			if steps != nil {
				tell(v, true, r.why(s))
			}
			return v
		case steps != nil:
			tell(v, false, r.checks[failed].key+" is "+r.checks[failed].seen(s))
		}
	}
	v := Verdict{Decision: p.fallback, Rule: "default", Line: p.at}
	tell(v, true, "no rule matched")
	return v
}

// why tells how each condition of a rule that matches is met.
func (r rule) why(s *subject) string {
	if len(r.checks) == 0 {
		return "the rule has no conditions"
	}
	reasons := make([]string, len(r.checks))
	for i, c := range r.checks {
		entry, _ := c.hits(s)
		reasons[i] = c.key + " is " + c.seen(s) + ", which matches " + entry
	}
	return strings.Join(reasons, "; ")
}

// seen is what a condition looks at, in a line: at most ten texts, each cut.
func (c check) seen(s *subject) string {
	const most = 10
	var quoted []string
	for _, text := range c.saw(s) {
		if text = shorten(visible(text)); text == "" {
			continue
		}
		if len(quoted) == most {
			quoted = append(quoted, "…")
			break
		}
		quoted = append(quoted, strconv.Quote(text))
	}
	if len(quoted) == 0 {
		return "empty"
	}
	return strings.Join(quoted, ", ")
}

// shorten folds white space and keeps the first maxName characters of a visible text.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > maxName {
		return string(runes[:maxName-1]) + "…"
	}
	return s
}

// CheckMembers reports the first member that a rule names and that is not among the known ones. Such a rule would never match, which
// matters when it denies.
func (p *Policy) CheckMembers(known []string) error {
	if p == nil {
		return nil
	}
	for _, r := range p.rules {
		for _, m := range r.members {
			if !slices.Contains(known, m.text) {
				return fmt.Errorf("line %d: there is no member %q", m.line, m.text)
			}
		}
	}
	return nil
}
