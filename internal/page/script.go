package page

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
)

//go:embed js/script.js
var describeResult string

const (
	longestValue     = 50_000 // of a script's value, in characters, as of readings (contract §4)
	longestException = 500
	scriptGroup      = "pagehand-script"
)

// Evaluate runs JavaScript in the tab's document, in the page's own world, whatever the page's content security policy, and gives the
// value of the last expression as text: strings as they are, plain data as JSON, the rest described, at most 50,000 characters. Promises are
// awaited, await may be used at the top. Declarations with let and const do not outlast the call. An exception is a [Problem]. When
// the context ends first, the script may still be running; [Page.Recover] ends it.
func (p *Page) Evaluate(ctx context.Context, text string) (string, error) {
	defer cdp.Post(p.session, runtime.ReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: scriptGroup})
	outcome, err := p.start(ctx, text)
	if err != nil {
		return "", err
	}
	res, err := cdp.Call(ctx, p.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: describeResult,
		ObjectID:            outcome,
		Arguments:           []*runtime.CallArgument{{Value: fmt.Appendf(nil, "%d", longestValue)}},
		ReturnByValue:       new(true), AwaitPromise: new(true), Silent: new(true), UserGesture: new(true),
	})
	if navigated(err) {
		return "The page navigated before the script's value could be read.", nil
	}
	if err != nil {
		return "", err
	}
	if res.ExceptionDetails != nil {
		return "", scriptProblem(exceptionText(res.ExceptionDetails), 0)
	}
	var value struct {
		Text   string `json:"text"`
		Cut    bool   `json:"cut"`
		Thrown bool   `json:"thrown"`
		Line   int    `json:"line"`
	}
	if err := jsonv2.Unmarshal(res.Result.Value, &value, jsonv2.AllowInvalidUTF8(true)); err != nil {
		return "", fmt.Errorf("decode the script's value: %w", err)
	}
	if value.Thrown {
		return "", scriptProblem(value.Text, value.Line)
	}
	if value.Cut {
		const noteChars = 50
		kept := []rune(cleanText(value.Text))
		kept = kept[:min(len(kept), longestValue-noteChars)]
		return fmt.Sprintf("%s…\n[Cut at %d characters. Return less.]", string(kept), len(kept)), nil
	}
	return cleanText(value.Text), nil
}

// How a script is started: its value, or what it threw, comes in an object, by a promise. So a huge text does not travel, and the page
// sees no rejection that it would take for its own. %s is the code, or a string literal of it.
const (
	runPlain  = "(async source=>{try{return{completion:await(0,eval)(source)}}catch(error){return{thrown:error}}})(%s)"
	runAwait  = "(async()=>{try{%s\n}catch(error){return{thrown:error}}return{}})()"
	returning = "%s\nreturn{completion:await(%s\n)}"
)

// start runs the script and gives the promise of its outcome.
func (p *Page) start(ctx context.Context, text string) (runtime.RemoteObjectID, error) {
	expression, err := p.compile(ctx, text)
	if err != nil {
		return "", err
	}
	res, err := cdp.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ObjectGroup: scriptGroup, Silent: new(true), UserGesture: new(true),
	})
	if err != nil {
		return "", err
	}
	if res.ExceptionDetails != nil {
		return "", scriptProblem(exceptionText(res.ExceptionDetails), 0)
	}
	return res.Result.ObjectID, nil
}

// compile finds the expression that runs the script. Code without await is evaluated as it is. Code with await must stand in a function, which
// has no value of its own, so its last expression is looked for.
func (p *Page) compile(ctx context.Context, text string) (string, error) {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") {
		// An object, where JavaScript would see a block.
		if refused, err := p.check(ctx, "("+trimmed+"\n)", true); err != nil {
			return "", err
		} else if refused == nil {
			text = "(" + trimmed + "\n)"
		}
	}
	if refused, err := p.check(ctx, text, false); err != nil {
		return "", err
	} else if refused == nil {
		literal, err := json.Marshal(text)
		return fmt.Sprintf(runPlain, literal), err
	}
	if refused, err := p.check(ctx, text, true); err != nil {
		return "", err
	} else if refused != nil {
		message := withoutStack(exceptionText(refused))
		if strings.Contains(message, "Illegal return") {
			message += "; the value of the last expression is returned, leave out return"
		}
		return "", scriptProblem(message, int(refused.LineNumber)+1)
	}
	for body, last := range endings(text) {
		expression := fmt.Sprintf(runAwait, fmt.Sprintf(returning, body, last))
		if refused, err := p.check(ctx, expression, false); err != nil {
			return "", err
		} else if refused == nil {
			return expression, nil
		}
	}
	return fmt.Sprintf(runAwait, text), nil // it ends with a statement, which has no value
}

// check compiles code and runs nothing of it. The answer tells the syntax error, nil when there is none.
func (p *Page) check(ctx context.Context, code string, await bool) (*runtime.ExceptionDetails, error) {
	res, err := cdp.Call(ctx, p.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "throw 0;{" + code + "\n}", ReplMode: &await, Silent: new(true), ObjectGroup: scriptGroup,
	})
	if err != nil {
		return nil, err
	}
	if d := res.ExceptionDetails; d != nil && d.Exception != nil && d.Exception.ClassName == "SyntaxError" {
		return d, nil
	}
	return nil, nil
}

// loop matches a line whose statement goes on in the next one and may run more than once.
var loop = regexp.MustCompile(`^\s*(?:for|while|do)\b`)

// endings splits code into its last expression and what precedes it: first nothing, then from the end at each place where a statement may end.
// Whether a split is one shows when it compiles.
func endings(text string) iter.Seq2[string, string] {
	const most = 50
	text = strings.TrimRight(text, "; \t\r\n")
	return func(yield func(body, last string) bool) {
		if !yield("", text) {
			return
		}
		at := len(text)
		for range most {
			if at = strings.LastIndexAny(text[:at], ";\n"); at < 0 {
				return
			}
			body, last := text[:at+1], strings.TrimSpace(text[at+1:])
			line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
			switch {
			case last == "", strings.HasPrefix(last, "//"):
				continue
			case text[at] == ';' && strings.Contains(line, "//"):
				continue // in a comment, perhaps
			case text[at] == '\n' && (strings.IndexByte("([+-*/,.?:=<>&|`", last[0]) >= 0 || loop.MatchString(line)):
				continue // the statement goes on
			}
			if !yield(body, last) {
				return
			}
		}
	}
}

// scriptProblem words an exception.
func scriptProblem(message string, line int) error {
	message = strings.TrimSuffix(cleanLine(message, longestException), ".")
	if line > 0 {
		return problemf("The script failed: %s (line %d).", message, line)
	}
	return problemf("The script failed: %s.", message)
}

// cleanText cleans text of several lines as [contract.CleanField] cleans one.
func cleanText(s string) string {
	const most = contract.MaxField
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		runes := []rune(line)
		for len(runes) > most {
			b.WriteString(contract.CleanField(string(runes[:most])))
			runes = runes[most:]
		}
		b.WriteString(contract.CleanField(string(runes)))
	}
	return b.String()
}
