package policy

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pagehand/pagehand/egress"
)

//go:embed default.yaml
var defaultFile []byte

// DefaultFile is the policy that [Default] returns, as a file with comments.
func DefaultFile() []byte { return slices.Clone(defaultFile) }

// Default is the shipped policy. It asks before javascript_exec, file_upload, and clicks and submits that look like buying, paying,
// deleting, sending, publishing, accepting terms or changing an account, in sixteen languages; everything else is allowed.
func Default() *Policy { return shipped().policy }

// file is a policy with the word lists of its file.
type file struct {
	policy *Policy
	lists  map[string][]pattern
}

var shipped = sync.OnceValue(func() file {
	f, err := parse(defaultFile, nil)
	if err != nil {
		panic("policy: the shipped file: " + err.Error()) // a test parses it
	}
	return f
})

// maxFile is how large a policy file may be, in bytes.
const maxFile = 1 << 20

// Parse reads a policy file. It is strict: a key that does not exist, a value of the wrong type, an empty list, a pattern that can never
// match are errors that name the line. [DefaultFile] documents the format. Errors are one line, for the operator.
func Parse(data []byte) (*Policy, error) {
	f, err := parse(data, shipped)
	return f.policy, err
}

// parse reads a file that may extend the base.
func parse(data []byte, base func() file) (file, error) {
	if len(data) > maxFile {
		return file{}, fmt.Errorf("the policy is larger than %d bytes", maxFile)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) {
			return file{}, fmt.Errorf("line %d: %s", at.GetToken().Position.Line, at.GetMessage())
		}
		return file{}, err
	}
	if len(tree.Docs) > 1 {
		return file{}, fmt.Errorf("line %d: a policy is one document", tree.Docs[1].Start.Position.Line)
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil || tree.Docs[0].Body.Type() == ast.CommentType {
		return file{}, errors.New(`the policy is empty; it needs at least "default: allow"`)
	}
	r := reader{lists: map[string][]pattern{}, names: map[string]int{}, excepts: map[string]*harmless{}}
	p, err := r.policy(tree.Docs[0].Body, base)
	return file{p, r.lists}, err
}

// reader turns a file's nodes into rules.
type reader struct {
	lists map[string][]pattern
	names map[string]int // of rules, with their lines; 0 for those of the policy that is extended
	// excepts are the phrases of each wording of except, so that rules with the same share them.
	excepts map[string]*harmless
}

// harmless is a set of phrases that are taken out of labels.
type harmless struct{ phrases []pattern }

func (r *reader) harmless(f fields) (*harmless, error) {
	phrases, err := r.patterns(f, "except")
	if err != nil {
		return nil, err
	}
	inOrder(phrases)
	sources := make([]string, len(phrases))
	for i, p := range phrases {
		sources[i] = p.source
	}
	key := strings.Join(sources, "\n")
	if r.excepts[key] == nil {
		r.excepts[key] = &harmless{phrases}
	}
	return r.excepts[key], nil
}

func (r *reader) policy(n ast.Node, base func() file) (*Policy, error) {
	f, err := fieldsOf(n, "default", "extends", "words", "rules")
	if err != nil {
		return nil, err
	}
	p := &Policy{at: f.lines["default"]}
	var inherited []rule
	if f.has("extends") {
		name, err := f.text("extends")
		if err != nil || name != "default" || base == nil {
			return nil, f.fail("extends", `"default", the shipped policy`)
		}
		extended := base()
		inherited, p.fallback = extended.policy.extended(), extended.policy.fallback
		maps.Copy(r.lists, extended.lists)
		for _, rule := range inherited {
			r.names[rule.name] = rule.line
		}
	}
	if f.has("default") || !f.has("extends") {
		if p.fallback, err = f.decision("default"); err != nil {
			return nil, err
		}
	}
	if f.has("words") {
		if err := r.words(f.nodes["words"]); err != nil {
			return nil, err
		}
	}
	if f.has("rules") {
		list, err := f.list("rules")
		if err != nil {
			return nil, err
		}
		for i, n := range list {
			rule, err := r.rule(n, i+1)
			if err != nil {
				return nil, err
			}
			p.rules = append(p.rules, rule)
		}
	}
	p.rules = append(p.rules, inherited...)
	return p, nil
}

