package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// configure writes the user's configuration file and returns its path.
func configure(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	name := filepath.Join(folder, "pagehand", "config.yaml")
	if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPrecedence(t *testing.T) {
	for _, test := range []struct {
		name, file, env, flag string
		want                  viewportFlag
	}{
		{name: "default", want: viewportFlag{Width: 1280, Height: 720}},
		{name: "file", file: "viewport: 300x300", want: viewportFlag{Width: 300, Height: 300}},
		{name: "env", file: "viewport: 300x300", env: "200x200", want: viewportFlag{Width: 200, Height: 200}},
		{name: "flag", file: "viewport: 300x300", env: "200x200", flag: "100x100", want: viewportFlag{Width: 100, Height: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			configure(t, test.file)
			args := []string{"exec"}
			if test.env != "" {
				t.Setenv("PAGEHAND_VIEWPORT", test.env)
			}
			if test.flag != "" {
				args = append(args, "--viewport", test.flag)
			}
			c, err := parse(args...)
			if err != nil {
				t.Fatal(err)
			}
			if c.Exec.Viewport != test.want {
				t.Errorf("got %v, want %v", c.Exec.Viewport, test.want)
			}
		})
	}
}

func TestConfigValues(t *testing.T) {
	configure(t, `# everything a file can say
log-level: debug
headful: true
scale: 1.5
timeout: 20
geolocation: 47.37,8.54
allow: []
allow-private: [localhost:80, "127.0.0.1:81"]
enable: javascript_exec, read_console
uploads:
  - /
document:
  doc-1: /etc/hosts
configs:
  zoom: {enabled: false}
locale: null
addr: 127.0.0.1:8080
`)
	c, err := parse("exec")
	if err != nil {
		t.Fatal(err)
	}
	e := c.Exec
	switch {
	case c.LogLevel.String() != "DEBUG", !e.Headful, e.Scale != 1.5, e.Timeout != 20e9, e.Geolocation.at.Longitude != 8.54, e.Locale != "",
		e.Allow == nil || len(e.Allow) != 0, !reflect.DeepEqual(e.AllowPrivate.at, []string{"localhost:80", "127.0.0.1:81"}),
		!slices.Equal(e.Enable, []string{"javascript_exec", "read_console"}), len(e.Uploads) != 1, e.Document["doc-1"] != "/etc/hosts", e.Configs.String() != "zoom=false":
		t.Errorf("got %+v", e)
	}
	if c, err = parse("site"); err != nil || c.Site.Addr != "127.0.0.1:8080" {
		t.Errorf("site: got %q, %v", c.Site.Addr, err)
	}
}

func TestUnusableConfig(t *testing.T) {
	for text, want := range map[string]string{
		"# limits\nalow: example.com\n": "line 2: there is no flag --alow",
		"help: true\n":                  "line 1: there is no flag --help",
		"\nviewport: big\n":             `line 2: "big" is not WIDTHxHEIGHT`,
		"scale: [1, 2]\n":               "line 1: ",
		"headful: maybe\n":              "line 1: ",
		"dialogs: shout\n":              "--dialogs must be one of",
		"configs: {fly: {}}\n":          `line 1: configs: "fly" is no member`,
		"\nenable: zoom, fly\n":         `line 2: "fly" is no member`,
		"version: true\n":               "line 1: there is no flag --version",
		"- allow\n":                     `line 1: expected one "flag: value" a line`,
		"allow: a.com\nallow: b.com\n":  "allow",
		"allow: [a\n":                   "config.yaml: ",
		"locale: '!'\n":                 `line 1: "!" is not a language tag`,
		"document: {a: {b: c}}\n":       "line 1: ",
	} {
		t.Run(text, func(t *testing.T) {
			name := configure(t, text)
			_, err := parse("exec")
			if status(err) != statusUsage || !strings.Contains(complaint(err), want) {
				t.Errorf("got status %d and %q, want %q", status(err), complaint(err), want)
			}
			if !strings.Contains(want, "must be") && !strings.Contains(complaint(err), name) {
				t.Errorf("the file is not named: %q", complaint(err))
			}
		})
	}
}

func TestUnreadableConfig(t *testing.T) {
	name := configure(t, "")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o700); err != nil { // a folder can't be read as a file, by root neither
		t.Fatal(err)
	}
	_, err := parse("exec")
	if got := complaint(err); status(err) != statusUsage || !strings.Contains(got, name) || !strings.Contains(got, "name another with --config") {
		t.Errorf("got status %d and %q", status(err), got)
	}
	if _, err := parse("exec", "--config", os.DevNull); err != nil {
		t.Errorf("with --config: %v", err)
	}
}

func TestNamedConfig(t *testing.T) {
	other := configure(t, "scale: 3\n")
	configure(t, "scale: 2\n")
	t.Setenv("PAGEHAND_CONFIG", other)
	c, err := parse("exec")
	if err != nil || c.Exec.Scale != 3 {
		t.Errorf("by variable: got %v, %v", c.Exec.Scale, err)
	}
	if _, err := parse("exec", "--config", other+"x"); status(err) != statusUsage {
		t.Errorf("a named file that is missing: got %v", err)
	}
}
