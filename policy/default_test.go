package policy

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"
)

// labels are labels of buttons, links and boxes, by language: a person is to be asked before they are pressed, or not. The words were
// chosen with the help of the lines for tuning only; the others were held out.
//
//go:embed testdata/labels.tsv
var labels string

type score struct{ right, alarms, missed int }

func (s score) precision() float64 { return float64(s.right) / float64(s.right+s.alarms) }
func (s score) recall() float64    { return float64(s.right) / float64(s.right+s.missed) }

func TestDefaultOnLabels(t *testing.T) {
	halves := map[string]*score{"tune": {}, "held": {}}
	languages := map[string]*score{} // of the held-out half
	lines := strings.Split(strings.TrimSpace(labels), "\n")
	if len(lines) < 300 {
		t.Fatalf("%d labels, want at least 300", len(lines))
	}
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		set, language, want, role, name := cells[0], cells[1], cells[2], cells[3], cells[4]
		v := Default().Judge(Act{Member: "left_click", Element: &Element{Role: role, Name: name, Text: name}})
		counted := []*score{halves[set]}
		if set == "held" {
			if languages[language] == nil {
				languages[language] = &score{}
			}
			counted = append(counted, languages[language])
		}
		for _, s := range counted {
			switch {
			case want == "ask" && v.Decision == Ask:
				s.right++
			case want == "ask":
				s.missed++
			case v.Decision == Ask:
				s.alarms++
			}
		}
		if set == "tune" && v.Decision.String() != want {
			t.Errorf("line %d: %s %q: %s by %s, want %s", i+1, language, name, v.Decision, v.Rule, want)
		}
	}
	tuned, held := halves["tune"], halves["held"]
	t.Logf("tuning: precision %.3f, recall %.3f; held out: precision %.3f, recall %.3f (%+v)",
		tuned.precision(), tuned.recall(), held.precision(), held.recall(), *held)
	if held.precision() < 0.95 || held.recall() < 0.95 {
		t.Errorf("held-out labels: precision %.3f and recall %.3f, want 0.95 each", held.precision(), held.recall())
	}
	if len(languages) < 16 {
		t.Errorf("%d languages, want 16", len(languages))
	}
	for language, s := range languages { // some 30 labels to ask about in each
		if s.precision() < 0.85 || s.recall() < 0.85 {
			t.Errorf("held-out labels, %s: precision %.3f and recall %.3f, want 0.85 each", language, s.precision(), s.recall())
		}
	}
}

