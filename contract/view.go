package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/jpeg" // for the size of a JPEG
	_ "image/png"  // for the size of a PNG
	"slices"
	"strings"
)

// View renders the results of one conversation as the text that the model reads (contract §6). The API renders the same
// from the blocks, so a View's text is for logs, other protocols and tests, and never goes into a result sent to the API.
//
// A View remembers the tabs of the last footer, because identical tabs are not rendered again. The zero value is ready
// for a new conversation. It is not safe for concurrent use.
type View struct {
	shown []Tab // tabs of the last footer; nil before the first
}

// Render returns what the model reads of res, the result of use. Results must come in the conversation's order.
//
// Blocks follow each other on a line of their own. An image is shown as "[image: image/png, 1280x720]", its size in
// pixels read from a PNG or JPEG; any other as "[image: image/webp, 5120 bytes]". Download lines and the Tab Context
// footer follow the last text, each after a blank line.
func (v *View) Render(use ToolUse, res ToolResult) string {
	parts, last, state := renderBlocks(res.Content)
	if res.IsError || state == nil {
		return strings.Join(parts, "\n")
	}
	downloads := renderDownloads(state.StateChanges)
	if text, ok := renderTabs(use, state); ok {
		return paragraphs(text, downloads)
	}
	if last < 0 {
		if downloads == "" {
			return strings.Join(parts, "\n") // no text: the footer is neither rendered nor remembered
		}
		parts, last = append(parts, ""), len(parts)
	}
	parts[last] = paragraphs(parts[last], downloads, v.footer(use, state))
	return strings.Join(parts, "\n")
}

// renderBlocks renders the text and image blocks; last is the index of the last text, or -1.
func renderBlocks(content []Block) (parts []string, last int, state *BrowserState) {
	last = -1
	for _, block := range content {
		switch block := block.(type) {
		case Text:
			last = len(parts)
			parts = append(parts, block.Text)
		case Image:
			parts = append(parts, renderImage(block))
		case *BrowserState:
			state = block
		}
	}
	return parts, last, state
}

func renderImage(i Image) string {
	config, _, err := image.DecodeConfig(bytes.NewReader(i.Data))
	if err != nil {
		return fmt.Sprintf("[image: %s, %d bytes]", i.MediaType, len(i.Data))
	}
	return fmt.Sprintf("[image: %s, %dx%d]", i.MediaType, config.Width, config.Height)
}

// renderTabs renders the result of a tab-management member; false means that use is of another member.
func renderTabs(use ToolUse, state *BrowserState) (string, bool) {
	switch use.Name {
	case "switch_tab":
		return "Switched to tab " + tabInput(use), true
	case "close_tab":
		return "Closed tab " + tabInput(use), true
	case "new_tab":
		tab, _ := state.Active()
		return fmt.Sprintf("Created new tab with tab_id: %s, URL: %s. It is now the current tab.", tab.TabID, tab.URL), true
	case "list_tabs":
		if len(state.Tabs) == 0 {
			return "No tabs available", true
		}
		var b strings.Builder
		b.WriteString("Available tabs:")
		for _, tab := range state.Tabs {
			b.WriteString(tabLine(tab))
			if tab.Active {
				b.WriteString(" (current)")
			}
		}
		return b.String(), true
	default:
		return "", false
	}
}

// footer renders the Tab Context of a result that has text, or nothing when the model already has it.
func (v *View) footer(use ToolUse, state *BrowserState) string {
	on := tabInput(use)
	if use.Name == "zoom" || on == "" && len(state.Tabs) == 0 {
		return ""
	}
	if v.shown != nil && slices.Equal(v.shown, state.Tabs) {
		return ""
	}
	v.shown = append([]Tab{}, state.Tabs...)
	if on == "" {
		tab, _ := state.Active()
		on = tab.TabID
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tab Context:\n- Executed on tab_id: %s\n- Available tabs:", on)
	for _, tab := range state.Tabs {
		b.WriteString(tabLine(tab))
	}
	return b.String()
}

func tabLine(tab Tab) string {
	return fmt.Sprintf("\n  • tab_id %s: %s (%s)", tab.TabID, quoted(tab.Title), tab.URL)
}

// renderDownloads renders one line per download, in the order of the changes.
func renderDownloads(changes []StateChange) string {
	var lines []string
	for _, c := range changes {
		var line string
		switch c.Type {
		case DownloadStarted:
			line = "Download started"
		case DownloadCompleted:
			line = "Download completed"
		case DownloadFailed:
			line = "Download failed"
		default:
			continue
		}
		line += fmt.Sprintf(" with download_id: %s, URL: %s.", c.DownloadID, quoted(c.URL))
		if c.Path != "" {
			line += fmt.Sprintf(" Saved to %s.", quoted(c.Path))
		}
		if c.SizeBytes != nil {
			line += fmt.Sprintf(" Size: %d bytes.", *c.SizeBytes)
		}
		if c.Error != "" {
			line += fmt.Sprintf(" Error: %s.", quoted(c.Error))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// tabInput returns the call's tab_id, empty when it names none.
func tabInput(use ToolUse) string {
	var input object // a struct would take "Tab_ID" too
	if err := json.Unmarshal(use.Input, &input); err != nil {
		return ""
	}
	id, _ := input.text("tab_id")
	return id
}

var quoteEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quoted puts s in double quotes as the API does: only quotes and backslashes are escaped.
func quoted(s string) string { return `"` + quoteEscapes.Replace(s) + `"` }

// paragraphs joins what is not empty with blank lines.
func paragraphs(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	return strings.Join(texts, "\n\n")
}
