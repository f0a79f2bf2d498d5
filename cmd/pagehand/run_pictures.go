package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// pictureProtocol shows a small picture on a terminal.
type pictureProtocol func(out io.Writer, i contract.Image)

// terminalPictures is how the terminal shows pictures, by what it says of itself; nil: it doesn't, or a multiplexer is between.
func terminalPictures(getenv func(string) string) pictureProtocol {
	program := getenv("TERM_PROGRAM")
	switch {
	case getenv("TMUX") != "", strings.HasPrefix(getenv("TERM"), "screen"), strings.HasPrefix(getenv("TERM"), "tmux"):
		return nil
	case getenv("KITTY_WINDOW_ID") != "", getenv("TERM") == "xterm-kitty", strings.EqualFold(program, "ghostty"), getenv("TERM") == "xterm-ghostty":
		return kittyPicture
	case program == "iTerm.app", program == "WezTerm", getenv("LC_TERMINAL") == "iTerm2":
		return itermPicture
	}
	return nil
}

const pictureColumns = 48

// kittyPicture speaks the kitty graphics protocol: PNG in chunks of at most 4,096 characters.
func kittyPicture(out io.Writer, i contract.Image) {
	if i.MediaType != "image/png" {
		return
	}
	const chunk = 4096
	data := base64.StdEncoding.EncodeToString(i.Data)
	control := fmt.Sprintf("a=T,f=100,q=2,c=%d,", pictureColumns)
	for len(data) > 0 {
		n := min(chunk, len(data))
		more := 0
		if n < len(data) {
			more = 1
		}
		fmt.Fprintf(out, "\x1b_G%sm=%d;%s\x1b\\", control, more, data[:n])
		data, control = data[n:], ""
	}
	fmt.Fprintln(out)
}

// itermPicture speaks iTerm2's inline images protocol.
func itermPicture(out io.Writer, i contract.Image) {
	fmt.Fprintf(out, "\x1b]1337;File=inline=1;size=%d;width=%d;preserveAspectRatio=1:%s\a\n", len(i.Data), pictureColumns, base64.StdEncoding.EncodeToString(i.Data))
}
