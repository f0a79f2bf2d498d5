package main

import (
	"context"
	"fmt"

	"github.com/pagehand/pagehand/site"
)

// siteCmd serves the sample site.
type siteCmd struct {
	Addr string `placeholder:"HOST:PORT" default:"127.0.0.1:0" help:"Loopback address to listen on; port 0 is any free one. Default: ${default}."`
}

// Run prints the site's address on standard output, for programs, and tells the rest to people.
func (c *siteCmd) Run(ctx context.Context, std *streams) error {
	s, err := site.Start(ctx, c.Addr)
	if err != nil {
		return err
	}
	fmt.Fprintln(std.out, s.URL())
	fmt.Fprintf(std.err, "The frames page also uses %s (another origin) and %s (another site). Ctrl-C ends it.\n", s.SecondPortURL(), s.OtherHostURL())
	<-ctx.Done()
	return s.Close()
}
