package script

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // results may hold either format
	_ "image/png"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pagehand/pagehand/contract"
)

// CheckShapes compares the blocks of a result with the call's "=" and "?" lines. The shapes are:
//
//	blocks KIND...     its blocks are exactly of these types, in this order: text, image, browser_state
//	browser_state      it has a browser_state block
//	no browser_state   it has none
//	tabs N             its browser_state lists so many tabs
//	active ID          its active tab is this one
//	active not ID      its active tab is another one
//	title TEXT         its active tab has this title
//	title within N     its active tab's title has at most so many characters, and at least half of that
//	url TEXT           its active tab has this address
//	url within N       its active tab's address has at most so many characters, and at least half of that
//	changes TYPE...    its state changes are exactly of these types, in this order
//	no changes         it has no state changes
//	opens active       its only tab_opened names the active tab
//	size N             its finished download has so many bytes, if it tells
//	image              it has exactly one image
//	image WxH          it has exactly one image, of this size in pixels
//	image within WxH   it has exactly one image, of at most this size, and touches it on one side
//	image ratio W:H    it has exactly one image, of these proportions up to a pixel
//	pixel X,Y RRGGBB   its image has nearly this colour there
//	captured           if it has a browser_state it also has the text "Screenshot captured."
//	has text           it has a text block that is not empty
//	starts TEXT        its texts begin so
//	characters N       its texts have at most so many characters
//	lines N            its texts have at most so many lines
//
// The error names the line of the call.
func (c Call) CheckShapes(res contract.ToolResult) error {
	if own := ownText(res); c.Exact != "" && own != c.Exact {
		return fmt.Errorf("line %d: the text of %s is %s, not %s", c.Line, c.Name, brief(own), brief(c.Exact))
	}
	for _, text := range c.Shapes {
		check, args, err := shapeOf(text)
		if err == nil {
			err = check(args, res)
		}
		if err != nil {
			return fmt.Errorf("line %d: the result of %s is not %q: %w", c.Line, c.Name, text, err)
		}
	}
	return nil
}

// shape checks one property of a result.
type shape func(args string, res contract.ToolResult) error

var shapes = map[string]shape{
	"blocks":           blocks,
	"browser_state":    func(_ string, res contract.ToolResult) error { _, err := stateOf(res); return err },
	"no browser_state": noState,
	"tabs":             tabs,
	"active":           active,
	"active not":       activeNot,
	"title":            func(want string, res contract.ToolResult) error { return same(want, res, title) },
	"title within":     func(most string, res contract.ToolResult) error { return within(most, res, title) },
	"url":              func(want string, res contract.ToolResult) error { return same(want, res, address) },
	"url within":       func(most string, res contract.ToolResult) error { return within(most, res, address) },
	"changes":          changes,
	"no changes":       changes,
	"opens active":     opensActive,
	"size":             size,
	"image":            imageSize,
	"image within":     imageWithin,
	"image ratio":      imageRatio,
	"pixel":            pixel,
	"captured":         captured,
	"has text":         hasText,
	"starts":           starts,
	"characters":       characters,
	"lines":            lines,
}

// shapeOf finds the shape that a "?" line names, by its first two words or its first, and what follows the name.
func shapeOf(text string) (shape, string, error) {
	first, rest, _ := strings.Cut(text, " ")
	second, last, _ := strings.Cut(rest, " ")
	if s, ok := shapes[first+" "+second]; ok {
		return s, last, nil
	}
	if s, ok := shapes[first]; ok {
		return s, rest, nil
	}
	return nil, "", fmt.Errorf("no shape is called %q", text)
}

func blocks(want string, res contract.ToolResult) error {
	kinds := make([]string, len(res.Content))
	for i, block := range res.Content {
		switch block.(type) {
		case contract.Text:
			kinds[i] = "text"
		case contract.Image:
			kinds[i] = "image"
		case *contract.BrowserState:
			kinds[i] = "browser_state"
		}
	}
	if got := strings.Join(kinds, " "); got != want {
		return fmt.Errorf("its blocks are %q", got)
	}
	return nil
}

