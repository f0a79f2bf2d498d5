package agent

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand/contract"
)

// What a long run keeps in its context. Where the API can clear old results itself, it does; what it clears still has to be sent, and
// so the limits on a request's size hold in any case. Each time that something is taken out, what was cached behind it is lost, and on
// the newest models later thinking may become invalid (contract §8): so it is done rarely and then thoroughly.
const (
	keepMessages  = 4        // the newest messages with results stay as they are
	batchMessages = 6        // so many others must have gathered
	maxImages     = 80       // of a request; the API takes at least 100
	maxBytes      = 24 << 20 // of a request; the API takes 32 MiB
	fullShare     = 0.6      // of the window
	longText      = 1000     // characters; a result's text that is longer counts as a reading
)

const contextBeta = sdk.AnthropicBetaContextManagement2025_06_27

// manageContext asks the API to clear old tool results when the context grows, where the model has that.
func (r *run) manageContext() {
	if r.meter.facts == nil || !r.meter.facts.ContextEditing {
		return
	}
	trigger := int64(150_000)
	if size := int64(r.meter.facts.ContextWindow); size > 0 {
		trigger = min(trigger, size/2)
	}
	edit := sdk.BetaClearToolUses20250919EditParam{
		Trigger:      sdk.BetaClearToolUses20250919EditTriggerUnionParam{OfInputTokens: &sdk.BetaInputTokensTriggerParam{Value: trigger}},
		Keep:         sdk.BetaToolUsesKeepParam{Value: 12},
		ClearAtLeast: sdk.BetaInputTokensClearAtLeastParam{Value: trigger / 5}, // so that the lost cache is worth it
	}
	r.params.SetExtraFields(map[string]any{
		"context_management": sdk.BetaContextManagementConfigParam{Edits: []sdk.BetaContextManagementConfigEditUnionParam{{OfClearToolUses20250919: &edit}}},
	})
	r.betas = append(r.betas, contextBeta)
}

// prune takes old screenshots and readings out of the conversation when it has grown too large.
func (r *run) prune() {
	if r.tooLarge() {
		r.shrinkOld(batchMessages)
	}
}

// shrinkOld shrinks the messages with results except the newest, when at least so many have gathered, and reports whether it did.
func (r *run) shrinkOld(atLeast int) bool {
	var old []int
	for i := r.shrunk; i < len(r.conversation); i++ {
		if r.conversation[i].role == "user" {
			old = append(old, i)
		}
	}
	if len(old) < keepMessages+atLeast {
		return false
	}
	old = old[:len(old)-keepMessages]
	count := 0
	for _, i := range old {
		count += shrink(&r.conversation[i])
	}
	r.shrunk = old[len(old)-1] + 1
	if count > 0 {
		r.note(fmt.Sprintf("%d old pictures and readings were taken out of the context.", count))
	}
	return count > 0
}

// tooLarge reports whether the conversation comes near a limit.
func (r *run) tooLarge() bool {
	images, bytes := 0, 0
	for _, m := range r.conversation {
		for _, block := range m.blocks {
			bytes += len(block)
			images += countImages(block)
		}
	}
	if images > maxImages || bytes > maxBytes {
		return true
	}
	return len(r.betas) == 0 && r.meter.window().Share() > fullShare
}

// countImages counts the images of an encoded result.
func countImages(block json.RawMessage) int {
	var result struct {
		Content []struct {
			Type string `json:"type"`
		} `json:"content"`
	}
	if err := json.Unmarshal(block, &result); err != nil {
		return 0
	}
	n := 0
	for _, b := range result.Content {
		if b.Type == "image" {
			n++
		}
	}
	return n
}

// shrink puts a line in the place of each picture and each long text of a message's results, and returns how many there were.
func shrink(m *message) int {
	count := 0
	for i, block := range m.blocks {
		var result contract.ToolResult
		if err := json.Unmarshal(block, &result); err != nil {
			continue // a text of the person
		}
		n := count
		for j, b := range result.Content {
			switch b := b.(type) {
			case contract.Image:
				result.Content[j] = contract.Text{Text: "[An old picture was taken out here. Take a new one if you need it.]"}
				count++
			case contract.Text:
				if size := utf8.RuneCountInString(b.Text); size > longText && !result.IsError {
					result.Content[j] = contract.Text{Text: fmt.Sprintf("[An old text of %d characters was taken out here. Read again what you need.]", size)}
					count++
				}
			}
		}
		if count > n {
			m.blocks[i] = encode(result)
		}
	}
	return count
}
