//go:build linux

package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVariable makes this test binary play the program that owns a browser; its value says how that program ends.
const childVariable = "CHROME_TEST_CHILD"

func TestMain(m *testing.M) {
	if end := os.Getenv(childVariable); end != "" {
		ownBrowser(end)
		return
	}
	if _, err := Find(""); err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a browser:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// ownBrowser starts a browser, tells its folder on standard output and then ends without closing it.
func ownBrowser(end string) {
	if end == "no namespaces" { // the limit is that of the user namespace we were started in
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			panic(err)
		}
	}
	p, err := Launch(context.Background(), Options{})
	if err != nil {
		panic(err)
	}
	if end == "no namespaces" {
		<-p.Done()
		fmt.Println(p.Err())
		return
	}
	if _, err := ask(p); err != nil {
		panic(err)
	}
	fmt.Println(p.folder.path)
	if end == "panic" {
		panic("as the test wants")
	}
	os.Stdin.Read(make([]byte, 1)) // until the test kills us
}

func start(t *testing.T, o Options) *Process {
	t.Helper()
	p, err := Launch(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// openDir makes a temporary folder that the browser's user may enter, which those of [testing.T.TempDir] are not.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "chrome-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// processesOf lists the processes that know a browser's folder from their command line or environment, except the
// guard and the test's own.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range pids {
		line, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		if strings.Contains(string(line), folder) || strings.Contains(string(environ), folder) {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line[:min(len(line), 200)]), "\x00", " "))
		}
	}
	return found
}

// wantNothingLeft waits until a browser's processes and folder are gone.
func wantNothingLeft(t *testing.T, folder string) {
	t.Helper()
	var left []string
	for range 1000 {
		left = processesOf(t, folder)
		if _, err := os.Lstat(folder); err == nil {
			left = append(left, "the folder")
		}
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("still there: %q", left)
}

func TestLaunch(t *testing.T) {
	p := start(t, Options{Locale: "de-CH", Timezone: "Asia/Tokyo", UserAgent: "Tester/1", WindowWidth: 900, WindowHeight: 700})
	c := dialogue{pipe: p.Pipe(), in: bufio.NewReader(p.Pipe())}
	var version struct{ Product, UserAgent string }
	var target struct{ TargetID string }
	var session struct{ SessionID string }
	var seen struct{ Result struct{ Value string } }
	for _, step := range []struct {
		method string
		params func() any
		result any
	}{
		{"Browser.getVersion", func() any { return nil }, &version},
		{"Target.createTarget", func() any { return map[string]any{"url": "about:blank"} }, &target},
		{"Target.attachToTarget", func() any { return map[string]any{"targetId": target.TargetID, "flatten": true} }, &session},
		{"Runtime.evaluate", func() any {
			c.session = session.SessionID
			return map[string]any{"expression": `[navigator.languages,
				Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent, outerWidth, outerHeight].join()`}
		}, &seen},
	} {
		if err := c.call(step.method, step.params(), step.result); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(version.Product, "Chrome/") || version.UserAgent != "Tester/1" {
		t.Errorf("version %+v", version)
	}
	if got, want := seen.Result.Value, "de-CH,de,Asia/Tokyo,Tester/1,900,700"; got != want {
		t.Errorf("the page sees %s, want %s", got, want)
	}

	t.Run("I-01 no listening socket", func(t *testing.T) { wantNoListener(t, p.PID()) })
	t.Run("I-02 sandboxed renderers", func(t *testing.T) { wantSandbox(t, p) })
	t.Run("folders", func(t *testing.T) {
		dir, err := p.MakeDir("downloads-")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{dir, p.Profile()} {
			info, err := os.Stat(d)
			if err != nil {
				t.Fatal(err)
			}
			if owner := info.Sys().(*syscall.Stat_t); info.Mode().Perm() != 0o700 || int(owner.Uid) != p.UID() {
				t.Errorf("%s: mode %v, owner %d; want 0700 and %d", d, info.Mode(), owner.Uid, p.UID())
			}
		}
		if os.Geteuid() == 0 && p.UID() == 0 {
			t.Error("the browser runs as root")
		}
	})

	if err := p.Err(); err != nil {
		t.Error("it runs, yet", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := p.Err(); err != nil {
		t.Error("it was closed, yet", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error("second Close:", err)
	}
	wantNothingLeft(t, p.folder.path)
}

func wantNoListener(t *testing.T, group int) {
	listening := map[string]string{}
	for _, name := range []string{"tcp", "tcp6"} {
		table, err := os.ReadFile("/proc/net/" + name)
		if err != nil {
			continue // no IPv6 here
		}
		for line := range strings.Lines(string(table)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				listening["socket:["+f[9]+"]"] = f[1]
			}
		}
	}
	looked := 0
	pids, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range pids {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if g, err := syscall.Getpgid(pid); err != nil || g != group {
			continue
		}
		descriptors, err := filepath.Glob(dir + "/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		looked += len(descriptors)
		for _, d := range descriptors {
			if name, err := os.Readlink(d); err == nil && listening[name] != "" {
				t.Errorf("process %d listens on %s", pid, listening[name])
			}
		}
	}
	if looked == 0 {
		t.Error("no descriptor of the browser was seen")
	}
}

func wantSandbox(t *testing.T, p *Process) {
	if err := sandboxProof(p.PID()); err != nil {
		t.Error(err)
	}
	renderers, err := renderersOf(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range renderers {
		for _, kind := range []string{"user", "pid", "net"} {
			ours, err := os.Readlink("/proc/self/ns/" + kind)
			if err != nil {
				t.Fatal(err)
			}
			if theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind)); err == nil && theirs == ours {
				t.Errorf("renderer %d shares our %s namespace", pid, kind)
			}
		}
	}
}

func TestI05OwnerEnds(t *testing.T) {
	for _, end := range []string{"kill", "panic"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			owner := exec.Command(os.Args[0])
			// A temporary folder of its own, or another start would sweep what the guard should remove.
			owner.Env = append(os.Environ(), childVariable+"="+end, "TMPDIR="+openDir(t))
			input, err := owner.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			output, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			folder, err := bufio.NewReader(output).ReadString('\n')
			if err != nil {
				t.Error("the owner did not get as far as a running browser:", err)
			}
			folder = strings.TrimSpace(folder)
			if end == "kill" {
				if len(processesOf(t, folder)) < 3 {
					t.Error("no browser is running")
				}
				owner.Process.Kill()
			}
			if err := owner.Wait(); err == nil {
				t.Error("the owner ended well")
			}
			wantNothingLeft(t, folder)
		})
	}
}

func TestI05QuickRestarts(t *testing.T) {
	var folders []string
	for i := range 10 {
		p, err := Launch(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // the others are closed while they still start
			if _, err := ask(p); err != nil {
				t.Error(err)
			}
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		folders = append(folders, p.folder.path)
	}
	for _, f := range folders {
		wantNothingLeft(t, f)
	}
	if zombies := zombies(t); len(zombies) > 0 {
		t.Errorf("zombies: %v", zombies)
	}
}

// zombies lists our ended children that nobody waited for.
func zombies(t *testing.T) []string {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, string(text))
		}
	}
	return found
}

