package api

import (
	"encoding/json"
	"hash/maphash"
	"sync"
)

// usage is a response's count of tokens, all of them estimated.
type usage struct {
	Input      int  `json:"input_tokens"`
	CacheWrite int  `json:"cache_creation_input_tokens"`
	CacheRead  int  `json:"cache_read_input_tokens"`
	Output     int  `json:"output_tokens"`
	Estimated  bool `json:"estimated"` // always true: the API has no such field
}

// cache remembers which beginnings of requests were marked to be cached. Nothing expires: it tells whether markers are where they help,
// not what a run will cost.
type cache struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known map[uint64]bool
}

func newCache() *cache { return &cache{seed: maphash.MakeSeed(), known: map[uint64]bool{}} }

// maxCached bounds the beginnings that are remembered.
const maxCached = 100_000

// usage estimates the input of a request, and remembers what it marks.
func (c *cache) usage(r *request) usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > maxCached {
		clear(c.known)
	}
	var prefix maphash.Hash
	prefix.SetSeed(c.seed)
	total, marked, read := 0, 0, 0 // tokens; the latter two up to the last marker, and to the end of what is known
	var marks []uint64
	piece := func(tokens int, mark bool, parts ...string) {
		for _, part := range parts {
			prefix.WriteString(part)
			prefix.WriteByte(0)
		}
		total += tokens
		sum := prefix.Sum64()
		if c.known[sum] {
			read = total
		}
		if mark {
			marked = total
			marks = append(marks, sum)
		}
	}
	prefix.WriteString(r.Model)
	for _, raw := range r.Tools {
		var entry map[string]json.RawMessage
		_ = json.Unmarshal(raw, &entry) // the check accepted only objects
		mark := entry["cache_control"] != nil && string(entry["cache_control"]) != "null"
		delete(entry, "cache_control")
		plain, _ := json.Marshal(entry)
		piece(toolTokens(raw), mark, string(plain))
	}
	for _, b := range blocksOf(r.System) {
		piece(b.tokens(), b.marked(), "system", b.Text)
	}
	for _, raw := range r.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(raw, &m) // likewise
		piece(messageTokens, false, m.Role)
		for _, b := range blocksOf(m.Content) {
			piece(b.tokens(), b.marked(), b.Type, b.Text, b.ID, b.Name, string(b.Input), b.ToolUseID, string(b.Content), b.Source.Data)
		}
	}
	for _, mark := range marks {
		c.known[mark] = true
	}
	read = min(read, marked)
	return usage{Input: total - marked, CacheRead: read, CacheWrite: marked - read, Estimated: true}
}
