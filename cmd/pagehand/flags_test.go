package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pagehand/pagehand"
)

// parse parses a command line; the configuration folder is of the test's own.
func parse(args ...string) (*cli, error) {
	var c cli
	_, err := newParser(&c, &streams{out: io.Discard, err: io.Discard}).Parse(args)
	return &c, err
}

func TestSessionOptions(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	staged := filepath.Join(t.TempDir(), "a=b.txt")
	if err := os.WriteFile(staged, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		want func(*pagehand.SessionOptions) bool
	}{
		{"", func(o *pagehand.SessionOptions) bool {
			return o.Viewport == pagehand.Size{Width: 1280, Height: 720} && o.Scale == 1 && o.Timeout == 30*time.Second && o.MaxChars == 50_000 &&
				!o.AcceptDialogs && o.Geolocation == nil && o.ColorScheme == "" && o.Downloads == "" && o.UploadRoots == nil
		}},
		{"--viewport=800x600 --scale=2", func(o *pagehand.SessionOptions) bool {
			return o.Viewport == pagehand.Size{Width: 800, Height: 600} && o.Scale == 2
		}},
		{"--timeout 45", func(o *pagehand.SessionOptions) bool { return o.Timeout == 45*time.Second }},
		{"--timeout 0.5", func(o *pagehand.SessionOptions) bool { return o.Timeout == 500*time.Millisecond }},
		{"--timeout 1m30s", func(o *pagehand.SessionOptions) bool { return o.Timeout == 90*time.Second }},
		{"--max-chars 200", func(o *pagehand.SessionOptions) bool { return o.MaxChars == 200 }},
		{"--max-chars 0", func(o *pagehand.SessionOptions) bool { return o.MaxChars < 0 }},
		{"--geolocation=-33.9,151.2", func(o *pagehand.SessionOptions) bool {
			return *o.Geolocation == pagehand.Position{Latitude: -33.9, Longitude: 151.2, Accuracy: 1}
		}},
		{"--geolocation=47.37,8.54,20", func(o *pagehand.SessionOptions) bool { return o.Geolocation.Accuracy == 20 }},
		{"--dialogs accept --color-scheme dark", func(o *pagehand.SessionOptions) bool { return o.AcceptDialogs && o.ColorScheme == "dark" }},
		{"--enable javascript_exec,read_console", func(o *pagehand.SessionOptions) bool {
			return o.Configs.String() == "read_console=true javascript_exec=true"
		}},
		{`--configs={"zoom":{"enabled":false}} --enable file_upload`, func(o *pagehand.SessionOptions) bool {
			return o.Configs.String() == "zoom=false file_upload=true"
		}},
		{"--document doc-1=" + staged, func(o *pagehand.SessionOptions) bool { return o.Documents["doc-1"] == staged }},
		{"--document 1=/etc/hosts --document 2=/etc/hosts", func(o *pagehand.SessionOptions) bool { return len(o.Documents) == 2 }},
		{"--locale zh-Hant-TW --timezone Europe/Zurich", func(o *pagehand.SessionOptions) bool {
			return o.Locale == "zh-Hant-TW" && o.Timezone == "Europe/Zurich"
		}},
		{"--geolocation -33.8,151.2", func(o *pagehand.SessionOptions) bool { return o.Geolocation.Latitude == -33.8 }},
		{"--uploads . --uploads /", func(o *pagehand.SessionOptions) bool {
			return len(o.UploadRoots) == 2 && filepath.IsAbs(o.UploadRoots[0]) && o.UploadRoots[1] == "/"
		}},
	} {
		t.Run(test.args, func(t *testing.T) {
			c, err := parse(append([]string{"exec"}, strings.Fields(test.args)...)...)
			if err != nil {
				t.Fatal(err)
			}
			options, err := c.Exec.sessionOptions(slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if !test.want(options) {
				t.Errorf("got %+v", options)
			}
		})
	}
}

func TestUnusableFlags(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for args, want := range map[string]string{
		"--viewport 1280":           `--viewport: "1280" is not WIDTHxHEIGHT in pixels, each from 100 to 10000`,
		"--viewport 0x9":            "each from 100 to 10000",
		"--scale 20":                "--scale: 20 is not from 0.1 to 10",
		"--timeout 0":               `--timeout: "0" is no positive time such as 45s`,
		"--timeout NaN":             "is no positive time",
		"--timeout -3":              `--timeout: "-3" is no positive time`,
		"--timeout --headful":       "--timeout: a value is missing",
		"--enable read_page,fly":    `--enable: "fly" is no member`,
		"--configs [1]":             "--configs: configs: a JSON object is expected, and this is of type array",
		"--geolocation 91,0":        "--geolocation: ",
		"--geolocation 1":           "--geolocation: ",
		"--dialogs maybe":           "--dialogs must be one of",
		"--color-scheme green":      "--color-scheme must be one of",
		"--view text":               "--view must be one of",
		"--max-chars -1":            `--max-chars: "-1" is neither a number from 200 up nor 0, for no bound`,
		"--max-chars=-1":            `--max-chars: "-1" is neither a number from 200 up nor 0, for no bound`,
		"--max-chars 199":           `--max-chars: "199" is neither a number from 200 up`,
		"--enable fly":              `--enable: "fly" is no member`,
		`--configs {"fly":{}}`:      `--configs: configs: "fly" is no member`,
		"--configs /nonexistent":    "--configs: neither a JSON object nor a file that can be read: open /nonexistent",
		"--uploads /nonexistent":    "--uploads: stat /nonexistent",
		"--document 1=/nonexistent": "--document: stat /nonexistent",
		"--document 1":              `--document: "1" is not ID=PATH`,
		"--document =/etc/hosts":    `--document: "=/etc/hosts" is not ID=PATH`,
		"--document 1=/etc/hosts --document 1=/etc/passwd": `--document: the document id "1" is given twice`,
		"--locale !!":                  `--locale: "!!" is not a language tag such as en-US`,
		"--timezone ../x":              `--timezone: "../x" is not a time zone such as Europe/Zurich`,
		"--allow-private=":             "--allow-private: the list is empty",
		"--allow-private=127.0.0.1":    "127.0.0.1",
		"--allow http://example.com/":  "http://example.com/",
		"--config /nonexistent exec":   "open /nonexistent",
		"--no-such-flag":               "unknown flag --no-such-flag",
		"a.json b.json":                "unexpected argument b.json",
		"--log-level loud --url x a b": "--log-level: ",
	} {
		t.Run(args, func(t *testing.T) {
			c, err := parse(append([]string{"exec"}, strings.Fields(args)...)...)
			if err == nil {
				_, err = c.Exec.sessionOptions(slog.New(slog.DiscardHandler))
			}
			if status(err) != statusUsage || !strings.Contains(complaint(err), want) {
				t.Errorf("got status %d and %q, want %d and %q", status(err), complaint(err), statusUsage, want)
			}
			if strings.Contains(complaint(err), "\n") {
				t.Errorf("more than one line: %q", complaint(err))
			}
		})
	}
}

// The list of --allow tells absent from empty, and the value of --allow-private may be left out.
func TestDestinationFlags(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, test := range []struct {
		args    []string
		env     map[string]string
		allow   []string
		private privateFlag
	}{
		{args: nil},
		{args: []string{"--allow="}, allow: []string{}},
		{args: []string{"--allow", ""}, allow: []string{}},
		{args: []string{"--allow", "a.com, ,b.com:8443", "--allow=*.c.com"}, allow: []string{"a.com", "b.com:8443", "*.c.com"}},
		{args: []string{"--allow-private"}, private: privateFlag{all: true}},
		{args: []string{"--allow-private", "turn.json"}, private: privateFlag{all: true}},
		{args: []string{"--allow-private=localhost:80,[::1]:81", "--allow-private=10.0.0.1:82"}, private: privateFlag{at: []string{"localhost:80", "[::1]:81", "10.0.0.1:82"}}},
		{args: []string{"--allow-private=false"}},
		{env: map[string]string{"PAGEHAND_ALLOW": ""}, allow: []string{}},
		{env: map[string]string{"PAGEHAND_ALLOW": "a.com,b.com"}, allow: []string{"a.com", "b.com"}},
		{env: map[string]string{"PAGEHAND_ALLOW_PRIVATE": "true"}, private: privateFlag{all: true}},
		{env: map[string]string{"PAGEHAND_ALLOW_PRIVATE": "localhost:80"}, private: privateFlag{at: []string{"localhost:80"}}},
		{env: map[string]string{"PAGEHAND_ALLOW_PRIVATE": "true"}, args: []string{"--allow-private=localhost:80"}, private: privateFlag{at: []string{"localhost:80"}}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			c, err := parse(append([]string{"exec"}, test.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(c.Exec.Allow, test.allow) || (c.Exec.Allow == nil) != (test.allow == nil) {
				t.Errorf("allow is %#v, want %#v", c.Exec.Allow, test.allow)
			}
			if !reflect.DeepEqual(c.Exec.AllowPrivate, test.private) {
				t.Errorf("allow-private is %+v, want %+v", c.Exec.AllowPrivate, test.private)
			}
		})
	}
}
