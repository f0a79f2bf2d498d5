package page

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/redact"
)

// message is one entry of the console.
type message struct {
	level  string // log, info, debug, warning or error
	source string // "frame" or "worker" when it isn't the tab's own document
	text   string // raw
	place  string // app.js:12:5
	times  int
	single bool // what it shows may differ from an equal one's
}

func (m *message) size() int { return len(m.text) + len(m.place) + 64 }

func (m *message) equal(other *message) bool {
	return !m.single && !other.single && m.level == other.level && m.source == other.source && m.place == other.place && m.text == other.text
}

func (m *message) line() string {
	head := "[" + m.level
	if m.source != "" {
		head += ", in a " + m.source
	}
	head += "] "
	tail := ""
	if m.times > 1 {
		tail = fmt.Sprintf(" (x%d)", m.times)
	}
	if m.place != "" {
		tail += " (" + redact.Text(cleanLine(m.place, 100)) + ")"
	}
	return head + safeText(m.text, longestLine-len(head)-len(tail)) + tail
}

// safeText makes page text one clean, redacted line. Cleaning comes first, so that invisible characters cannot split a
// credential, and cutting last, so that no half of one is left over.
func safeText(s string, most int) string {
	return shorten(redact.Text(cleanLine(s, longestEntry)), most)
}

// levels names the console calls that don't carry the level's own name.
var levels = map[runtime.ConsoleAPICalledType]string{
	runtime.ConsoleAPICalledTypeDebug: "debug", runtime.ConsoleAPICalledTypeInfo: "info", runtime.ConsoleAPICalledTypeWarning: "warning",
	runtime.ConsoleAPICalledTypeError: "error", runtime.ConsoleAPICalledTypeAssert: "error",
}

// spoke records a console call. Objects that hold other objects are looked into, which takes a moment.
func (p *Page) spoke(s *cdp.Session, ev runtime.EventConsoleAPICalled, source string) {
	m := &message{level: "log", source: source, times: 1}
	if level, ok := levels[ev.Type]; ok {
		m.level = level
	}
	if ev.StackTrace != nil {
		m.place = placeOf(ev.StackTrace)
	}
	switch ev.Type {
	case runtime.ConsoleAPICalledTypeEndGroup, runtime.ConsoleAPICalledTypeProfile, runtime.ConsoleAPICalledTypeProfileEnd:
		return
	case runtime.ConsoleAPICalledTypeClear:
		m.text = "console.clear()"
	default:
		m.text = consoleText(ev.Args)
		if ev.Type == runtime.ConsoleAPICalledTypeAssert {
			m.text = "Assertion failed: " + m.text
		}
	}
	m.text = cutBytes(m.text, longestEntry)
	var inner []int
	for i, arg := range ev.Args {
		if nested(arg) {
			inner = append(inner, i)
		}
	}
	m.single = len(inner) > 0
	p.record(func(l *logs) { l.said(m) })
	for _, i := range inner {
		p.lookInto(s, m, ev.Args, i)
	}
}

// lookInto asks what the objects inside an argument of a console call hold, and completes the entry. That runs no code of the page.
func (p *Page) lookInto(s *cdp.Session, m *message, args []*runtime.RemoteObject, i int) {
	busy := false
	p.record(func(l *logs) {
		if busy = l.lookups >= mostLookups; !busy {
			l.lookups++
		}
	})
	if busy {
		return
	}
	params := runtime.GetPropertiesParams{ObjectID: args[i].ObjectID, OwnProperties: new(true), GeneratePreview: new(true)}
	cdp.Then(s, runtime.GetProperties, params, func(res runtime.GetPropertiesResult, err error) {
		p.record(func(l *logs) {
			l.lookups--
			if err != nil || res.ExceptionDetails != nil {
				return
			}
			args[i] = &runtime.RemoteObject{Type: runtime.RemoteObjectTypeSymbol, Description: propertiesText(args[i], res.Result)}
			m.text = cutBytes(consoleText(args), longestEntry)
		})
	})
}

