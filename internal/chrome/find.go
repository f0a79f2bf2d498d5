package chrome

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Executable is a browser on this machine.
type Executable struct {
	// Path is the absolute path of the program itself, never of a script that starts it.
	Path string
	// Kind is "Chromium", "Chrome", "Edge" or "headless shell".
	Kind string
	// Wrapper is the script that led to Path, or empty.
	Wrapper string
}

// browserNames are looked for in PATH, in this order.
var browserNames = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
	"microsoft-edge", "microsoft-edge-stable", "chrome-headless-shell", "headless_shell",
}

// usualPlaces are where packages put browsers, by operating system; a leading "~" is the home folder.
var usualPlaces = map[string][]string{
	"linux": {
		"/usr/lib/chromium/chromium",
		"/usr/lib64/chromium-browser/chromium-browser",
		"/usr/lib/chromium-browser/chromium-browser",
		"/opt/google/chrome/chrome",
		"/opt/chromium.org/chromium/chromium",
		"/opt/microsoft/msedge/msedge",
		snapProgram,
	},
	"darwin": {
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
		"~/Applications/Chromium.app/Contents/MacOS/Chromium",
		"~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	},
	"windows": {
		`C:\Program Files\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
	},
}

// ErrSnapStub says that the program found is Ubuntu's placeholder, which contains no browser.
var ErrSnapStub = errors.New("this is Ubuntu's placeholder for the Chromium snap, not a browser")

// NotFoundError says that no browser was found. Its text ends with the command that installs one.
type NotFoundError struct {
	// Reasons say why candidates that exist were not taken.
	Reasons []string
}

func (e *NotFoundError) Error() string {
	text := "no Chromium, Chrome or Edge found in PATH or the usual places"
	if len(e.Reasons) > 0 {
		text += " (" + strings.Join(e.Reasons, "; ") + ")"
	}
	return text + "; install one: " + installCommand() + ", or set PAGEHAND_BROWSER to its path"
}

// Find returns the browser to start: the explicit one, a path or a name in PATH; else that of the variable
// PAGEHAND_BROWSER; else the first in PATH; else the first in the usual places. Scripts that only start a
// browser are followed to it. An explicit browser that can't be used is an error, never skipped.
func Find(explicit string) (Executable, error) {
	if explicit == "" {
		explicit = os.Getenv("PAGEHAND_BROWSER")
	}
	if explicit != "" {
		found, err := lookUp(explicit)
		if err != nil {
			return Executable{}, fmt.Errorf("browser %q: %w", explicit, err)
		}
		return found, nil
	}
	var missing NotFoundError
	for _, candidate := range append(browserNames[:len(browserNames):len(browserNames)], usualPlaces[runtime.GOOS]...) {
		found, err := lookUp(candidate)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, os.ErrNotExist) {
			missing.Reasons = append(missing.Reasons, candidate+": "+err.Error())
		}
	}
	return Executable{}, &missing
}

// lookUp resolves a name in PATH or a path to a browser program.
func lookUp(name string) (Executable, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return Executable{}, err
		}
		name = filepath.Join(home, rest)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return Executable{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Executable{}, err
	}
	program, err := followScripts(path)
	if err != nil {
		return Executable{}, err
	}
	found := Executable{Path: program, Kind: kindOf(program)}
	if script, err := readScript(path); err == nil && script != "" {
		found.Wrapper = path
	}
	return found, nil
}

// maxScripts is how many scripts may start each other before the browser comes.
const maxScripts = 4

// snapProgram is the browser inside Ubuntu's Chromium snap. The snap's command can't be used: it runs in a
// confinement that sees other temporary files than ours.
const snapProgram = "/snap/chromium/current/usr/lib/chromium-browser/chrome"

// followScripts returns the program that a script ends up running. Links are followed too, so that what the
// browser looks for beside its executable is there.
func followScripts(path string) (string, error) {
	for range maxScripts {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", err
		}
		switch filepath.Base(real) {
		case "snap":
			real = snapProgram
			if _, err := os.Stat(real); err != nil {
				return "", ErrSnapStub
			}
		case "flatpak":
			return "", errors.New("a browser in a Flatpak can't be started with a DevTools pipe")
		}
		script, err := readScript(real)
		if err != nil || script == "" {
			return real, err
		}
		if path, err = scriptTarget(script, filepath.Dir(real)); err != nil {
			return "", err
		}
	}
	return "", errors.New("scripts start scripts without end")
}

// readScript returns the text of a script, or nothing when the file is not one.
func readScript(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReader(io.LimitReader(f, 1<<18))
	if mark, err := in.Peek(2); err != nil || string(mark) != "#!" {
		return "", nil // a program, or too short for anything
	}
	text, err := io.ReadAll(in)
	return string(text), err
}

var (
	// assignment is NAME=VALUE on a line of its own.
	assignment = regexp.MustCompile(`^(?:export\s+|readonly\s+)?([A-Za-z_]\w*)=(.*)$`)
	// execution is exec with a program, not with redirections only; -a NAME only changes its argv[0].
	execution = regexp.MustCompile(`^exec\s+(?:-a\s+(?:"[^"]*"|\S+)\s+)?("[^"]+"|'[^']+'|[^\s"'<>]+)`)
	// variable is $NAME or ${NAME}.
	variable = regexp.MustCompile(`\$(?:\{(\w+)\}|(\w+))`)
)

// scriptTarget reads a launcher script in folder here for the program it becomes. It understands what such
// scripts consist of (plain assignments, the script's own folder by dirname, exec) and runs nothing.
func scriptTarget(script, here string) (string, error) {
	values := map[string]string{}
	expand := func(word string) string {
		return variable.ReplaceAllStringFunc(strings.Trim(word, `"'`), func(name string) string {
			return values[strings.Trim(name, "${}")]
		})
	}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if m := assignment.FindStringSubmatch(line); m != nil {
			switch name, value := m[1], m[2]; {
			case strings.Contains(value, "dirname"):
				values[name] = here
			case !strings.ContainsAny(value, "`("):
				values[name] = expand(value)
			}
			continue
		}
		m := execution.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if path := expand(m[1]); filepath.IsAbs(path) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	if strings.Contains(script, "snap install chromium") {
		return "", ErrSnapStub
	}
	return "", errors.New("this script starts no browser that exists; name the browser's program itself")
}

func kindOf(program string) string {
	switch base := strings.ToLower(filepath.Base(program)); {
	case strings.Contains(base, "headless"):
		return "headless shell"
	case strings.Contains(base, "edge"):
		return "Edge"
	case strings.Contains(base, "chromium"), strings.Contains(strings.ToLower(program), "chromium"):
		return "Chromium"
	default:
		return "Chrome"
	}
}

// Version asks the program for its version, such as "Chromium 156.0.7955.0". It starts the program, which takes
// about as long as half a browser start, so it is for diagnosis only.
func (e Executable) Version(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, e.Path, "--version")
	cmd.Env = []string{"HOME=" + os.DevNull, "LANG=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", e.Path, err)
	}
	return printable(bytes.TrimSpace(out)), nil
}

// installCommand is how this system gets a browser.
func installCommand() string {
	switch {
	case runtime.GOOS == "darwin":
		return "brew install --cask chromium"
	case runtime.GOOS == "windows":
		return "winget install Google.Chrome"
	case distribution() == "ubuntu":
		return "snap install chromium"
	case isDebian():
		return "apt-get update && apt-get install -y chromium"
	default:
		return "use your system's package manager, the package is usually called chromium"
	}
}
