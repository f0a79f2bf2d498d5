package pagehand_test

import (
	"context"
	"encoding/json"
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

	call := func(id, member, input string) pagehand.Call {
		return pagehand.Call{ID: id, Name: member, ToolsetName: contract.ToolsetName, Input: json.RawMessage(input)}
	}
	results := session.RunTurn(ctx, []pagehand.Call{
		call("toolu_1", "navigate", fmt.Sprintf(`{"url":%q}`, shop.URL()+"/docs")),
		call("toolu_2", "find", `{"query":"search button"}`),
		call("toolu_3", "left_click", `{"target":{"type":"ref","ref":"ref_99"}}`),
	})
	for _, r := range results[1:] {
		line, _, _ := strings.Cut(r.Content[0].(contract.Text).Text, "\n")
		fmt.Println(r.ToolUseID, line)
	}
	// Output:
	// toolu_2 button "Search" [ref_1]
	// toolu_3 Error: ref_99 is stale or not found on the current page. Re-read the page to get fresh references.
}
