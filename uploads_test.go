package pagehand

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

type uploadFixture struct {
	*uploads
	root, outside string
}

func newUploadFixture(t *testing.T) uploadFixture {
	t.Helper()
	dir := t.TempDir()
	f := uploadFixture{root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "root-2")}
	for _, d := range []string{f.root, filepath.Join(f.root, "sub"), f.outside, filepath.Join(dir, "downloads"), filepath.Join(dir, "staging")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(f.root, "a.txt"), "alpha")
	write(t, filepath.Join(f.root, "sub", "b.txt"), "beta")
	write(t, filepath.Join(f.outside, "secret.txt"), "secret")
	u, err := newUploads([]string{f.root}, map[string]string{"doc-1": filepath.Join(f.outside, "secret.txt")},
		filepath.Join(dir, "downloads"), filepath.Join(dir, "staging"), func(string) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	f.uploads = u
	return f
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, old, name string) {
	t.Helper()
	if err := os.Symlink(old, name); err != nil {
		t.Fatal(err)
	}
}

func TestUploadsInside(t *testing.T) {
	f := newUploadFixture(t)
	link(t, "a.txt", filepath.Join(f.root, "inside-link.txt"))
	for path, want := range map[string]string{
		"a.txt":                               "alpha",
		"sub/b.txt":                           "beta",
		"sub/../a.txt":                        "alpha",
		"inside-link.txt":                     "alpha",
		filepath.Join(f.root, "sub", "b.txt"): "beta",
	} {
		staged, err := f.resolve([]string{path}, nil)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := os.ReadFile(staged[0])
		if err != nil || string(got) != want {
			t.Errorf("%s: staged %q, %v", path, got, err)
		}
		if filepath.Base(staged[0]) != filepath.Base(path) || !strings.HasPrefix(staged[0], f.staging+"/") {
			t.Errorf("%s: staged as %s", path, staged[0])
		}
	}
	if staged, err := f.resolve([]string{"a.txt"}, []string{"doc-1"}); err != nil || len(staged) != 2 {
		t.Errorf("path and document: %v, %v", staged, err)
	}
}

func TestF01Outside(t *testing.T) {
	f := newUploadFixture(t)
	link(t, f.outside, filepath.Join(f.root, "dir-link"))
	link(t, filepath.Join(f.outside, "secret.txt"), filepath.Join(f.root, "absolute-link.txt"))
	link(t, "../root-2/secret.txt", filepath.Join(f.root, "relative-link.txt"))
	link(t, "relative-link.txt", filepath.Join(f.root, "chain.txt"))
	link(t, "/proc/self/root", filepath.Join(f.root, "magic"))
	refused := func(path string) string {
		_, err := f.resolve([]string{path}, nil)
		var te *ToolError
		if !errors.As(err, &te) {
			t.Errorf("%q: %v, want a refusal", path, err)
			return ""
		}
		_, words, _ := strings.Cut(te.Message, `" `)
		return words
	}
	missing := refused("missing.txt")
	for _, path := range []string{
		"", ".", "..", "../root-2/secret.txt", "sub/../../root-2/secret.txt", "/etc/passwd", f.root, f.root + "/", f.outside + "/secret.txt",
		f.root + "-2/secret.txt", f.root + "/../root-2/secret.txt", f.root + "//etc/passwd", "dir-link/secret.txt", "absolute-link.txt", "relative-link.txt",
		"chain.txt", "magic/etc/passwd", "/proc/self/cwd/uploads.go", "/proc/self/environ", "a.txt/", "a.txt\x00", "a.txt\x00.png", "~/a.txt", "sub",
	} {
		if words := refused(path); words != missing {
			t.Errorf("%q says %q, a missing file %q", path, words, missing)
		}
	}
	if entries, err := os.ReadDir(f.staging); err != nil || len(entries) != 0 {
		t.Errorf("refused files left %v in the staging folder (%v)", entries, err)
	}
}

func TestF02Snapshot(t *testing.T) {
	f := newUploadFixture(t)
	staged, err := f.resolve([]string{"a.txt"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.root, "a.txt"), "changed")
	if got, err := os.ReadFile(staged[0]); err != nil || string(got) != "alpha" {
		t.Errorf("after a change the page reads %q, %v", got, err)
	}
	// The root is swapped for a link to elsewhere: the descriptor stays with the old folder.
	if err := os.Rename(f.root, f.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	link(t, f.outside, f.root)
	if _, err := f.resolve([]string{"secret.txt"}, nil); err == nil {
		t.Error("a swapped root gave a file from outside")
	}
}

func TestF03NoPlainFile(t *testing.T) {
	f := newUploadFixture(t)
	if err := syscall.Mkfifo(filepath.Join(f.root, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(f.outside, "secret.txt"), filepath.Join(f.root, "hard.txt")); err != nil {
		t.Fatal(err)
	}
	f.fileLimit = 10
	write(t, filepath.Join(f.root, "huge.bin"), "01234567890")
	for path, want := range map[string]string{"fifo": "not available", "hard.txt": "not available", "sub": "not available", "huge.bin": "at most"} {
		if _, err := f.resolve([]string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// A file that grows while it is copied.
	if _, err := f.stage("growing", strings.NewReader("01234567890")); err == nil {
		t.Error("a growing file was staged past the limit")
	}
	if entries, err := os.ReadDir(f.staging); err != nil || len(entries) != 0 {
		t.Errorf("refused files left %v in the staging folder (%v)", entries, err)
	}
}

func TestF04DownloadFolder(t *testing.T) {
	dir := t.TempDir()
	downloads, staging := filepath.Join(dir, "up", "downloads"), filepath.Join(dir, "staging")
	for _, d := range []string{filepath.Join(downloads, "inner"), filepath.Join(dir, "other"), staging} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link(t, downloads, filepath.Join(dir, "link"))
	link(t, filepath.Join(dir, "up"), filepath.Join(dir, "parent-link"))
	for _, root := range []string{downloads, filepath.Join(dir, "up"), filepath.Join(downloads, "inner"), filepath.Join(dir, "link"), filepath.Join(dir, "parent-link"), "/"} {
		if u, err := newUploads([]string{root}, nil, downloads, staging, nil); err == nil {
			u.Close()
			t.Errorf("upload folder %s was accepted beside the download folder %s", root, downloads)
		}
	}
	u, err := newUploads([]string{filepath.Join(dir, "other")}, nil, filepath.Join(dir, "link"), staging, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

func TestDocuments(t *testing.T) {
	f := newUploadFixture(t)
	s := &Session{uploads: f.uploads}
	if err := s.AddDocument("r", "../re port\u202e.csv", bytes.NewReader([]byte("a,b"))); err != nil {
		t.Fatal(err)
	}
	staged, err := f.resolve(nil, []string{"r", "doc-1"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a,b", "secret"} {
		if got, err := os.ReadFile(staged[i]); err != nil || string(got) != want {
			t.Errorf("document %d: %q, %v", i, got, err)
		}
	}
	if name := filepath.Base(staged[0]); name != "_re port.csv" {
		t.Errorf("named %q", name)
	}
	if _, err := f.resolve(nil, []string{"unknown"}); err == nil {
		t.Error("an unknown document was resolved")
	}
	if err := s.AddDocument("", "x", nil); err == nil {
		t.Error("an empty id was accepted")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.staging); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the staging folder is still there: %v", err)
	}
}
