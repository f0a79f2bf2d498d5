package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

const example = `# an example
default: deny
words:
  risky:
    en: [wipe]
    de: [plätten]
rules:
  - name: no scripts
    members: javascript_exec
    decision: deny
    reason: scripts are off here
  - members: [left_click, key]
    hosts: ["*.shop.example", bücher.example, 10.0.0.7]
    element:
      role: button
      label: [$risky, /^kill +all/]
    except: wipe the slate
    decision: ask
  - name: card forms
    form: {method: post, fields: card, action: /checkout\/\d+/}
    decision: ask
  - name: docs
    members: navigate
    input: {url: '/^https:\/\/docs\.example\//'}
    decision: allow
  - name: far right
    input: {target.x: /^9\d\d$/}
    decision: allow
  - name: files
    members: file_upload
    input: {paths: /\.pem$/}
    decision: deny
  - name: enter
    keys: [Enter]
    decision: ask
  - name: the rest of the shop
    hosts: shop.example
    decision: allow
`

func parsed(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJudge(t *testing.T) {
	p := parsed(t, example)
	button := func(name string) *Element { return &Element{Role: "button", Name: name} }
	in := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := map[string]struct {
		act  Act
		want Decision
		rule string
	}{
		"first rule wins":         {Act{Member: "javascript_exec", Host: "shop.example"}, Deny, "no scripts"},
		"subdomain":               {Act{Member: "left_click", Host: "a.b.shop.example", Element: button("WIPE disk")}, Ask, "rule 2"},
		"accents and case":        {Act{Member: "left_click", Host: "www.shop.example", Element: button("PLATTEN")}, Ask, "rule 2"},
		"not itself":              {Act{Member: "left_click", Host: "shop.example", Element: button("Wipe")}, Allow, "the rest of the shop"},
		"look-alike host":         {Act{Member: "left_click", Host: "evilshop.example", Element: button("Wipe")}, Deny, "default"},
		"idna":                    {Act{Member: "left_click", Host: "xn--bcher-kva.example", Element: button("Kill  all")}, Ask, "rule 2"},
		"address":                 {Act{Member: "left_click", Host: "10.0.0.7", Element: button("wipe")}, Ask, "rule 2"},
		"inside of a word":        {Act{Member: "left_click", Host: "www.shop.example", Element: button("Wiped")}, Deny, "default"},
		"harmless":                {Act{Member: "left_click", Host: "www.shop.example", Element: button("Wipe the slate")}, Deny, "default"},
		"harmless and not":        {Act{Member: "left_click", Host: "www.shop.example", Element: button("Wipe the slate, wipe the disk")}, Ask, "rule 2"},
		"other role":              {Act{Member: "left_click", Host: "www.shop.example", Element: &Element{Role: "link", Name: "Wipe"}}, Deny, "default"},
		"no element":              {Act{Member: "left_click", Host: "www.shop.example"}, Deny, "default"},
		"form":                    {Act{Member: "left_click", Element: &Element{Form: &Form{Method: "POST", Action: "https://x.example/checkout/12", Fields: []string{"text", "cardNumber"}}}}, Ask, "card forms"},
		"form lacks a field":      {Act{Member: "left_click", Element: &Element{Form: &Form{Method: "post", Action: "https://x.example/checkout/12", Fields: []string{"discard"}}}}, Deny, "default"},
		"input":                   {Act{Member: "navigate", Input: in(`{"url":"https://docs.example/a"}`)}, Allow, "docs"},
		"input does not match":    {Act{Member: "navigate", Input: in(`{"url":"https://docs.example.evil/"}`)}, Deny, "default"},
		"input of another type":   {Act{Member: "navigate", Input: in(`{"url":{"a":"https://docs.example/"}}`)}, Deny, "default"},
		"number inside":           {Act{Member: "hover", Input: in(`{"target":{"x":912,"y":1}}`)}, Allow, "far right"},
		"list":                    {Act{Member: "file_upload", Input: in(`{"paths":["a.txt","key.pem"]}`)}, Deny, "files"},
		"input is no object":      {Act{Member: "navigate", Host: "shop.example", Input: in(`"x"`)}, Deny, "input"},
		"input is not JSON":       {Act{Member: "navigate", Host: "shop.example", Input: in(`{`)}, Deny, "input"},
		"null input":              {Act{Member: "navigate", Host: "shop.example", Input: in(`null`)}, Allow, "the rest of the shop"},
		"key":                     {Act{Member: "key", Input: in(`{"text":"a ctrl+Return"}`)}, Ask, "enter"},
		"key as a character":      {Act{Member: "key", Input: in(`{"text":"\n"}`)}, Ask, "enter"},
		"key that only looks so":  {Act{Member: "type", Host: "shop.example", Input: in(`{"text":"Enter"}`)}, Allow, "the rest of the shop"},
		"nothing matches: denied": {Act{}, Deny, "default"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := p.Judge(test.act)
			if v.Decision != test.want || v.Rule != test.rule {
				t.Errorf("%s by %q, want %s by %q\n%+v", v.Decision, v.Rule, test.want, test.rule, p.Explain(test.act))
			}
			steps := p.Explain(test.act)
			if last := steps[len(steps)-1]; !last.Matched || last.Rule != v.Rule || last.Line != v.Line {
				t.Errorf("explained as %+v, judged by %q on line %d", last, v.Rule, v.Line)
			}
		})
	}
}

