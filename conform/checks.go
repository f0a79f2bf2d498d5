package conform

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pagehand/pagehand/script"
)

//go:embed checks
var archives embed.FS

// Check is one conformance check.
type Check struct {
	// ID is the contract's section and the check's name: s1.halt-text.
	ID string
	// Title says in a sentence what must hold.
	Title string

	file   string // of the archive
	needs  needs
	script *script.Script
}

// Section is the section of the contract that the check belongs to: "§1".
func (c Check) Section() string {
	number, _, _ := strings.Cut(strings.TrimPrefix(c.ID, "s"), ".")
	return "§" + number
}

// needs are the settings that a check asks for, in its file "session".
type needs struct {
	Enable    []string                   `json:"enable"`
	Configs   map[string]json.RawMessage `json:"configs"`
	Viewport  *[2]int                    `json:"viewport"`
	Dialogs   string                     `json:"dialogs"`
	Timeout   float64                    `json:"timeout"`
	Hosts     []string                   `json:"hosts"`
	Uploads   bool                       `json:"uploads"`
	Downloads bool                       `json:"downloads"`
	documents []string                   // ids
}

// any tells whether the check needs anything that an executor without a configure line may not have.
func (n needs) any() bool {
	return len(n.Enable)+len(n.Configs)+len(n.Hosts)+len(n.documents) > 0 || n.Viewport != nil || n.Dialogs != "" || n.Timeout > 0 || n.Uploads || n.Downloads
}

// Checks returns all checks, ordered by section and name. An archive that can't be read is a bug of the kit, found by its tests.
func Checks() []Check {
	var checks []Check
	err := fs.WalkDir(archives, "checks", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := archives.ReadFile(name)
		if err != nil {
			return err
		}
		check, err := parseCheck(name, data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		checks = append(checks, check)
		return nil
	})
	if err != nil {
		panic("conform: " + err.Error())
	}
	return checks
}

func parseCheck(file string, data []byte) (Check, error) {
	plan, err := script.Parse(data)
	if err != nil {
		return Check{}, err
	}
	comment, _, _ := bytes.Cut(data, []byte("\n-- "))
	title := strings.Join(strings.Fields(string(comment)), " ")
	if title == "" || strings.HasPrefix(title, "-- ") {
		return Check{}, fmt.Errorf("no comment that says what is checked")
	}
	c := Check{
		ID:     path.Base(path.Dir(file)) + "." + strings.TrimSuffix(path.Base(file), ".txtar"),
		Title:  title,
		file:   file,
		script: plan,
	}
	if session := plan.Files["session"]; session != nil {
		d := json.NewDecoder(bytes.NewReader(session))
		d.DisallowUnknownFields()
		if err := d.Decode(&c.needs); err != nil {
			return Check{}, fmt.Errorf("session: %w", err)
		}
	}
	for name := range plan.Files {
		if id, ok := strings.CutPrefix(name, "documents/"); ok {
			c.needs.documents = append(c.needs.documents, id)
		}
	}
	slices.Sort(c.needs.documents)
	return c, nil
}

// settings are what a configure line asks for when the check runs with these values.
func (c Check) settings(v *values) (Settings, error) {
	n := c.needs
	s := Settings{Hosts: v.hosts(), Configs: map[string]json.RawMessage{}, Viewport: n.Viewport, Dialogs: n.Dialogs, Timeout: n.Timeout}
	if n.Hosts != nil {
		s.Hosts = nil
		for _, host := range n.Hosts {
			expanded, err := v.expand(host)
			if err != nil {
				return s, err
			}
			s.Hosts = append(s.Hosts, expanded)
		}
	}
	for name, config := range n.Configs {
		s.Configs[name] = config
	}
	for _, name := range n.Enable {
		s.Configs[name] = json.RawMessage(`{"enabled":true}`)
	}
	if n.Uploads {
		s.Uploads = []string{v.folders["uploads"]}
	}
	if n.Downloads {
		s.Downloads = v.folders["downloads"]
	}
	for _, id := range n.documents {
		if s.Documents == nil {
			s.Documents = map[string]string{}
		}
		s.Documents[id] = path.Join(v.folders["documents"], id)
	}
	return s, nil
}

// page tells whether the check has a page to open first.
func (c Check) page() bool { return c.script.Files["page.html"] != nil }

// onlyErrors tells whether every call of the check must fail, so that it leaves a session nearly as it was.
func (c Check) onlyErrors() bool {
	for _, turn := range c.script.Turns {
		if slices.ContainsFunc(turn.Calls, func(call script.Call) bool { return !call.Fails }) {
			return false
		}
	}
	return true
}

// where is a line of the check's archive. Line 0 means no line of its own: the opening of the page.
func (c Check) where(line int) string {
	if line == 0 {
		return c.file
	}
	return fmt.Sprintf("%s: line %d", c.file, line)
}