// nested tells whether an object holds objects, of which its preview names only the type.
func nested(o *runtime.RemoteObject) bool {
	if o == nil || o.Preview == nil || o.ObjectID == "" || o.Subtype != "" && o.Subtype != runtime.RemoteObjectSubtypeArray {
		return false
	}
	return slices.ContainsFunc(o.Preview.Properties, func(p *runtime.PropertyPreview) bool {
		return p.Type == runtime.PropertyPreviewTypeObject && p.ValuePreview == nil && (p.Subtype == "" || p.Subtype == runtime.PropertyPreviewSubtypeArray)
	})
}

// thrown is the entry of an uncaught exception or an unhandled rejection.
func thrown(d *runtime.ExceptionDetails, source string) *message {
	text := d.Text
	if d.Exception != nil {
		text += " " + remoteText(d.Exception, true)
	}
	place := ""
	if d.StackTrace != nil {
		place = placeOf(d.StackTrace)
	}
	if place == "" && d.URL != "" {
		place = fmt.Sprintf("%s:%d:%d", shortURL(d.URL), d.LineNumber+1, d.ColumnNumber+1)
	}
	return &message{level: "error", source: source, text: cutBytes(text, longestEntry), place: place, times: 1}
}

// noted is the entry of a message of Chromium's own, such as a resource that failed to load.
func noted(e *cdplog.Entry, source string) *message {
	level := string(e.Level)
	if e.Level == cdplog.EntryLevelVerbose {
		level = "debug"
	}
	m := &message{level: level, source: source, text: cutBytes(e.Text, longestEntry), times: 1}
	switch {
	case e.StackTrace != nil && len(e.StackTrace.CallFrames) > 0:
		m.place = placeOf(e.StackTrace)
	case e.Source == cdplog.EntrySourceNetwork:
		m.place = cutBytes(e.URL, longestEntry) // what failed, not where
	case e.URL != "":
		m.place = fmt.Sprintf("%s:%d", shortURL(e.URL), e.LineNumber+1)
	}
	return m
}

// placeOf is where the topmost call of a stack is.
func placeOf(t *runtime.StackTrace) string {
	if len(t.CallFrames) == 0 {
		return ""
	}
	f := t.CallFrames[0]
	return fmt.Sprintf("%s:%d:%d", shortURL(f.URL), f.LineNumber+1, f.ColumnNumber+1)
}

// shortURL is the file name of a script, or what comes closest.
func shortURL(url string) string {
	url, _, _ = strings.Cut(cutBytes(url, longestEntry), "?")
	url, _, _ = strings.Cut(url, "#")
	switch {
	case url == "":
		return "script"
	case strings.HasPrefix(url, "data:"):
		return "data"
	case strings.HasPrefix(url, "blob:"):
		return "blob"
	}
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url // about:srcdoc
	}
	if strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		return path.Base(rest)
	}
	return rest
}

// consoleText renders the arguments of a console call, format specifiers included.
func consoleText(args []*runtime.RemoteObject) string {
	var parts []string
	if len(args) > 1 && args[0].Type == runtime.RemoteObjectTypeString {
		text, used := substitute(stringOf(args[0].Value), args[1:])
		parts, args = append(parts, text), args[1+used:]
	}
	for _, arg := range args {
		parts = append(parts, remoteText(arg, true))
	}
	return strings.Join(parts, " ")
}

var specifier = regexp.MustCompile(`%[sdifoOc%]`)

// substitute fills in console format specifiers, and tells how many arguments it took. %c is a style and shows nothing.
func substitute(format string, args []*runtime.RemoteObject) (string, int) {
	used := 0
	text := specifier.ReplaceAllStringFunc(format, func(m string) string {
		if m == "%%" {
			return "%"
		}
		if used >= len(args) {
			return m
		}
		used++
		if m == "%c" {
			return ""
		}
		return remoteText(args[used-1], true)
	})
	return text, used
}

func stringOf(raw jsonv2.Value) string {
	var s string
	if jsonv2.Unmarshal(raw, &s, jsonv2.AllowInvalidUTF8(true)) != nil {
		return string(raw)
	}
	return s
}