// extended are the rules as another file has them, which they have no line in.
func (p *Policy) extended() []rule {
	rules := slices.Clone(p.rules)
	for i := range rules {
		rules[i].line = 0
	}
	return rules
}

// words reads the named lists. Each is a list of phrases, or a mapping of such lists, by language for example.
func (r *reader) words(n ast.Node) error {
	f, err := fieldsOf(n)
	if err != nil {
		return err
	}
	for _, name := range f.order {
		groups := fields{nodes: map[string]ast.Node{name: f.nodes[name]}, lines: f.lines, order: []string{name}}
		if _, mapping := f.nodes[name].(ast.MapNode); mapping {
			if groups, err = fieldsOf(f.nodes[name]); err != nil {
				return err
			}
		}
		var list []pattern
		for _, group := range groups.order {
			patterns, err := r.patterns(groups, group)
			if err != nil {
				return err
			}
			list = append(list, patterns...)
		}
		r.lists[name] = named(name, list)
	}
	return nil
}

func (r *reader) rule(n ast.Node, number int) (rule, error) {
	f, err := fieldsOf(n, "name", "members", "hosts", "keys", "element", "form", "input", "except", "decision", "reason")
	if err != nil {
		return rule{}, err
	}
	made := rule{name: fmt.Sprintf("rule %d", number), line: f.at}
	if made.decision, err = f.decision("decision"); err != nil {
		return rule{}, err
	}
	if f.has("name") {
		if made.name, err = f.text("name"); err != nil {
			return rule{}, err
		}
	}
	if f.has("reason") {
		if made.reason, err = f.text("reason"); err != nil {
			return rule{}, err
		}
	}
	if strings.ContainsFunc(made.reason, unicode.IsControl) {
		return rule{}, f.fail("reason", "one line")
	}
	if line, taken := r.names[made.name]; taken {
		where := "the policy that is extended"
		if line > 0 {
			where = fmt.Sprintf("the rule on line %d", line)
		}
		return rule{}, fmt.Errorf("line %d: %s has the name %q already", f.at, where, made.name)
	}
	r.names[made.name] = f.at

	var except *harmless
	if f.has("except") {
		if except, err = r.harmless(f); err != nil {
			return rule{}, err
		}
	}
	parts := []struct {
		key  string
		read func(f fields) ([]check, error)
	}{
		{"members", func(f fields) ([]check, error) { return made.readMembers(f) }},
		{"hosts", readHosts},
		{"keys", readKeys},
		{"element", func(f fields) ([]check, error) { return r.labels(f, "element", elementLabels, except) }},
		{"form", func(f fields) ([]check, error) { return r.labels(f, "form", formLabels, except) }},
		{"input", readInput},
	}
	for _, part := range parts {
		if !f.has(part.key) {
			continue
		}
		checks, err := part.read(f)
		if err != nil {
			return rule{}, err
		}
		made.checks = append(made.checks, checks...)
	}
	return made, nil
}

func (made *rule) readMembers(f fields) ([]check, error) {
	texts, err := f.texts("members")
	if err != nil {
		return nil, err
	}
	made.members = texts
	return []check{{"members", func(s *subject) []string { return []string{s.Member} }, func(s *subject) (string, bool) {
		return s.Member, slices.ContainsFunc(texts, func(m entry) bool { return m.text == s.Member })
	}}}, nil
}

