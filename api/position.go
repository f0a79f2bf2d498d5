package api

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// position is a place in a script. The ids of calls tell it, so that it is found again whatever the client did to the contents of the
// messages, and after a restart.
type position struct {
	op     int
	rounds [maxDepth]int // of the repeats around the op: how many have begun
	calls  int           // how many calls of the op have been made
}

// String is the position without its calls, fit for an id: the op, then the rounds.
func (p position) String() string {
	parts := []string{strconv.Itoa(p.op)}
	used := maxDepth
	for used > 0 && p.rounds[used-1] == 0 {
		used--
	}
	for _, n := range p.rounds[:used] {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, "-")
}

// callID is what the id of a call says.
type callID struct {
	script       string // its mark: calls of another script tell nothing about this one
	conversation string
	at           position // with the number of the call, counted from 1
	attempt      int      // how many replies with this call have been broken off before
	cut          bool     // the call was cut off: it has not been made
}

// cutMark ends the id of a call that was cut off.
const cutMark = "x"

var callIDs = regexp.MustCompile(`^toolu_([0-9a-f]{4})_([0-9a-f]{8})_([0-9]{1,6}(?:-[0-9]{1,6})*)_([0-9]{1,6})(?:a([0-9]{1,6}))?(x?)$`)

func (c callID) String() string {
	id := "toolu_" + c.script + "_" + c.conversation + "_" + c.at.String() + "_" + strconv.Itoa(c.at.calls)
	if c.attempt > 0 {
		id += "a" + strconv.Itoa(c.attempt)
	}
	if c.cut {
		id += cutMark
	}
	return id
}

// parseCallID reads an id; false means that it is no call's of this script.
func (s *Script) parseCallID(id string) (callID, bool) {
	m := callIDs.FindStringSubmatch(id)
	if m == nil || m[1] != s.mark {
		return callID{}, false
	}
	numbers := strings.Split(m[3], "-")
	if len(numbers)-1 > maxDepth {
		return callID{}, false
	}
	c := callID{script: m[1], conversation: m[2], cut: m[6] != ""}
	c.at.op, _ = strconv.Atoi(numbers[0]) // the pattern admits only small numbers
	for i, n := range numbers[1:] {
		c.at.rounds[i], _ = strconv.Atoi(n)
	}
	c.at.calls, _ = strconv.Atoi(m[4])
	c.attempt, _ = strconv.Atoi(m[5])
	if c.at.op >= len(s.ops) || s.ops[c.at.op].kind != turnOp || c.at.calls < 1 || c.at.calls > len(s.ops[c.at.op].turn.Calls) {
		return callID{}, false
	}
	if slices.Max(c.at.rounds[:]) > maxRounds {
		return callID{}, false
	}
	if c.cut {
		c.at.calls--
	}
	return c, true
}