func TestNilPolicyAllows(t *testing.T) {
	var p *Policy
	if v := p.Judge(Act{Member: "javascript_exec"}); v.Decision != Allow {
		t.Errorf("%+v", v)
	}
	if err := p.CheckMembers(nil); err != nil || len(p.Explain(Act{})) != 1 {
		t.Error(err)
	}
}

func TestZeroValuesDeny(t *testing.T) {
	if (Verdict{}).Decision != Deny || new(Policy).Judge(Act{}).Decision != Deny || Decision(7).String() != "deny" {
		t.Error("a zero value or an unknown decision does not deny")
	}
}

func TestExplain(t *testing.T) {
	p := parsed(t, example)
	steps := p.Explain(Act{Member: "left_click", Host: "www.shop.example", Element: &Element{Role: "link", Name: "Wipe"}})
	if steps[1] != (Step{"rule 2", 12, false, `element.role is "link"`}) {
		t.Errorf("%+v", steps[1])
	}
	if last := steps[len(steps)-1]; last != (Step{"default", 2, true, "no rule matched"}) {
		t.Errorf("%+v", last)
	}
	tests := map[string]Act{
		`members is "left_click", which matches left_click; hosts is "a.shop.example", which matches *.shop.example; element.role is "button", which matches "button"; element.label is "Wipe it", which matches "wipe" of $risky`: {
			Member: "left_click", Host: "a.shop.example", Element: &Element{Role: "button", Name: "Wi\u200bpe\n it"}},
		`form.method is "POST", which matches "post"; form.fields is "text", "cardNumber", which matches "card"; form.action is "https://x.example/checkout/12", which matches /checkout\/\d+/`: {
			Member: "left_click", Element: &Element{Form: &Form{Method: "POST", Action: "https://x.example/checkout/12", Fields: []string{"text", "cardNumber"}}}},
		`members is "navigate", which matches navigate; input.url is "https://docs.example/a", which matches /^https:\/\/docs\.example\//`: {Member: "navigate", Input: json.RawMessage(`{"url":"https://docs.example/a"}`)},
		`keys is "a", "enter", which matches enter`: {Member: "key", Input: json.RawMessage(`{"text":"a Enter"}`)},
	}
	for want, act := range tests {
		steps := p.Explain(act)
		if got := steps[len(steps)-1].Because; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestExtends: the rules of a file come before those of the shipped policy, whose lists it can use.
func TestExtends(t *testing.T) {
	p := parsed(t, `extends: default
words:
  sending: [beam]
rules:
  - name: own shop
    hosts: shop.example
    element: {label: $buying}
    decision: allow
  - name: beams
    element: {label: $sending}
    decision: deny
`)
	for name, test := range map[string]struct {
		act  Act
		want Verdict
	}{
		"own rule":        {Act{Member: "left_click", Host: "shop.example", Element: &Element{Name: "Pay"}}, Verdict{Decision: Allow, Rule: "own shop", Line: 5}},
		"own list":        {Act{Member: "left_click", Element: &Element{Name: "Beam me up"}}, Verdict{Decision: Deny, Rule: "beams", Line: 9}},
		"shipped rule":    {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Send"}}, Verdict{Decision: Ask, Rule: "sending", Reason: "it looks like sending"}},
		"shipped default": {Act{Member: "read_page"}, Verdict{Decision: Allow, Rule: "default"}},
	} {
		if got := p.Judge(test.act); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
	if v := parsed(t, "extends: default\ndefault: deny").Judge(Act{Member: "read_page"}); v.Decision != Deny || v.Line != 2 {
		t.Errorf("a default of its own: %+v", v)
	}
	if v := Default().Judge(Act{Member: "left_click", Element: &Element{Role: "button", Name: "Send"}}); v.Line == 0 || v.Decision != Ask {
		t.Errorf("the shipped policy was changed: %+v", v)
	}
}

func TestCheckMembers(t *testing.T) {
	p := parsed(t, "default: allow\nrules:\n  - members:\n      - left_click\n      - left_clik\n    decision: deny\n")
	err := p.CheckMembers([]string{"left_click"})
	if err == nil || err.Error() != `line 5: there is no member "left_clik"` {
		t.Error(err)
	}
}

func TestTexts(t *testing.T) {
	a := Act{Member: "left_click", Element: &Element{Role: "button", Name: "Pay\u202e\n now"}}
	if got := a.String(); got != `left_click on button "Pay now"` {
		t.Error(got)
	}
	v := Verdict{Reason: "scripts are off here"}
	want := `The policy does not allow javascript_exec: scripts are off here. Do not try it again; go on without it or tell the user.`
	if got := v.Refusal(Act{Member: "javascript_exec"}); got != want {
		t.Error(got)
	}
	if long := (Act{Element: &Element{Name: strings.Repeat("x", 1<<20)}}).String(); len(long) > 200 {
		t.Errorf("%d bytes", len(long))
	}
}

func TestParseErrors(t *testing.T) {
	const head = "default: allow\nrules:\n"
	tests := map[string]struct{ file, want string }{
		"empty":              {"# nothing\n", "the policy is empty"},
		"no default":         {"rules: [{decision: ask}]", "line 1: default is missing"},
		"default":            {"\ndefault: maybe", "line 2: default must be allow, ask or deny"},
		"unknown key":        {"default: allow\nrule: []", "line 2: rule is not expected here"},
		"not a mapping":      {"- a", "line 1: a mapping is expected"},
		"two documents":      {"default: allow\n---\ndefault: deny", "a policy is one document"},
		"syntax":             {"default: allow\nrules: [", "line 2: "},
		"key twice":          {"default: allow\ndefault: deny", "line 2: "},
		"no rules":           {"default: allow\nrules: []", "line 2: rules must be a list that is not empty"},
		"no decision":        {head + "  - name: a", "line 3: decision is missing"},
		"decision":           {head + "  - decision: 1", "line 3: decision must be"},
		"unknown condition":  {head + "  - decision: ask\n    host: a", "line 4: host is not expected here"},
		"members":            {head + "  - decision: ask\n    members: []", "line 4: members must be a text or a list of texts"},
		"a number":           {head + "  - decision: ask\n    members: [3]", "line 4: members holds something that is not a text"},
		"host with a scheme": {head + "  - decision: ask\n    hosts:\n      - a.example\n      - https://b.example", "line 6: "},
		"host with a star":   {head + "  - decision: ask\n    hosts: a.*.example", "line 4: "},
		"element":            {head + "  - decision: ask\n    element: button", "line 4: a mapping is expected"},
		"part of an element": {head + "  - decision: ask\n    element:\n      roles: a", "line 5: roles is not expected here"},
		"regex":              {head + "  - decision: ask\n    element:\n      name: /(/", "line 5: error parsing regexp"},
		"no word":            {head + "  - decision: ask\n    element:\n      name: '→'", "line 5: \"→\" has no letter"},
		"list of words":      {head + "  - decision: ask\n    element:\n      name: $nix", "line 5: there is no list nix"},
		"input":              {head + "  - decision: ask\n    input:\n      url: abc", "line 5: what an input matches is a regular expression"},
		"key that is none":   {head + "  - decision: ask\n    keys: Entr", "line 4: \"Entr\" is not the name of one key"},
		"key after a move":   {head + "  - decision: ask\n    keys: Tab-a", "line 4: \"Tab-a\" is not the name of one key"},
		"extends":            {"extends: other.yaml", "line 1: extends must be \"default\""},
		"extends twice":      {"extends: default\nrules:\n  - {name: buying, decision: ask}", "line 3: the policy that is extended has the name \"buying\" already"},
		"keys":               {head + "  - decision: ask\n    keys: ctrl+Enter", "line 4: \"ctrl+Enter\" is not the name of one key"},
		"same name":          {head + "  - name: a\n    decision: ask\n  - name: a\n    decision: ask", "line 5: the rule on line 3"},
		"reason":             {head + "  - decision: ask\n    reason: |\n      a\n      b", "reason must be one line"},
		"null":               {head + "  - decision: ask\n    hosts:", "line 4: hosts must be"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// FuzzPolicy: no file and no act makes it fail, and an explanation ends with the verdict.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte(example), "left_click", `{"url":"https://docs.example/"}`, "Wipe")
	f.Add([]byte("default: ask"), "key", `{"text":"Enter"}`, "支払う")
	f.Add([]byte("extends: default\nrules:\n  - {keys: Tab-Enter, decision: deny}"), "key", `{"text":"Tab Enter","repeat":3}`, "")
	f.Fuzz(func(t *testing.T, file []byte, member, input, name string) {
		act := Act{Member: member, Input: json.RawMessage(input), Element: &Element{Role: "button", Name: name, Form: &Form{Action: name, Fields: []string{name}}}}
		policies := []*Policy{Default()}
		if p, err := Parse(file); err == nil {
			policies = append(policies, p)
		}
		for _, p := range policies {
			v, steps := p.Judge(act), p.Explain(act)
			if last := steps[len(steps)-1]; last.Rule != v.Rule || !last.Matched {
				t.Errorf("judged by %q, explained by %+v", v.Rule, last)
			}
		}
		if strings.ContainsAny(act.String(), "\n\r\x1b") {
			t.Errorf("%q is not one line", act.String())
		}
	})
}
