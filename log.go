package pagehand

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

var logMembers = []Member{
	off(onTab("read_console", "Read what the page logged since the last reading.", readConsole)),
	off(onTab("read_network", "Read what the page requested since the last reading.", readNetwork)),
}

// mostLogChars bounds one reading of a log, in code points: a flood must not fill the model's context.
const mostLogChars = 20_000

func readConsole(_ context.Context, t *tab, _ tabInput) (output, error) {
	return sayLog(t.page.TakeConsole(), "console entries")
}

func readNetwork(_ context.Context, t *tab, _ tabInput) (output, error) {
	return sayLog(t.page.TakeTraffic(), "requests")
}

// sayLog gives a log's lines, the newest when there are too many. An empty log says since when it is empty, and no more
// (contract §4: it must not claim that there was none).
func sayLog(lines []string, what string) (output, error) {
	if len(lines) == 0 {
		return say(fmt.Sprintf("No %s were recorded since the last reading of this tab, or since it was opened.", what))
	}
	kept, left := len(lines), mostLogChars
	for kept > 0 {
		if left -= utf8.RuneCountInString(lines[kept-1]) + 1; left < 0 {
			break
		}
		kept--
	}
	if kept > 0 {
		lines = append([]string{fmt.Sprintf("(%d older lines are left out)", kept)}, lines[kept:]...)
	}
	return say(strings.Join(lines, "\n"))
}
