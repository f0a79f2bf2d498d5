package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pagehand/pagehand/api"
	"github.com/pagehand/pagehand/site"
)

// apiCmd serves a local Messages API.
type apiCmd struct {
	Script path   `placeholder:"FILE" help:"What the model does (YAML, see below). Default: a small script on the sample site."`
	Addr   string `placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Loopback address to listen on; port 0 is any free one. Default: ${default}."`
	Record path   `placeholder:"DIR" help:"Folder that gets a recording of each conversation (JSON Lines)."`
	Models path   `placeholder:"FILE" help:"YAML file with models that are not known here, or are different by now."`
	Site   bool   `help:"Also serve the sample site, whose address takes the place of {{origin}} in the script, and of {{other}} on another host. The default script does so anyway."`
}

// Help is shown by pagehand api --help.
func (*apiCmd) Help() string {
	return `It prints its address on standard output, and the sample site's on a second line. Point any client at it with ANTHROPIC_BASE_URL or --base-url, with any key. Each request is checked as the API does. What was not as it must be is told on standard error; GET /transcripts lists the conversations as the model reads them.

A script is a list of steps:

    steps:
      - calls: |
          # What the model says.
          find {"query": "search field"}
          > textbox "Search docs"

          left_click {"target": {"type": "ref", "ref": {"role": "textbox", "name": "Search docs"}}}
          /get_weather {"city": "Oslo"}
      - ask: Did you ask for this?
      - when: {reads: "yes"}
        then: [{end: Then it is done.}]
        else: []
      - repeat: {until: {reads: entries loaded}, most: 5, steps: [{calls: "wait {\"duration\": 1}"}]}
      - fault: rate_limit
        retry_after: 1
      - end: It costs $29.

calls: turns, as the demo has them. Lines that begin with "#" are what the model says, a blank line ends a turn, "/" comes before other tools' names. Below a call: "> text" its result must contain, "- text" must not, "! text" an error it must be. ref: role and name of an element of the latest reading (nth for one of several), or "textbox 'Search docs'".

ask: says something and goes on when the user has answered. end: says something, and the script is over.

when: what was read since the model's last turn (reads, lacks or both). repeat: until something was read; most is how many rounds at most.

fault: what goes wrong, at most "times" times (1), before the script goes on:
  overloaded, rate_limit, api, timeout, invalid_request, authentication, billing, permission, not_found, request_too_large (retry_after),
  cut_stream (after: blocks that arrive whole), error_event (after, error), slow (pings, every), max_tokens, context_window,
  pause_turn (says), refusal (says), stop_sequence (says, sequence).

The usage that it counts is estimated.

Exit status when a signal ends it: 1 when the API would have rejected a request or a result was not what the script expects, else 0; warnings do not count. 2 when the script can't be used.`
}

// Run serves until a signal comes.
func (c *apiCmd) Run(ctx context.Context, std *streams, log *slog.Logger) error {
	source, script, err := c.source()
	if err != nil {
		return unusable(err)
	}
	var shop *site.Site
	if c.Site || c.Script == "" {
		if shop, err = site.Start(ctx, "127.0.0.1:0"); err != nil {
			return err
		}
		defer shop.Close()
		script = strings.NewReplacer("{{origin}}", shop.URL(), "{{other}}", shop.OtherHostURL()).Replace(script)
	} else if strings.Contains(script, "{{origin}}") || strings.Contains(script, "{{other}}") {
		return unusable(fmt.Errorf("%s: {{origin}} and {{other}} stand for the sample site, which takes --site", source))
	}
	parsed, err := api.ParseScript([]byte(script))
	if err != nil {
		return unusable(fmt.Errorf("%s: %w", source, err))
	}
	table, err := modelTable(string(c.Models))
	if err != nil {
		return unusable(fmt.Errorf("--models: %w", err))
	}
	if c.Record != "" {
		if err := os.MkdirAll(string(c.Record), 0o700); err != nil {
			return unusable(err)
		}
	}
	listener, err := listenLoopback(ctx, c.Addr)
	if err != nil {
		return unusable(err)
	}
	server := api.New(api.Options{Script: parsed, Record: string(c.Record), Models: table, Log: log})
	address := "http://" + listener.Addr().String()
	fmt.Fprintln(std.out, address)
	if shop != nil {
		fmt.Fprintln(std.out, shop.URL())
		fmt.Fprintf(std.err, "Try it: ANTHROPIC_API_KEY=any pagehand run --base-url %s --allow-private=%s \"How do I install the library?\"\n", address, strings.TrimPrefix(shop.URL(), "http://"))
	}
	fmt.Fprintf(std.err, "What the model reads: %s/transcripts. Ctrl-C ends it.\n", address)
	if err := serve(ctx, listener, server); err != nil {
		return err
	}
	wrong := slices.DeleteFunc(server.Findings(), func(f api.Finding) bool { return f.Warning })
	if len(wrong) > 0 {
		return fmt.Errorf("findings: %d", len(wrong))
	}
	return nil
}

// source reads the script, and names it.
func (c *apiCmd) source() (name, text string, err error) {
	if c.Script == "" {
		return "the default script", string(api.DefaultScript), nil
	}
	data, err := os.ReadFile(string(c.Script))
	return string(c.Script), string(data), err
}

func listenLoopback(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is not a loopback address; the API serves loopback only", addr)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", addr)
}

// serve serves until the context ends, and then lets requests that are being answered end.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	const patience = 2 * time.Second
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := server.Shutdown(bounded); err != nil {
		err = server.Close() // whoever still streams
		<-ended
		return err
	}
	<-ended
	return nil
}
