package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/internal/chrome"
)

// The types of flags that need more than kong's own. Each reads the text of the command line and of a variable, and the value
// of the configuration file, which may be a number, a list or a mapping.

// path is a file or folder. A leading ~/ is the user's home, and it is absolute.
type path string

func (p *path) UnmarshalText(text []byte) error {
	*p = ""
	if len(text) > 0 {
		*p = path(kong.ExpandPath(string(text)))
	}
	return nil
}

// localeFlag is a BCP 47 language tag. Empty leaves it to the browser.
type localeFlag string

func (l *localeFlag) UnmarshalText(text []byte) error {
	*l = localeFlag(text)
	if *l == "" {
		return nil
	}
	return chrome.CheckLocale(string(*l))
}

// timezoneFlag is an IANA time zone. Empty leaves it to the browser.
type timezoneFlag string

func (z *timezoneFlag) UnmarshalText(text []byte) error {
	*z = timezoneFlag(text)
	if _, err := time.LoadLocation(string(*z)); err != nil {
		return fmt.Errorf("%q is not a time zone such as Europe/Zurich", *z)
	}
	return nil
}

// documentsFlag are staged files by their document ids: ID=PATH, or a mapping of the configuration file. No id means two files.
type documentsFlag map[string]path

func (d *documentsFlag) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("")
	if err != nil {
		return errors.New("a value is missing")
	}
	files, ok := token.Value.(map[string]any)
	if !ok {
		id, file, _ := strings.Cut(fmt.Sprint(token.Value), "=")
		files = map[string]any{id: file}
	}
	for id, file := range files {
		text, ok := file.(string)
		if id == "" || text == "" || !ok {
			return fmt.Errorf("%q is not ID=PATH", fmt.Sprint(token.Value))
		}
		if _, twice := (*d)[id]; twice {
			return fmt.Errorf("the document id %q is given twice; each means one file", id)
		}
		if *d == nil {
			*d = documentsFlag{}
		}
		(*d)[id] = path(kong.ExpandPath(text))
	}
	return nil
}

// negative is a word of the command line that is a value and no flag.
var negative = regexp.MustCompile(`^-[0-9.]`)

// scalar takes the next value off the scanner as a text. It may be a negative number.
func scalar(ctx *kong.DecodeContext) (string, error) {
	token := ctx.Scan.Peek()
	if !token.IsValue() && !negative.MatchString(token.String()) {
		return "", errors.New("a value is missing")
	}
	ctx.Scan.Pop()
	if !token.IsValue() {
		return token.String(), nil
	}
	switch token.Value.(type) {
	case []any, map[string]any:
		return "", errors.New("a single value is expected")
	}
	return fmt.Sprint(token.Value), nil
}

// viewportFlag is a size such as 1280x720. The zero value leaves it to the session.
type viewportFlag pagehand.Size

func (v *viewportFlag) Decode(ctx *kong.DecodeContext) error {
	text, err := scalar(ctx)
	if err != nil {
		return err
	}
	width, height, ok := strings.Cut(strings.ToLower(text), "x")
	w, errW := strconv.Atoi(width)
	h, errH := strconv.Atoi(height)
	if !ok || errW != nil || errH != nil || w < 100 || h < 100 || w > 10_000 || h > 10_000 {
		return fmt.Errorf("%q is not WIDTHxHEIGHT in pixels, each from 100 to 10000", text)
	}
	*v = viewportFlag{Width: w, Height: h}
	return nil
}

// durationFlag is a time such as 45s, 1m30s or, in seconds, 45. It is positive.
type durationFlag time.Duration