func readHosts(f fields) ([]check, error) {
	texts, err := f.texts("hosts")
	if err != nil {
		return nil, err
	}
	var hosts []egress.Pattern
	for _, t := range texts {
		host, err := egress.ParsePattern(t.text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is no host; hosts look like example.com, *.example.com or an IP address, without scheme, port and path", t.line, t.text)
		}
		hosts = append(hosts, host)
	}
	return []check{{"hosts", func(s *subject) []string { return []string{s.Host} }, func(s *subject) (string, bool) {
		host := strings.ToLower(strings.TrimSuffix(s.Host, "."))
		for _, h := range hosts {
			if h.Covers(host) {
				return h.String(), true
			}
		}
		return "", false
	}}}, nil
}

// elementLabels and formLabels are what can be asked about an element and its form. None of the functions is called for what is not there.
var (
	elementLabels = map[string]func(e *Element) []label{
		"role":  func(e *Element) []label { return []label{newLabel(e.Role)} },
		"type":  func(e *Element) []label { return []label{newLabel(e.Type)} },
		"name":  func(e *Element) []label { return []label{newLabel(e.Name)} },
		"text":  func(e *Element) []label { return []label{newLabel(e.Text)} },
		"label": actLabels,
	}
	formLabels = map[string]func(e *Element) []label{
		"action": func(e *Element) []label { return []label{actionLabel(e.Form.Action)} },
		"method": func(e *Element) []label { return []label{newLabel(e.Form.Method)} },
		"fields": func(e *Element) []label { return identifierLabels(e.Form.Fields) },
		"submit": func(e *Element) []label { return []label{newLabel(e.Form.Submit)} },
	}
)

// controls are the roles whose whole label says what they do, however long it is.
var controls = []string{"button", "checkbox", "switch", "radio", "menuitem", "menuitemcheckbox", "menuitemradio", "option"}

// maxSaying is how many characters a link or another element may have to say what it does: more are a headline or a paragraph.
const maxSaying = 40

// actLabels are the texts of an element that say what it does.
func actLabels(e *Element) []label {
	var labels []label
	for _, text := range []string{e.Name, e.Text} {
		l := newLabel(text)
		if slices.Contains(controls, e.Role) || utf8.RuneCountInString(strings.TrimSpace(l.plain)) <= maxSaying {
			labels = append(labels, l)
		}
	}
	return labels
}

// shownTexts are the labels that people read. Only of them phrases are taken out.
var shownTexts = []string{"name", "text", "label", "submit"}

// actionLabel has the words of a form's address without those of its host; a regular expression sees the whole address.
func actionLabel(action string) label {
	words := action
	if u, err := url.Parse(action); err == nil {
		query, err := url.QueryUnescape(u.RawQuery)
		if err != nil {
			query = u.RawQuery
		}
		words = u.Path + " " + query
	}
	l := newLabel(camel.ReplaceAllString(words, "$1 $2"))
	l.plain = visible(action)
	return l
}

// camel finds the borders of words in cardNumber.
var camel = regexp.MustCompile(`([\p{Ll}\d])(\p{Lu})`)

func identifierLabels(names []string) []label {
	labels := make([]label, len(names))
	for i, name := range names {
		labels[i] = newLabel(camel.ReplaceAllString(name, "$1 $2"))
		labels[i].plain = visible(name)
	}
	return labels
}

// labels reads the conditions about an element or its form.
func (r *reader) labels(f fields, key string, known map[string]func(e *Element) []label, except *harmless) ([]check, error) {
	ofForm := key == "form"
	if n, ok := f.nodes[key].(*ast.StringNode); ok && n.Value == "none" {
		absent := func(s *subject) bool { return s.Element == nil || ofForm && s.Element.Form == nil }
		return []check{{key, func(s *subject) []string {
			if absent(s) {
				return nil
			}
			return []string{"there"}
		}, func(s *subject) (string, bool) { return "none", absent(s) }}}, nil
	}
	in, err := fieldsOf(f.nodes[key], slices.Sorted(maps.Keys(known))...)
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, part := range in.order {
		patterns, err := r.patterns(in, part)
		if err != nil {
			return nil, err
		}
		taken := except
		if !slices.Contains(shownTexts, part) {
			taken = nil
		}
		texts := func(s *subject) []label {
			if s.Element == nil || ofForm && s.Element.Form == nil {
				return nil
			}
			return known[part](s.Element)
		}
		checks = append(checks, check{key + "." + part, func(s *subject) []string {
			var seen []string
			for _, l := range texts(s) {
				seen = append(seen, l.plain)
			}
			return seen
		}, func(s *subject) (string, bool) {
			for _, l := range texts(s) {
				if p, ok := firstMatch(patterns, s.without(l, taken)); ok {
					return p.source, true
				}
			}
			return "", false
		}})
	}
	return checks, nil
}

