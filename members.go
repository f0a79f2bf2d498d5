package pagehand

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pagehand/pagehand/contract"
)

// Member is one of the toolset's tools, such as left_click.
type Member struct {
	// Name is the member's name on the wire.
	Name string
	// Doc says in one sentence what it does.
	Doc string
	// Off tells that it does nothing until the toolset entry enables it (contract §2).
	Off bool
	// TabManagement tells that a successful result is exactly one browser_state block (contract §4).
	TabManagement bool

	input any // the zero value of its input type
	run   func(ctx context.Context, s *Session, input any) (output, error)
}

// members lists the whole toolset in the contract's order (§4). Everything that needs to know members reads it; a row stands
// beside its input type and handler, in the file of its family.
var members = slices.Concat(
	navigationMembers,
	captureMembers,
	mouseMembers,
	keyboardMembers,
	readMembers,
	formMembers,
	fileMembers,
	logMembers,
	scriptMembers,
	tabMembers,
)

// Members lists the toolset's 31 members.
func Members() []Member { return slices.Clone(members) }

func memberNamed(name string) (Member, bool) {
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return members[i], true
}

// output is what a handler has to say: a text, a picture, or for tab management nothing, since the tabs speak for themselves.
type output struct {
	text  string
	image []byte // PNG
}

func say(text string) (output, error) { return output{text: text}, nil }

// onTab makes the row of a member that works in one tab. In embeds [tabInput].
func onTab[In any](name, doc string, handler func(ctx context.Context, t *tab, in In) (output, error)) Member {
	return Member{Name: name, Doc: doc, input: *new(In), run: func(ctx context.Context, s *Session, input any) (output, error) {
		t, err := s.tab(input.(tabChooser).chosenTab())
		if err == nil {
			err = s.bringToFront(ctx, t)
		}
		if err != nil {
			return output{}, err
		}
		return handler(ctx, t, input.(In))
	}}
}

// onSession makes the row of a tab-management member.
func onSession[In any](name, doc string, handler func(ctx context.Context, s *Session, in In) error) Member {
	return Member{Name: name, Doc: doc, TabManagement: true, input: *new(In), run: func(ctx context.Context, s *Session, input any) (output, error) {
		return output{}, handler(ctx, s, input.(In))
	}}
}

// off marks a row as off by default.
func off(m Member) Member {
	m.Off = true
	return m
}

// tabInput is the part that every member working in a tab takes.
type tabInput struct {
	TabID string `json:"tab_id" doc:"The tab to work in. Left out: the active tab."`
}

func (in tabInput) chosenTab() string { return in.TabID }

type tabChooser interface{ chosenTab() string }

// taker is an input whose call takes a time of its own, which is added to the call's deadline.
type taker interface{ takes() time.Duration }

// decode reads and checks a member's input (contract §3 and §4).
func (m Member) decode(raw json.RawMessage) (any, error) { return decodeInput(m.Name, raw, m.input) }

// CheckInput reads the input of a call of the named member as [Session.Do] does first, and says what is wrong with it (contract §3 and
// §4): nil when the call would go on to a page. What depends on the session, such as whether a coordinate is in the viewport, is not
// checked here.
func CheckInput(name string, input json.RawMessage) error {
	m, known := memberNamed(name)
	if !known {
		return unknownMember(name)
	}
	_, err := m.decode(input)
	return err
}

func unknownMember(name string) error {
	return toolErrorf("Unknown or unimplemented member: %s", contract.CleanField(shorten(name, 100)))
}