func TestBrowserCrash(t *testing.T) {
	p := start(t, Options{})
	if _, err := ask(p); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	var end *EndError
	if err := p.Err(); !errors.As(err, &end) || !strings.Contains(end.Status, "signal") {
		t.Errorf("got %v, want an EndError that names the signal", err)
	}
	wantNothingLeft(t, p.folder.path)
}

func TestI03NoUserNamespaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can map the user ids that this needs")
	}
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), childVariable+"=no namespaces")
	all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
	owner.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	text, err := owner.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const want = "sandbox: this kernel allows no user namespaces; fix: sysctl -w user.max_user_namespaces="
	if !strings.Contains(string(text), want) {
		t.Errorf("got %s, want %s…", text, want)
	}
}

func TestRefusedFlags(t *testing.T) {
	for _, flag := range []string{
		"--no-sandbox", "--no-sandbox=1", "-no-sandbox", " --no-sandbox", "--no-sandbox ", "--NO-SANDBOX", "--", "https://example.com", "",
		"--disable-web-security", "--disable-ipc-flooding-protection", "--disable-popup-blocking", "--disable-hang-monitor",
		"--allow-file-access-from-files", "--remote-debugging-port=0", "--disable-site-isolation-trials", "--user-data-dir=/x",
		"--proxy-server=x:1", "--renderer-cmd-prefix=x", "--single-process",
	} {
		if args, err := flags(Options{ExtraFlags: []string{flag}}, "/p"); err == nil {
			t.Errorf("%q was passed: %q", flag, args)
		}
	}
	for _, o := range []Options{
		{Locale: "de_CH"}, {Locale: "en --no-sandbox"}, {Timezone: ":/etc/passwd"}, {Timezone: "../x"}, {WindowWidth: -1},
		{Proxy: "http://localhost:1"}, {Proxy: "socks5://127.0.0.1:1"}, {Proxy: "http://u@127.0.0.1:1"}, {Proxy: "127.0.0.1:1"},
	} {
		if args, err := flags(o, "/p"); err == nil {
			t.Errorf("%+v was accepted: %q", o, args)
		}
	}
}

