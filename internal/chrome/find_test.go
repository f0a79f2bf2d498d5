//go:build linux

package chrome

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindFollowsScripts(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         string // relative to the folder; empty means that err is wanted
		err          string
	}{
		{"a program", "\x7fELF", "bin/chromium", ""},
		{"Debian", "#!/bin/sh\nAPPNAME=chromium\nLIBDIR=ROOT/lib/$APPNAME\nGDB=/usr/bin/gdb\n" +
			"  $GDB $LIBDIR/$APPNAME -x $tmpfile\n  exec $LIBDIR/$APPNAME $CHROMIUM_FLAGS \"$@\"\n", "lib/chromium/chromium", ""},
		{"Google", "#!/bin/bash\nexport CHROME_WRAPPER=\"`readlink -f \"$0\"`\"\nHERE=\"`dirname \"$CHROME_WRAPPER\"`\"\n" +
			"exec < /dev/null\nexec > >(exec cat)\nexec -a \"$0\" \"$HERE/chrome\" \"$@\"\n", "bin/chrome", ""},
		{"literal", "#!/bin/sh\nexec \"ROOT/lib/chromium/chromium\" ${FLAGS} \"$@\"\n", "lib/chromium/chromium", ""},
		{"script of a script", "#!/bin/sh\nexec ROOT/lib/again \"$@\"\n", "lib/chromium/chromium", ""},
		{"itself", "#!/bin/sh\nexec ROOT/bin/chromium\n", "", "without end"},
		{"Ubuntu without the snap", "#!/bin/sh\nif ! [ -x /nowhere/snap ]; then\n  echo \"snap install chromium\" >&2\n  exit 1\nfi\nexec /nowhere/snap \"$@\"\n",
			"", ErrSnapStub.Error()},
		{"nothing there", "#!/bin/sh\nexec $UNSET/chromium\n", "", "starts no browser"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				"bin/chromium":          test.script,
				"bin/chrome":            "\x7fELF",
				"lib/chromium/chromium": "\x7fELF",
				"lib/again":             "#!/bin/sh\nexec ROOT/lib/chromium/chromium \"$@\"\n",
			} {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			script := filepath.Join(root, "bin/chromium")
			t.Setenv("PATH", filepath.Dir(script))
			t.Setenv("PAGEHAND_BROWSER", "")
			for _, explicit := range []string{script, "chromium"} {
				found, err := Find(explicit)
				if test.want == "" {
					if err == nil || !strings.Contains(err.Error(), test.err) {
						t.Errorf("Find(%q): %+v, %v; want an error with %q", explicit, found, err, test.err)
					}
					continue
				}
				if err != nil || found.Path != filepath.Join(root, test.want) || (found.Wrapper != "") != strings.HasPrefix(test.script, "#!") {
					t.Errorf("Find(%q): %+v, %v", explicit, found, err)
				}
			}
			t.Setenv("PAGEHAND_BROWSER", script)
			if found, err := Find(""); test.want != "" && (err != nil || found.Path != filepath.Join(root, test.want)) {
				t.Errorf("with PAGEHAND_BROWSER: %+v, %v", found, err)
			}
		})
	}
}

func TestFindExplicitIsNeverSkipped(t *testing.T) {
	for _, name := range []string{"/no/such/browser", "no-such-browser-here"} {
		if found, err := Find(name); err == nil {
			t.Errorf("Find(%q) took %+v instead", name, found)
		}
	}
}

func TestNotFoundNamesTheCommand(t *testing.T) {
	err := error(&NotFoundError{Reasons: []string{"chromium-browser: " + ErrSnapStub.Error()}})
	var missing *NotFoundError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), installCommand()) || !strings.Contains(err.Error(), "placeholder") {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	found, err := Find("")
	if err != nil {
		t.Fatal(err)
	}
	version, err := found.Version(t.Context())
	if err != nil || !strings.ContainsAny(version, "0123456789") {
		t.Errorf("%q, %v", version, err)
	}
}