func (d *durationFlag) Decode(ctx *kong.DecodeContext) error {
	text, err := scalar(ctx)
	if err != nil {
		return err
	}
	value, err := time.ParseDuration(text)
	if seconds, notNumber := strconv.ParseFloat(text, 64); notNumber == nil && seconds < 1e9 {
		value, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || value <= 0 {
		return fmt.Errorf("%q is no positive time such as 45s, 1m30s or 45 (seconds)", text)
	}
	*d = durationFlag(value)
	return nil
}

// charsFlag is a bound on characters, 0 for none.
type charsFlag int

func (c *charsFlag) Decode(ctx *kong.DecodeContext) error {
	text, err := scalar(ctx)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < pagehand.MinMaxChars && n != 0 {
		return fmt.Errorf("%q is neither a number from %d up nor 0, for no bound", text, pagehand.MinMaxChars)
	}
	*c = charsFlag(n)
	return nil
}

// membersFlag are names of members.
type membersFlag []string

func (m *membersFlag) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("")
	if err != nil {
		return errors.New("a value is missing")
	}
	names := entries(token.Value)
	if _, err := (pagehand.Configs{}).Enable(names...); err != nil {
		return err
	}
	*m = append(*m, names...)
	return nil
}

// positionFlag is a place, LATITUDE,LONGITUDE[,ACCURACY] in degrees and metres.
type positionFlag struct{ at *pagehand.Position }

func (p *positionFlag) Decode(ctx *kong.DecodeContext) error {
	text, err := scalar(ctx)
	if err != nil {
		return err
	}
	parts := strings.Split(text, ",")
	if len(parts) == 2 {
		parts = append(parts, "1")
	}
	var numbers [3]float64
	for i := range numbers {
		if len(parts) != len(numbers) || err != nil {
			break
		}
		numbers[i], err = strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
	}
	at := pagehand.Position{Latitude: numbers[0], Longitude: numbers[1], Accuracy: numbers[2]}
	inside := at.Latitude >= -90 && at.Latitude <= 90 && at.Longitude >= -180 && at.Longitude <= 180 && at.Accuracy >= 0
	if len(parts) != len(numbers) || err != nil || !inside {
		return fmt.Errorf("%q is not LATITUDE,LONGITUDE[,ACCURACY] in degrees and metres, such as 47.37,8.54", text)
	}
	p.at = &at
	return nil
}

// hostsFlag is a list of hosts. It tells a list without entries from none, which is nil.
type hostsFlag []string

func (h *hostsFlag) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("")
	if err != nil {
		return errors.New("a value is missing")
	}
	*h = append(*h, entries(token.Value)...)
	if *h == nil {
		*h = hostsFlag{}
	}
	return nil
}

// entries splits a list: a text with commas, or a list of the configuration file.
func entries(value any) []string {
	list, ok := value.([]any)
	if !ok {
		for part := range strings.SplitSeq(fmt.Sprint(value), ",") {
			list = append(list, part)
		}
	}
	var texts []string
	for _, entry := range list {
		if text := strings.TrimSpace(fmt.Sprint(entry)); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// privateFlag is a flag whose value may be left out: alone it allows all private destinations, with a list those only.
type privateFlag struct {
	all bool
	at  []string
}

// IsBool lets the flag stand without a value.
func (*privateFlag) IsBool() bool { return true }

func (p *privateFlag) Decode(ctx *kong.DecodeContext) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		p.all = true
		return nil
	}
	value := ctx.Scan.Pop().Value
	if all, err := strconv.ParseBool(fmt.Sprint(value)); err == nil {
		p.all = all
		return nil
	}
	list := entries(value)
	if len(list) == 0 {
		return errors.New("the list is empty; name HOST:PORT, or give the flag alone to allow every private destination")
	}
	p.at = append(p.at, list...)
	return nil
}

// configsFlag is the toolset entry or its configs, as JSON or in a file that holds it.
type configsFlag struct{ pagehand.Configs }

func (c *configsFlag) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("JSON or file")
	if err != nil {
		return err
	}
	data, err := configsJSON(token.Value)
	if err != nil {
		return err
	}
	c.Configs, err = pagehand.ParseConfigs(data)
	return err
}

// configsJSON finds the JSON that a value stands for: itself, the file it names, or the mapping it is.
func configsJSON(value any) ([]byte, error) {
	text, ok := value.(string)
	if !ok {
		return json.Marshal(value)
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		return []byte(text), nil
	}
	data, err := os.ReadFile(kong.ExpandPath(text))
	if err != nil {
		return nil, fmt.Errorf("neither a JSON object nor a file that can be read: %w", err)
	}
	return data, nil
}