var errNoState = errors.New("it has no browser_state")

func stateOf(res contract.ToolResult) (*contract.BrowserState, error) {
	for _, block := range res.Content {
		if state, ok := block.(*contract.BrowserState); ok {
			return state, nil
		}
	}
	return nil, errNoState
}

func noState(_ string, res contract.ToolResult) error {
	if _, err := stateOf(res); err == nil {
		return errors.New("it has a browser_state")
	}
	return nil
}

func tabs(want string, res contract.ToolResult) error {
	state, err := stateOf(res)
	if err != nil {
		return err
	}
	if got := strconv.Itoa(len(state.Tabs)); got != want {
		return fmt.Errorf("it lists %s tabs", got)
	}
	return nil
}

func activeTab(res contract.ToolResult) (contract.Tab, error) {
	state, err := stateOf(res)
	if err != nil {
		return contract.Tab{}, err
	}
	tab, ok := state.Active()
	if !ok {
		return tab, errors.New("no tab is active")
	}
	return tab, nil
}

func active(want string, res contract.ToolResult) error {
	return same(want, res, func(t contract.Tab) string { return t.TabID })
}

func activeNot(id string, res contract.ToolResult) error {
	tab, err := activeTab(res)
	if err == nil && tab.TabID == id {
		err = fmt.Errorf("%s is active", id)
	}
	return err
}

func title(t contract.Tab) string   { return t.Title }
func address(t contract.Tab) string { return t.URL }

func same(want string, res contract.ToolResult, field func(contract.Tab) string) error {
	tab, err := activeTab(res)
	if err == nil && field(tab) != want {
		err = fmt.Errorf("it is %s", brief(field(tab)))
	}
	return err
}

func within(most string, res contract.ToolResult, field func(contract.Tab) string) error {
	limit, err := number(most)
	if err != nil {
		return err
	}
	tab, err := activeTab(res)
	if n := utf8.RuneCountInString(field(tab)); err == nil && (n > limit || n < limit/2) {
		err = fmt.Errorf("it has %d characters", n)
	}
	return err
}

// changes compares the types of the state changes; nothing wanted means that there are none.
func changes(want string, res contract.ToolResult) error {
	state, err := stateOf(res)
	if err != nil {
		if want == "" {
			return nil
		}
		return err
	}
	types := make([]string, len(state.StateChanges))
	for i, change := range state.StateChanges {
		types[i] = string(change.Type)
	}
	if got := strings.Join(types, " "); got != want {
		return fmt.Errorf("its state changes are %q", got)
	}
	return nil
}

func opensActive(_ string, res contract.ToolResult) error {
	tab, err := activeTab(res)
	if err != nil {
		return err
	}
	state, err := stateOf(res)
	if err != nil {
		return err
	}
	var opened []string
	for _, change := range state.StateChanges {
		if change.Type == contract.TabOpened {
			opened = append(opened, change.TabID)
		}
	}
	if !slices.Equal(opened, []string{tab.TabID}) {
		return fmt.Errorf("%s is active, opened are %q", tab.TabID, opened)
	}
	return nil
}

func size(want string, res contract.ToolResult) error {
	state, err := stateOf(res)
	if err != nil {
		return err
	}
	for _, change := range state.StateChanges {
		if change.Type != contract.DownloadCompleted {
			continue
		}
		if change.SizeBytes != nil && strconv.FormatInt(*change.SizeBytes, 10) != want {
			return fmt.Errorf("it has %d bytes", *change.SizeBytes)
		}
		return nil
	}
	return errors.New("it has no finished download")
}

