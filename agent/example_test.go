package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/agent"
)

// A task in, an answer out. A Go function is one more tool of the model.
func ExampleRun() {
	ctx := context.Background()
	browser, err := pagehand.Launch(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer browser.Close()
	session, err := browser.NewSession(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	client, err := agent.NewClient(ctx, agent.Access{}) // the key is in ANTHROPIC_API_KEY
	if err != nil {
		log.Fatal(err)
	}
	type amount struct {
		Dollars float64 `json:"dollars" jsonschema:"the amount in US dollars"`
	}
	francs, err := agent.NewTool("to_francs", "Converts dollars to francs.", func(_ context.Context, in amount) (string, error) {
		return fmt.Sprintf("%.2f", 0.8*in.Dollars), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	outcome, err := agent.Run(ctx, "What does the Pro plan on example.com cost in francs?", agent.Options{
		Client:       client,
		Model:        agent.Claude.DefaultModel(),
		Session:      session,
		Tools:        []agent.Tool{francs},
		DollarBudget: 0.50,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outcome.Reason, outcome.Answer)
}
