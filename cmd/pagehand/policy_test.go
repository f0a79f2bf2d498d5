package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pagehand/pagehand/policy"
)

// TestPolicy says what the commands print and how they end.
func TestPolicy(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	own := write("own.yaml", "\ufeffextends: default\nrules:\n  - name: no shop\n    hosts: shop.example\n    decision: deny\n    reason: nothing is bought here\n")
	misspelt := write("misspelt.yaml", "default: allow\nrules:\n  - members: left_clik\n    decision: deny\n")
	unknown := write("unknown.yaml", "default: allow\nrules:\n  - member: left_click\n    decision: deny\n")
	pay := `{"member":"left_click","url":"https://SHOP.example/cart","element":{"role":"button","name":"Pay now"}}`
	for _, test := range []struct {
		name     string
		args     []string
		in       string
		status   int
		out, err string // contained; empty: nothing at all
	}{
		{"shipped", []string{"check", "default"}, "", 0, "it looks like buying or paying", ""},
		{"own", []string{"check", own}, "", 0, "line 3   deny   no shop", ""},
		{"extended", []string{"check", own}, "", 0, "shipped  ask    scripts", ""},
		{"no such member", []string{"check", misspelt}, "", 1, "", `misspelt.yaml: it is not a policy: line 3: there is no member "left_clik"`},
		{"no such key", []string{"check", unknown}, "", 1, "", "line 3: member is not expected here"},
		{"no file", []string{"check", filepath.Join(folder, "none.yaml")}, "", 2, "", "none.yaml"},
		{"explained", []string{"explain"}, pay, 0, `ask left_click on button "Pay now": it looks like buying or paying`, ""},
		{"why", []string{"explain"}, pay, 0, `element.label is "Pay now", which matches "^pay" of $buying`, ""},
		{"by a file", []string{"explain", "--policy", own}, pay, 0, `deny left_click on button "Pay now": nothing is bought here`, ""},
		{"from a file", []string{"explain", write("act.json", pay)}, "", 0, "yes", ""},
		{"allowed", []string{"explain"}, `{"member":"read_page"}`, 0, "allow read_page\n", ""},
		{"no policy", []string{"explain", "--policy", "off"}, pay, 0, `allow left_click on button "Pay now": there is no policy`, ""},
		{"JSON", []string{"explain", "--json", "--policy", own}, pay, 0, `"decision":"deny","rule":"no shop","line":3,"reason":"nothing is bought here","steps":[{"rule":"no shop","line":3,"matched":true,`, ""},
		{"unknown field", []string{"explain"}, `{"member":"read_page","elment":{}}`, 2, "", `unknown field "elment"`},
		{"no member", []string{"explain"}, `{}`, 2, "", "it has no member"},
		{"two acts", []string{"explain"}, pay + pay, 2, "", "more than one value"},
		{"no web address", []string{"explain"}, `{"member":"read_page","url":"file:///etc/hosts"}`, 2, "", "the act: "},
		{"bad policy", []string{"explain", "--policy", unknown}, pay, 2, "", "line 3"},
		{"printed", []string{"print"}, "", 0, "# The shipped policy", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, complaints bytes.Buffer
			status := run(append([]string{"policy"}, test.args...), &streams{in: strings.NewReader(test.in), out: &out, err: &complaints})
			if status != test.status {
				t.Errorf("status %d, want %d: %s", status, test.status, complaints.String())
			}
			for _, stream := range []struct{ name, got, want string }{{"output", out.String(), test.out}, {"errors", complaints.String(), test.err}} {
				if !strings.Contains(stream.got, stream.want) || stream.want == "" && stream.got != "" {
					t.Errorf("%s: got %.600q, want %q", stream.name, stream.got, stream.want)
				}
			}
		})
	}
}

// TestDocumentedPolicy: the example of the documentation is a policy.
func TestDocumentedPolicy(t *testing.T) {
	page, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	p, err := policy.Parse([]byte(example))
	if err == nil {
		err = p.CheckMembers(memberNames())
	}
	if err != nil {
		t.Error(err)
	}
}

// TestShippedPolicyMembers: a rule that names a member which does not exist would never ask.
func TestShippedPolicyMembers(t *testing.T) {
	if err := policy.Default().CheckMembers(memberNames()); err != nil {
		t.Error(err)
	}
}