func TestFlags(t *testing.T) {
	args, err := flags(Options{
		Proxy:      "http://127.0.0.1:3128",
		ExtraFlags: []string{"--force-dark-mode", "--disable-features=Foo,Bar", "--disable-features=Baz"},
	}, "/p")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"--user-data-dir=/p", "--headless=new", "--remote-debugging-pipe", "--lang=en-US", "--accept-lang=en-US,en", "--force-dark-mode",
		"--proxy-server=http://127.0.0.1:3128", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("no %s in %q", want, args)
		}
	}
	disable := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasPrefix(a, "--disable-features=") })
	if len(disable) != 1 || !strings.HasSuffix(disable[0], ",Foo,Bar,Baz") || !strings.Contains(disable[0], "Translate") {
		t.Errorf("Chromium heeds only the last of %q", disable)
	}
	for _, a := range args {
		if name, _, _ := strings.Cut(strings.TrimPrefix(a, "--"), "="); name == "no-sandbox" {
			t.Error("the sandbox is off")
		}
	}
}

func TestSweep(t *testing.T) {
	temp := openDir(t)
	t.Setenv("TMPDIR", temp)
	user, err := browserAccount("")
	if err != nil {
		t.Fatal(err)
	}
	defer user.release()
	alive, err := newFolder(user)
	if err != nil {
		t.Fatal(err)
	}
	<-alive.swept
	outside := filepath.Join(temp, "outside")
	dead := filepath.Join(temp, folderPrefix+"dead")
	link := filepath.Join(temp, folderPrefix+"link")
	for _, dir := range []string{outside, filepath.Join(dead, "profile")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []string{link, filepath.Join(dead, "profile", "link")} {
		if err := os.Symlink(outside, l); err != nil {
			t.Fatal(err)
		}
	}
	sweep(temp)
	for path, want := range map[string]bool{alive.profile: true, outside: true, link: true, dead: false} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: there is %t, want %t", path, err == nil, want)
		}
	}
	if err := alive.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(alive.path); err == nil {
		t.Error("the folder is still there")
	}
}

func TestUnreachableFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts browsers as another user")
	}
	temp := t.TempDir()
	if err := os.Chmod(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	_, err := Launch(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "chmod a+x "+temp) {
		t.Errorf("got %v, want the command that opens the folder", err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts browsers as another user")
	}
	a, err := browserAccount("")
	if err != nil {
		t.Fatal(err)
	}
	defer a.release()
	b, err := browserAccount("")
	if err != nil {
		t.Fatal(err)
	}
	defer b.release()
	if a.uid == b.uid || a.uid < firstOwnUID || a.uid > lastOwnUID {
		t.Errorf("two browsers got users %d and %d", a.uid, b.uid)
	}
	named, err := browserAccount("1234:56")
	if err != nil || named.uid != 1234 || named.gid != 56 {
		t.Errorf("1234:56 is %+v, %v", named, err)
	}
	for _, name := range []string{"root", "0", "0:5", "1:x", "no-such-user-here"} {
		if a, err := browserAccount(name); err == nil {
			t.Errorf("%s was accepted: %+v", name, a)
		}
	}
}

func TestTail(t *testing.T) {
	var out tail
	out.read(strings.NewReader(strings.Repeat("old\n", 50)+"\x1b[31mred\u202e\n"+strings.Repeat("x", 5000)+"\nlast"), discard)
	lines := out.last()
	if len(lines) != tailLines {
		t.Fatalf("%d lines are kept, want %d", len(lines), tailLines)
	}
	if got := lines[tailLines-3:]; got[0] != "[31mred" || len(got[1]) != tailLineSize || got[2] != "last" {
		t.Errorf("kept %q", got)
	}
}

func TestExamine(t *testing.T) {
	r := Examine(t.Context(), Options{})
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if r.Status() == Fail {
		t.Errorf("%s", text)
	}
	for _, name := range []string{"browser", "user", "sandbox", "fonts"} {
		if !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Name == name }) {
			t.Errorf("nothing about the %s in %s", name, text)
		}
	}
	t.Logf("%s", text)
}

func TestExamineBrokenBrowser(t *testing.T) {
	program := filepath.Join(openDir(t), "chromium")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho cannot open shared object file >&2\nexit 127\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := Examine(t.Context(), Options{Executable: Executable{Path: program, Kind: "Chromium"}})
	if r.Status() != Fail || !strings.Contains(r.Checks[0].Text, "cannot open shared object file") {
		t.Errorf("got %+v, want what the browser printed", r)
	}
}

// TestFolderIsAbsolute: the browser's folder is found from wherever the browser runs, also when TMPDIR is relative.
func TestFolderIsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	path, lock, err := claimFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if !filepath.IsAbs(path) {
		t.Errorf("folder %q", path)
	}
}