// picture is the result's only image.
func picture(res contract.ToolResult) (contract.Image, error) {
	var found []contract.Image
	for _, block := range res.Content {
		if i, ok := block.(contract.Image); ok {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return contract.Image{}, fmt.Errorf("it has %d images", len(found))
	}
	return found[0], nil
}

func dimensions(res contract.ToolResult) (w, h int, err error) {
	i, err := picture(res)
	if err != nil {
		return 0, 0, err
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(i.Data))
	return config.Width, config.Height, err
}

func imageSize(want string, res contract.ToolResult) error {
	w, h, err := dimensions(res)
	if got := fmt.Sprintf("%dx%d", w, h); err == nil && want != "" && got != want {
		err = fmt.Errorf("it is %s", got)
	}
	return err
}

func imageWithin(most string, res contract.ToolResult) error {
	w, h, err := dimensions(res)
	if err != nil {
		return err
	}
	mostW, mostH, err := pair(most, "x")
	if err == nil && (w > mostW || h > mostH || w < mostW && h < mostH) {
		err = fmt.Errorf("it is %dx%d", w, h)
	}
	return err
}

func imageRatio(want string, res contract.ToolResult) error {
	w, h, err := dimensions(res)
	if err != nil {
		return err
	}
	ratioW, ratioH, err := pair(want, ":")
	if err != nil {
		return err
	}
	if off := w*ratioH - h*ratioW; max(off, -off) > max(ratioW, ratioH) {
		return fmt.Errorf("it is %dx%d", w, h)
	}
	return nil
}

func pixel(args string, res contract.ToolResult) error {
	i, err := picture(res)
	if err != nil {
		return err
	}
	at, colour, _ := strings.Cut(args, " ")
	x, y, err := pair(at, ",")
	if err != nil {
		return err
	}
	want, err := strconv.ParseUint(colour, 16, 24)
	if err != nil {
		return err
	}
	decoded, _, err := image.Decode(bytes.NewReader(i.Data))
	if err != nil {
		return err
	}
	r, g, b, _ := decoded.At(x, y).RGBA()
	const tolerance = 24 // of 255, which JPEG may need
	for shift, part := range []uint32{b, g, r} {
		if off := int(part>>8) - int(want>>(8*shift)&0xff); max(off, -off) > tolerance {
			return fmt.Errorf("it is %02x%02x%02x there", r>>8, g>>8, b>>8)
		}
	}
	return nil
}

func captured(_ string, res contract.ToolResult) error {
	if _, err := stateOf(res); err != nil {
		return nil
	}
	if !slices.Contains(strings.Split(ownText(res), "\n"), "Screenshot captured.") {
		return fmt.Errorf("it has a browser_state and the text %s", brief(ownText(res)))
	}
	return nil
}

func hasText(_ string, res contract.ToolResult) error {
	if strings.TrimSpace(ownText(res)) == "" {
		return errors.New("it has none")
	}
	return nil
}

func starts(want string, res contract.ToolResult) error {
	if own := ownText(res); !strings.HasPrefix(own, want) {
		return fmt.Errorf("it is %s", brief(own))
	}
	return nil
}

func characters(most string, res contract.ToolResult) error {
	limit, err := number(most)
	if n := utf8.RuneCountInString(ownText(res)); err == nil && n > limit {
		err = fmt.Errorf("it has %d", n)
	}
	return err
}

func lines(most string, res contract.ToolResult) error {
	limit, err := number(most)
	if n := strings.Count(ownText(res), "\n") + 1; err == nil && n > limit {
		err = fmt.Errorf("it has %d", n)
	}
	return err
}

// ownText joins the result's own text blocks.
func ownText(res contract.ToolResult) string {
	var texts []string
	for _, block := range res.Content {
		if text, ok := block.(contract.Text); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}

func pair(text, separator string) (a, b int, err error) {
	first, second, _ := strings.Cut(text, separator)
	if a, err = number(first); err != nil {
		return 0, 0, err
	}
	b, err = number(second)
	return a, b, err
}

// brief quotes a text for an error message, bounded.
func brief(text string) string {
	const most = 200
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return strconv.Quote(text)
}
