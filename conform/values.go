package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/script"
)

// values are what the placeholders of a check stand for.
type values struct {
	site    *site
	folders map[string]string // uploads, documents, outside, downloads

	refs          script.Resolver
	tabs          []contract.Tab // of the latest browser_state
	opened        string         // the tab of the latest tab_opened
	download      string         // the id of the latest download
	width, height int            // of the latest screenshot
}

var (
	placeholder = regexp.MustCompile(`\{\{([a-z]+)([^{}]*)\}\}`)
	numeric     = regexp.MustCompile(`"(\{\{(?:width|height)(?:[+-]\d+)?\}\})"`)
)

// expand replaces the placeholders of a text. It is also used by the site's servers, for the values that do not change.
func (v *values) expand(text string) (string, error) {
	var failure error
	expanded := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		value, err := v.value(m[1], strings.TrimSpace(m[2]))
		if err != nil && failure == nil {
			failure = fmt.Errorf("%s: %w", found, err)
		}
		return value
	})
	return expanded, failure
}

// input replaces the placeholders of a call's input, those in place of numbers with numbers, and the descriptions of refs.
func (v *values) input(raw json.RawMessage) (json.RawMessage, error) {
	text, err := v.expand(numeric.ReplaceAllString(string(raw), "$1"))
	if err != nil {
		return nil, err
	}
	return v.refs.Resolve(json.RawMessage(text))
}

func (v *values) value(name, args string) (string, error) {
	switch name {
	case "origin":
		return v.site.origin, nil
	case "host":
		return strings.TrimPrefix(v.site.origin, "http://"), nil
	case "port":
		return v.site.port, nil
	case "other":
		return v.site.other, nil
	case "uploads", "outside", "downloads":
		return v.folders[name], nil
	case "repeat":
		count, text, _ := strings.Cut(args, " ")
		n, err := strconv.Atoi(count)
		return strings.Repeat(text, n), err
	case "ref":
		return v.ref(args)
	case "tab":
		n, err := strconv.Atoi(args)
		if err != nil || n < 1 || n > len(v.tabs) {
			return "", fmt.Errorf("the latest browser_state lists %d tabs", len(v.tabs))
		}
		return v.tabs[n-1].TabID, nil
	case "active":
		for _, t := range v.tabs {
			if t.Active {
				return t.TabID, nil
			}
		}
		return "", errors.New("no browser_state told an active tab yet")
	case "opened":
		return known(v.opened, "an opened tab")
	case "download":
		return known(v.download, "a download")
	case "width":
		return pixels(v.width, args)
	case "height":
		return pixels(v.height, args)
	}
	return "", errors.New("unknown placeholder")
}

func known(value, what string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("no result told %s yet", what)
	}
	return value, nil
}

// pixels adds what follows the name, such as -1.
func pixels(n int, more string) (string, error) {
	if n == 0 {
		return "", errors.New("no screenshot was taken yet")
	}
	if more == "" {
		return strconv.Itoa(n), nil
	}
	off, err := strconv.Atoi(more)
	return strconv.Itoa(n + off), err
}

func (v *values) ref(description string) (string, error) {
	quoted, err := json.Marshal(map[string]string{"ref": description})
	if err != nil {
		return "", err
	}
	resolved, err := v.refs.Resolve(quoted)
	if err != nil {
		return "", err
	}
	var found struct {
		Ref string `json:"ref"`
	}
	err = json.Unmarshal(resolved, &found)
	return found.Ref, err
}

// observe remembers what a result tells.
func (v *values) observe(use contract.ToolUse, res contract.ToolResult) {
	v.refs.Observe(use, res)
	for _, block := range res.Content {
		switch block := block.(type) {
		case *contract.BrowserState:
			v.tabs = block.Tabs
			for _, change := range block.StateChanges {
				if change.Type == contract.TabOpened {
					v.opened = change.TabID
				} else {
					v.download = change.DownloadID
				}
			}
		case contract.Image:
			if config, _, err := image.DecodeConfig(bytes.NewReader(block.Data)); err == nil && use.Name == "screenshot" {
				v.width, v.height = config.Width, config.Height
			}
		}
	}
}

// hosts are the destinations that every check may reach.
func (v *values) hosts() []string {
	var hosts []string
	for _, url := range []string{v.site.origin, v.site.port, v.site.other} {
		hosts = append(hosts, strings.TrimPrefix(url, "http://"))
	}
	return hosts
}

// prepare makes a check's folders in dir, with the files of its archive that belong there.
func (v *values) prepare(dir string, files map[string][]byte) error {
	v.folders = map[string]string{}
	for _, name := range []string{"uploads", "documents", "outside", "downloads"} {
		v.folders[name] = filepath.Join(dir, name)
		if err := os.MkdirAll(v.folders[name], 0o755); err != nil {
			return err
		}
	}
	for name, data := range files {
		folder, file := filepath.Split(filepath.FromSlash(name))
		folder = v.folders[strings.TrimRight(folder, string(filepath.Separator))]
		if folder == "" {
			continue
		}
		if err := put(filepath.Join(folder, file), data); err != nil {
			return err
		}
	}
	return nil
}

func put(name string, data []byte) error {
	if link, ok := strings.CutSuffix(name, ".link"); ok {
		return os.Symlink(strings.TrimSpace(string(data)), link)
	}
	return os.WriteFile(name, data, 0o644)
}
