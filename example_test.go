package pagehand_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/site"
)

// A turn of three calls on the sample site: the last one fails and tells the model why.
func Example() {
	ctx := context.Background()
	shop, err := site.Start(ctx, "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer shop.Close()

	browser, err := pagehand.Launch(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer browser.Close()

	// The sample site is on a loopback address, which sessions may not open unless told so.
	destinations, err := egress.Parse(egress.Options{AllowPrivate: true})
	if err != nil {
		log.Fatal(err)
	}
	session, err := browser.NewSession(ctx, &pagehand.SessionOptions{Destinations: destinations})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	// What the API answered: an assistant message with the calls of one turn.
	response := fmt.Sprintf(`{"role": "assistant", "stop_reason": "tool_use", "content": [
		{"type": "text", "text": "I look for the search button."},
		{"type": "tool_use", "id": "toolu_1", "name": "navigate", "toolset_name": "browser", "input": {"url": %q}},
		{"type": "tool_use", "id": "toolu_2", "name": "find", "toolset_name": "browser", "input": {"query": "search button"}},
		{"type": "tool_use", "id": "toolu_3", "name": "left_click", "toolset_name": "browser", "input": {"target": {"type": "ref", "ref": "ref_99"}}}]}`,
		shop.URL()+"/docs")
	turn, err := contract.DecodeTurn([]byte(response))
	if err != nil {
		log.Fatal(err)
	}
	results := session.RunTurn(ctx, turn.Calls)

	// What to send next: the user message with a result for each call.
	var request bytes.Buffer
	if err := contract.NewMessage(results).Encode(&request); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(request.String(), `{"role":"user","content":[{`))
	for _, r := range results[1:] {
		line, _, _ := strings.Cut(r.Content[0].(contract.Text).Text, "\n")
		fmt.Println(r.ToolUseID, line)
	}
	// Output:
	// true
	// toolu_2 button "Search" [ref_1]
	// toolu_3 Error: ref_99 is stale or not found on the current page. Re-read the page to get fresh references.
}