func TestDefaultOnActs(t *testing.T) {
	form := func(f Form) *Form { return &f }
	text := func(s string) json.RawMessage {
		raw, err := json.Marshal(map[string]string{"text": s})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	pay := form(Form{Action: "https://shop.example/cart", Method: "post", Submit: "Pay now"})
	search := form(Form{Action: "https://shop.example/search", Method: "get", Submit: "Search"})
	tests := map[string]struct {
		act  Act
		rule string
	}{
		"script":                      {Act{Member: "javascript_exec", Input: text("1")}, "scripts"},
		"upload":                      {Act{Member: "file_upload"}, "uploads"},
		"reading":                     {Act{Member: "read_page"}, "default"},
		"click on nothing known":      {Act{Member: "left_click"}, "unknown target"},
		"press of a button":           {Act{Member: "left_mouse_down", Element: &Element{Role: "button", Name: "Pay"}}, "buying"},
		"triple click":                {Act{Member: "triple_click", Element: &Element{Role: "button", Name: "Pay"}}, "buying"},
		"hover":                       {Act{Member: "hover", Element: &Element{Role: "button", Name: "Pay"}}, "default"},
		"text behind another name":    {Act{Member: "left_click", Element: &Element{Role: "button", Name: "OK", Text: "Pay"}}, "buying"},
		"text field":                  {Act{Member: "left_click", Element: &Element{Role: "textbox", Name: "Send to", Type: "text"}}, "text fields"},
		"role alone is no field":      {Act{Member: "left_click", Element: &Element{Role: "textbox", Name: "Pay now"}}, "buying"},
		"invisible characters":        {Act{Member: "left_click", Element: &Element{Role: "button", Name: "P\u200ba\u00ady n\u2060ow"}}, "buying"},
		"Cyrillic lookalikes":         {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Рay nоw"}}, "buying"},
		"full width":                  {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Ｐａｙ ｎｏｗ"}}, "buying"},
		"harmless words beside":       {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Accept cookies and pay now"}}, "buying"},
		"box ticked directly":         {Act{Member: "form_input", Element: &Element{Role: "checkbox", Name: "I accept the terms", Type: "checkbox"}}, "accepting"},
		"value of a field":            {Act{Member: "form_input", Element: &Element{Role: "textbox", Name: "Amount to pay", Type: "text"}}, "default"},
		"card in the form":            {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Continue", Type: "submit", Form: form(Form{Method: "post", Fields: []string{"text", "cardNumber"}})}}, "payment form"},
		"new password in the form":    {Act{Member: "left_click", Element: &Element{Role: "button", Name: "OK", Type: "submit", Form: form(Form{Method: "post", Fields: []string{"password", "new-password"}})}}, "password form"},
		"login":                       {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Log in", Type: "submit", Form: form(Form{Action: "https://shop.example/session", Method: "post", Fields: []string{"email", "password", "current-password"}})}}, "default"},
		"action":                      {Act{Member: "left_click", Element: &Element{Role: "button", Name: "OK", Type: "submit", Form: form(Form{Action: "https://shop.example/users/3/delete", Method: "POST"})}}, "form action"},
		"action by get":               {Act{Member: "left_click", Element: &Element{Role: "button", Name: "OK", Type: "submit", Form: form(Form{Action: "https://pay.example/search?q=delete", Method: "get"})}}, "default"},
		"host is no action":           {Act{Member: "left_click", Element: &Element{Role: "button", Name: "OK", Type: "submit", Form: form(Form{Action: "https://pay.example/search", Method: "post"})}}, "default"},
		"Enter in a form":             {Act{Member: "key", Input: text("Enter"), Element: &Element{Role: "textbox", Type: "text", Form: pay}}, "Enter in a form"},
		"Enter held":                  {Act{Member: "hold_key", Input: text("ctrl+Return"), Element: &Element{Role: "textbox", Type: "text", Form: pay}}, "Enter in a form"},
		"newline typed":               {Act{Member: "type", Input: text("me\n"), Element: &Element{Role: "textbox", Type: "text", Form: pay}}, "Enter in a form"},
		"typed without a newline":     {Act{Member: "type", Input: text("press Enter to pay"), Element: &Element{Role: "textbox", Type: "text", Form: pay}}, "default"},
		"Enter in a search":           {Act{Member: "key", Input: text("Enter"), Element: &Element{Role: "searchbox", Type: "search", Form: search}}, "default"},
		"Enter on a button":           {Act{Member: "key", Input: text("Enter"), Element: &Element{Role: "button", Name: "Delete"}}, "key on a button"},
		"Space on a button":           {Act{Member: "key", Input: text(" "), Element: &Element{Role: "button", Name: "Delete"}}, "key on a button"},
		"Tabs and then Enter":         {Act{Member: "key", Input: text("Tab\tTab\nKP_Enter"), Element: &Element{Role: "textbox", Type: "text"}}, "keys after a move"},
		"Space and Tab, repeated":     {Act{Member: "key", Input: json.RawMessage(`{"text":"Space shift+Tab","repeat":2}`), Element: &Element{Role: "checkbox", Type: "checkbox"}}, "keys after a move"},
		"Space and Tab":               {Act{Member: "key", Input: text("Space Tab"), Element: &Element{Role: "checkbox", Type: "checkbox"}}, "default"},
		"another entry of a menu":     {Act{Member: "key", Input: text("Down Down Enter"), Element: &Element{Role: "menuitem", Name: "Rename"}}, "keys in a menu"},
		"a suggestion":                {Act{Member: "key", Input: text("Down Enter"), Element: &Element{Role: "combobox", Name: "City", Type: "text"}}, "default"},
		"a suggestion, then sent":     {Act{Member: "key", Input: text("Down Enter"), Element: &Element{Role: "textbox", Type: "text", Form: pay}}, "Enter in a form"},
		"space typed on a button":     {Act{Member: "type", Input: text("hello world"), Element: &Element{Role: "button", Name: "Delete"}}, "key on a button"},
		"space typed into a field":    {Act{Member: "type", Input: text("delete it"), Element: &Element{Role: "textbox", Name: "Delete what", Type: "text"}}, "default"},
		"middle click":                {Act{Member: "middle_click", Element: &Element{Role: "link", Name: "Delete"}}, "deleting"},
		"headline":                    {Act{Member: "left_click", Element: &Element{Role: "link", Name: "Delete these apps right now, experts of the agency say"}}, "default"},
		"long button":                 {Act{Member: "left_click", Element: &Element{Role: "button", Name: "Delete these apps right now and everything that they have stored"}}, "deleting"},
		"plain text":                  {Act{Member: "left_click", Element: &Element{Role: "generic", Text: "Buy now"}}, "buying"},
		"Tab and then Enter":          {Act{Member: "key", Input: text("Tab Enter"), Element: &Element{Role: "textbox", Type: "text"}}, "keys after a move"},
		"line break in a textarea":    {Act{Member: "type", Input: text("Dear all,\nhello"), Element: &Element{Role: "textbox", Name: "Text", Type: "textarea", Form: form(Form{Method: "post", Submit: "Send message"})}}, "default"},
		"Enter in a message":          {Act{Member: "key", Input: text("Enter"), Element: &Element{Role: "textbox", Name: "Send a message"}}, "Enter in a message"},
		"Enter in a card's field":     {Act{Member: "type", Input: text("4242\n"), Element: &Element{Role: "textbox", Type: "tel", Form: form(Form{Fields: []string{"cc-number"}, Submit: "Next"})}}, "Enter in a payment form"},
		"arrow":                       {Act{Member: "key", Input: text("Down"), Element: &Element{Role: "button", Name: "Delete"}}, "default"},
		"input that is not an object": {Act{Member: "read_page", Input: json.RawMessage(`[1]`)}, "input"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := Default().Judge(test.act)
			want := Ask
			switch test.rule {
			case "default", "text fields":
				want = Allow
			case "input":
				want = Deny
			}
			if v.Rule != test.rule || v.Decision != want {
				t.Errorf("%s by rule %q, want %s by %q", v.Decision, v.Rule, want, test.rule)
			}
		})
	}
}
