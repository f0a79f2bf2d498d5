// Command go is a task in, an answer out: the Anthropic Go SDK with Pagehand as the browser.
//
//	go run ./examples/go [-url URL] [-allow-private] TASK
//
// The SDK takes the key and the API's address from ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/anthropic"
	"github.com/pagehand/pagehand/egress"
)

const mostTurns = 100

func main() {
	log.SetFlags(0)
	url := flag.String("url", "", "page to open first")
	private := flag.Bool("allow-private", false, "also allow loopback and private addresses")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("Usage: go run ./examples/go [-url URL] [-allow-private] TASK")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // so that the browser is closed
	defer stop()
	if err := run(ctx, flag.Arg(0), *url, *private); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, task, url string, private bool) error {
	destinations, err := egress.Parse(egress.Options{AllowPrivate: private})
	if err != nil {
		return err
	}
	browser, err := pagehand.Launch(ctx, nil)
	if err != nil {
		return err
	}
	defer browser.Close()
	session, err := browser.NewSession(ctx, &pagehand.SessionOptions{Destinations: destinations})
	if err != nil {
		return err
	}
	if url != "" {
		if err := session.Open(ctx, url); err != nil {
			return err
		}
	}

	client := sdk.NewClient()
	params := sdk.MessageNewParams{
		Model:     cmp.Or(os.Getenv("ANTHROPIC_MODEL"), "claude-sonnet-5"),
		MaxTokens: 4096,
		Messages:  []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(task))},
		Tools:     []sdk.ToolUnionParam{anthropic.Tool()}, // the browser's first line
	}
	for range mostTurns {
		message, err := send(ctx, client, params)
		if err != nil {
			return err
		}
		show(message)
		results := anthropic.RunTurn(ctx, session, message) // and the others
		if len(results) == 0 {
			return nil
		}
		params.Messages = append(params.Messages, message.ToParam(), sdk.NewUserMessage(results...))
	}
	return fmt.Errorf("no answer after %d turns", mostTurns)
}

// send has the reply streamed and returns it when it is complete: only then may its calls be run.
func send(ctx context.Context, client sdk.Client, params sdk.MessageNewParams) (*sdk.Message, error) {
	stream := client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var message sdk.Message
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return &message, stream.Err()
}

// show prints what the model says, and on standard error what it calls.
func show(message *sdk.Message) {
	for _, block := range message.Content {
		switch block.Type {
		case "text":
			fmt.Println(block.Text)
		case "tool_use":
			fmt.Fprintf(os.Stderr, "  %s %s\n", block.Name, block.Input)
		}
	}
}