// readInput reads the conditions about the input: for each path, such as url or target.x, what the value there matches.
func readInput(f fields) ([]check, error) {
	in, err := fieldsOf(f.nodes["input"])
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, path := range in.order {
		texts, err := in.texts(path)
		if err != nil {
			return nil, err
		}
		var patterns []*regexp.Regexp
		for _, t := range texts {
			regex, isRegex, err := regexOf(t)
			if err == nil && !isRegex {
				err = fmt.Errorf("line %d: what an input matches is a regular expression between slashes, such as /^https:/", t.line)
			}
			if err != nil {
				return nil, err
			}
			patterns = append(patterns, regex)
		}
		steps := strings.Split(path, ".")
		checks = append(checks, check{"input." + path, func(s *subject) []string {
			return textsAt(s.input, steps)
		}, func(s *subject) (string, bool) {
			for _, text := range textsAt(s.input, steps) {
				if i := slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) }); i >= 0 {
					return texts[i].text, true
				}
			}
			return "", false
		}})
	}
	return checks, nil
}

// textsAt are the texts at a path in an input; of a list, those of each entry. Numbers and truth values are taken as JSON writes them.
func textsAt(value any, path []string) []string {
	if list, ok := value.([]any); ok {
		var texts []string
		for _, v := range list {
			texts = append(texts, textsAt(v, path)...)
		}
		return texts
	}
	if len(path) > 0 {
		object, _ := value.(map[string]any)
		return textsAt(object[path[0]], path[1:])
	}
	switch v := value.(type) {
	case string:
		return []string{v}
	case float64, bool:
		if text, err := json.Marshal(v); err == nil {
			return []string{string(text)}
		}
	}
	return nil
}

// patterns reads phrases, regular expressions and names of word lists.
func (r *reader) patterns(f fields, key string) ([]pattern, error) {
	texts, err := f.texts(key)
	if err != nil {
		return nil, err
	}
	var patterns []pattern
	for _, t := range texts {
		if name, isList := strings.CutPrefix(t.text, "$"); isList {
			list, ok := r.lists[name]
			if !ok {
				return nil, fmt.Errorf("line %d: there is no list %s among the words above", t.line, name)
			}
			patterns = append(patterns, list...)
			continue
		}
		regex, isRegex, err := regexOf(t)
		if err != nil {
			return nil, err
		}
		if isRegex {
			patterns = append(patterns, pattern{source: t.text, regex: regex})
			continue
		}
		phrase, ok := newPhrase(t.text)
		if !ok {
			return nil, fmt.Errorf("line %d: %q has no letter and no digit, so it can never match", t.line, t.text)
		}
		patterns = append(patterns, phrase)
	}
	return patterns, nil
}

// regexOf reads a regular expression between slashes. Case does not matter to it.
func regexOf(t entry) (*regexp.Regexp, bool, error) {
	if len(t.text) < 2 || t.text[0] != '/' || t.text[len(t.text)-1] != '/' {
		return nil, false, nil
	}
	regex, err := regexp.Compile("(?i)" + t.text[1:len(t.text)-1])
	if err != nil {
		return nil, true, fmt.Errorf("line %d: %w", t.line, err)
	}
	return regex, true, nil
}