// remoteText describes a value from what Chromium reported of it. Strings are quoted inside others.
func remoteText(o *runtime.RemoteObject, top bool) string {
	switch {
	case o == nil:
		return ""
	case o.Type == runtime.RemoteObjectTypeString && top:
		return stringOf(o.Value)
	case o.Type == runtime.RemoteObjectTypeString:
		return quoted(stringOf(o.Value))
	case o.UnserializableValue != "":
		return string(o.UnserializableValue)
	case o.Type == runtime.RemoteObjectTypeUndefined:
		return "undefined"
	case o.Type == runtime.RemoteObjectTypeFunction:
		return functionText(o.Description)
	case len(o.Value) > 0:
		return string(o.Value)
	case o.Preview != nil && o.Subtype != runtime.RemoteObjectSubtypeError:
		return previewText(o.Preview)
	}
	return withoutStack(o.Description)
}

// withoutStack leaves the message of an error's description.
func withoutStack(s string) string {
	if at := strings.Index(s, "\n    at "); at >= 0 {
		return s[:at]
	}
	return s
}

// functionText is the head of a function's source.
func functionText(source string) string {
	head, _, _ := strings.Cut(source, "{")
	return "function " + cleanLine(strings.TrimPrefix(head, "function"), 60)
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// previewText describes an object: {user:{id:7}}, [1,2], Map(1){"a"=>1}, or its class where it shows nothing of itself.
func previewText(p *runtime.ObjectPreview) string {
	switch p.Type {
	case runtime.ObjectPreviewTypeObject:
	case runtime.ObjectPreviewTypeString:
		return quoted(p.Description)
	default:
		return p.Description
	}
	var parts []string
	switch p.Subtype {
	case "":
		for _, prop := range p.Properties {
			parts = append(parts, prop.Name+":"+propertyText(prop))
		}
		return wrap(strings.TrimPrefix(p.Description, "Object"), "{", parts, p.Overflow, "}")
	case runtime.ObjectPreviewSubtypeArray, runtime.ObjectPreviewSubtypeTypedarray:
		for _, prop := range p.Properties {
			parts = append(parts, propertyText(prop))
		}
		name := p.Description
		if strings.HasPrefix(name, "Array(") {
			name = ""
		}
		return wrap(name, "[", parts, p.Overflow, "]")
	case runtime.ObjectPreviewSubtypeMap, runtime.ObjectPreviewSubtypeSet:
		for _, e := range p.Entries {
			part := previewText(e.Value)
			if e.Key != nil {
				part = previewText(e.Key) + "=>" + part
			}
			parts = append(parts, part)
		}
		return wrap(p.Description, "{", parts, p.Overflow, "}")
	}
	return withoutStack(p.Description)
}

func propertyText(p *runtime.PropertyPreview) string {
	switch {
	case p.ValuePreview != nil:
		return previewText(p.ValuePreview)
	case p.Type == runtime.PropertyPreviewTypeString:
		return quoted(p.Value)
	case p.Type == runtime.PropertyPreviewTypeFunction:
		return "function"
	case p.Type == runtime.PropertyPreviewTypeAccessor:
		return "(...)"
	}
	return p.Value
}

// propertiesText describes an object or array by its properties, each with a preview of its own.
func propertiesText(o *runtime.RemoteObject, properties []*runtime.PropertyDescriptor) string {
	const most = 20
	array := o.Subtype == runtime.RemoteObjectSubtypeArray
	var parts []string
	more := false
	for _, p := range properties {
		if !p.Enumerable {
			continue
		}
		if more = len(parts) >= most; more {
			break
		}
		text := "(...)"
		if p.Value != nil {
			text = remoteText(p.Value, false)
		}
		if !array {
			text = p.Name + ":" + text
		}
		parts = append(parts, text)
	}
	if array {
		return wrap("", "[", parts, more, "]")
	}
	return wrap(strings.TrimPrefix(o.Description, "Object"), "{", parts, more, "}")
}

func wrap(name, opening string, parts []string, more bool, closing string) string {
	if more {
		parts = append(parts, "…")
	}
	return name + opening + strings.Join(parts, ",") + closing
}
