package check

import "slices"

// Rule is something that must hold.
type Rule struct {
	// ID is stable.
	ID string `json:"id"`
	// Section is the contract's, where the rule comes from.
	Section string `json:"section"`
	// Text says the rule in one sentence.
	Text string `json:"text"`
	// Warning tells that the API does not reject a request that breaks it.
	Warning bool `json:"warning,omitempty"`
}

const warning = true

// rules is the one table of rules. What §7 calls documented examples comes first; where a rule is not of the contract but of the
// public documentation of the Messages API, its text says so.
var rules = []Rule{
	// The body and its messages.
	{"json", "7", "The input is JSON.", false},
	{"json-duplicate-key", "7", "A key occurs once in an object: readers disagree on which one counts.", warning},
	{"request-shape", "7", "A request has a model, a max_tokens that is not negative and messages, each field of its type.", false},
	{"message-shape", "7", "A message has a role and content, a text or a list of blocks with types, that is empty only in the assistant's last message (docs).", false},
	{"text-blank", "7", "A text of a message is not only white space (docs).", false},
	{"message-field", "7", "A message has no other fields than role and content (docs).", false},
	{"model-toolset", "7", "The model supports the toolset.", false},
	{"model-unknown", "9", "The model is in the table, so that its limits are known.", warning},
	{"beta-fine-grained", "7", "The beta header fine-grained-tool-streaming-2025-05-14 does not come with the toolset.", false},
	{"cache-markers", "8", "A request has at most four cache_control markers (docs).", false},

	// The toolset entry.
	{"entry-name", "7", "The toolset entry has no name.", false},
	{"entry-strict", "7", "The toolset entry does not take strict, unless it is false.", false},
	{"entry-input-examples", "7", "The toolset entry does not take input_examples.", false},
	{"entry-defer-loading", "7", "The toolset entry does not take defer_loading: it is set on members.", false},
	{"entry-field", "2", "The toolset entry takes type, configs, cache_control and allowed_callers only.", false},
	{"entry-callers", "7", "allowed_callers is [\"direct\"] or absent: no code execution tool calls members.", false},
	{"entry-second", "7", "A request has one browser toolset entry.", false},
	{"entry-name-taken", "7", "No other tool is named browser.", false},
	{"entry-missing", "1", "A conversation with member calls declares the toolset.", warning},
	{"configs-shape", "2", "configs is an object of objects whose fields are booleans.", false},
	{"configs-member", "7", "The keys of configs are names of members.", false},
	{"configs-field", "7", "A member's value in configs takes enabled and defer_loading only.", false},
	{"configs-defer-mixed", "7", "defer_loading has the same value on every enabled member.", false},
	{"configs-none", "7", "configs leaves a member enabled.", false},
	{"entry-cache-deferred", "7", "There is no cache_control on an entry whose members defer.", warning},
	{"entry-defer-search", "7", "There is a tool search tool when all members defer.", warning},
	{"tool-name-twice", "7", "No two tools have one name (docs).", false},
	{"tool-choice-unknown", "7", "tool_choice names a tool of the request (docs).", false},
	{"tool-choice", "7", "tool_choice does not name browser or a member, unless another tool has that name.", false},

	// Calls and results find each other.
	{"call-shape", "1", "A tool_use block has an id, a name and an object as its input.", false},
	{"call-id", "1", "The ids of tool_use blocks are unique (docs).", false},
	{"call-id-form", "1", "The id of a tool_use block has only letters, digits, underscores and hyphens (docs).", false},
	{"call-action", "1", "The input of a member call has no action: the name says what to do.", warning},
	{"result-shape", "1", "A tool_result block has a tool_use_id, a boolean is_error if any, and content that is a text or a list of blocks.", false},
	{"result-missing", "7", "Every call is answered in the next user message.", false},
	{"result-unknown", "1", "A result answers a call of the turn before it.", false},
	{"result-twice", "1", "A call is answered once.", false},
	{"result-toolset-name", "7", "The result of a member call has toolset_name \"browser\".", false},
	{"result-other-toolset-name", "7", "The result of another call has that call's toolset_name, or none if it had none.", false},
	{"result-first", "1", "The results are the first blocks of their message (docs).", false},
	{"result-one-message", "1", "All results of a turn are in one message.", warning},
	{"result-order", "1", "Results come in the order of the calls.", warning},
	{"result-block", "7", "The result of a member holds text, image and browser_state blocks only.", false},
	{"result-field", "7", "A result and its blocks have only the fields that their types declare (docs).", false},
	{"result-text", "4", "A text block of a result has a text, which is not empty (docs).", false},

	// Failures.
	{"error-text", "7", "An error result holds text only.", false},
	{"error-empty", "1", "An error result is not empty.", false},
	{"error-prefix", "1", "An error text begins with \"Error: \", unless it is the halt text.", warning},
	{"halt", "1", "After a failure every later member call of the turn gets is_error and exactly the halt text.", warning},
	{"halt-unfounded", "1", "The halt text answers only calls after a failure, as an error.", warning},

	// What members return.
	{"tab-result", "7", "The result of a successful tab-management call is exactly one browser_state block.", false},
	{"new-tab-opened", "7", "The block of a new_tab result has exactly one tab_opened, which names the active tab.", false},
	{"tab-input", "5", "A switch_tab or close_tab call whose tab_id breaks the limits gets an error result.", false},
	{"screenshot-image", "4", "A successful screenshot or zoom has an image, at least in the newest results of a request.", warning},
	{"screenshot-text", "4", "A screenshot that carries a browser_state has a text too.", warning},
	{"screenshot-size", "3", "All screenshots of a session have one size.", warning},
	{"member-text", "4", "A successful result of any other member has a text.", warning},
	{"input-accepted", "3", "A call whose input §4 does not allow gets an error result.", warning},
	{"unknown-accepted", "2", "A call of a name that is no member gets an error result.", warning},
	{"disabled-accepted", "2", "A call of a member that is not enabled gets an error result.", warning},
	{"read-limit", "4", "What read_page returns has at most 50,000 characters.", warning},
	{"find-limit", "4", "What find returns has at most 20 elements.", warning},
	{"rendered-text", "1", "No text that the API renders (footer, tab lines, download lines) is in a result.", warning},

	// Images.
	{"image-source", "1", "An image of a member's result is base64 with the media type of a PNG, JPEG, GIF or WebP.", false},
	{"image-data", "3", "An image's data is an image.", false},
	{"image-media-type", "3", "An image's media type is that of its data (docs).", false},
	{"image-size", "7", "An image of a toolset's result is within the model's limits: the API never downscales it.", false},
	{"image-many", "7", "With more than 20 images in a request none has more than 2,000 pixels on a side.", false},
	{"image-count", "3", "A request has no more images than the model takes (docs).", false},

	// The browser_state block.
	{"state-on-error", "7", "An error result has no browser_state.", false},
	{"state-on-other", "7", "A browser_state is only in the result of a member call.", false},
	{"state-twice", "7", "A result has at most one browser_state.", false},
	{"state-shape", "5", "A browser_state has all its fields, each of its type.", false},
	{"state-field", "7", "A browser_state, its tabs and its changes have only the fields that they declare.", false},
	{"state-tabs", "5", "A browser_state lists at most 100 tabs.", false},
	{"state-changes", "5", "A browser_state lists at most 200 state changes.", false},
	{"state-no-changes", "7", "state_changes is not empty: without a change it is left out.", false},
	{"state-active", "7", "Of the tabs exactly one is active, unless there is none.", false},
	{"state-text", "5", "A string of a browser_state has at most 4,096 characters.", false},
	{"state-control", "5", "A string of a browser_state has no control character and no line or paragraph separator.", false},
	{"tab-id-empty", "5", "A tab_id is not empty.", false},
	{"tab-id-twice", "7", "Two tabs do not have one tab_id.", false},
	{"tab-id-reused", "5", "A tab_opened does not name a tab that the result before lists as open.", false},
	{"change-type", "5", "A state change is a tab_opened, download_started, download_completed or download_failed.", false},
	{"tab-opened-listed", "7", "A tab_opened names a tab of the inventory.", false},
	{"tab-opened-twice", "5", "A tab is opened once.", false},
	{"download-id-empty", "5", "A download_id is not empty.", false},
	{"download-twice", "7", "A browser_state has at most one change for a download_id.", false},
	{"download-size", "5", "size_bytes is not negative.", false},
	{"download-repeated", "5", "Each event of a download is reported once, and nothing follows its end.", warning},
	{"active-changed", "4", "Only new_tab, switch_tab and the closing of the active tab change the active tab.", warning},
	{"switch-active", "4", "After switch_tab the tab it names is active.", warning},
	{"closed-listed", "4", "After close_tab the tab it names is not in the inventory.", warning},
}

var ruleByID = func() map[string]Rule {
	byID := make(map[string]Rule, len(rules))
	for _, r := range rules {
		byID[r.ID] = r
	}
	return byID
}()

// Rules lists all rules.
func Rules() []Rule { return slices.Clone(rules) }

// ruleOf returns a rule of the table. Another id is a bug of this package.
func ruleOf(id string) Rule {
	r, ok := ruleByID[id]
	if !ok {
		panic("check: there is no rule " + id)
	}
	return r
}
