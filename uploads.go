package pagehand

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/pagehand/pagehand/contract"
)

const (
	mostUploadBytes  = 256 << 20 // of one file
	mostStagedBytes  = 1 << 30   // of all files of a session
	mostUploadFiles  = 100       // of one call
	mostDocumentName = 150       // bytes
)

// uploads resolves what file_upload names to files that Chromium may read. A page reads a file when it likes, so Chromium never gets the
// file itself: a copy is staged in a folder that holds nothing else and goes with the session. It is safe for concurrent use.
type uploads struct {
	roots     []uploadRoot
	staging   string
	own       func(path string) error // hands a path to the browser's user
	fileLimit int64

	mu        sync.Mutex
	documents map[string]string // id to path: the application's file, or one staged from its content
	staged    int64             // bytes
}

// uploadRoot is a folder that paths may name files in.
type uploadRoot struct {
	*os.Root
	names []string // absolute, as configured and as resolved
}

// errUnavailable is what a path gets that names no file, or one that may not be uploaded: a page that steers the model
// must not learn which files exist.
var errUnavailable = errors.New("not available for upload")

// newUploads opens the roots. None may contain, equal or lie in the download folder, where a page decides what the files hold.
// staging is an empty folder of the session's own, which the browser's user can enter.
func newUploads(roots []string, documents map[string]string, downloads, staging string, own func(string) error) (*uploads, error) {
	u := &uploads{staging: staging, own: own, fileLimit: mostUploadBytes, documents: map[string]string{}}
	for id, path := range documents {
		if id == "" {
			return nil, fmt.Errorf("document %s: its id is empty", path)
		}
		u.documents[id] = path
	}
	for _, path := range roots {
		root, err := openUploadRoot(path, downloads)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("upload folder %s: %w", path, err), u.closeRoots())
		}
		u.roots = append(u.roots, root)
	}
	return u, nil
}

func openUploadRoot(path, downloads string) (uploadRoot, error) {
	named, err := filepath.Abs(path)
	if err != nil {
		return uploadRoot{}, err
	}
	resolved, err := filepath.EvalSymlinks(named)
	if err != nil {
		return uploadRoot{}, err
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return uploadRoot{}, err
	}
	if err := apart(root, resolved, downloads); err != nil {
		return uploadRoot{}, errors.Join(err, root.Close())
	}
	return uploadRoot{root, []string{named, resolved}}, nil
}

// apart checks that an upload root and the download folder are not the same and neither lies in the other, whatever links and mounts
// they are reached by.
func apart(root *os.Root, path, downloads string) error {
	above, err := root.Stat(".")
	if err != nil {
		return err
	}
	if downloads, err = filepath.EvalSymlinks(downloads); err != nil {
		return fmt.Errorf("download folder: %w", err)
	}
	below, err := os.Stat(downloads)
	if err != nil {
		return fmt.Errorf("download folder: %w", err)
	}
	if inside, err := liesIn(downloads, above); err != nil || inside {
		return errors.Join(errors.New("it contains the download folder; choose another"), err)
	}
	if inside, err := liesIn(path, below); err != nil || inside {
		return errors.Join(errors.New("it lies in the download folder; choose another"), err)
	}
	return nil
}

// liesIn tells whether path or a folder above it is dir.
func liesIn(path string, dir fs.FileInfo) (bool, error) {
	for {
		info, err := os.Stat(path)
		if err != nil {
			return false, err
		}
		if os.SameFile(info, dir) {
			return true, nil
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false, nil
		}
		path = parent
	}
}

// AddDocument stages content that file_upload may name by id (contract §4: document_ids resolve only to files the application staged
// for this task). name is what a page sees as the file's name. An id that is known already is replaced.
func (s *Session) AddDocument(id, name string, content io.Reader) error {
	if id == "" {
		return errors.New("add a document: its id is empty")
	}
	path, err := s.uploads.stage(safeName(name, mostDocumentName), content)
	if err != nil {
		return fmt.Errorf("add document %s: %w", id, err)
	}
	s.uploads.mu.Lock()
	defer s.uploads.mu.Unlock()
	s.uploads.documents[id] = path
	return nil
}

// resolve stages the files that a call names, in order, paths first. Its errors are for the model.
func (u *uploads) resolve(paths, ids []string) ([]string, error) {
	if n := len(paths) + len(ids); n > mostUploadFiles {
		return nil, toolErrorf("%d files are too many; at most %d can be uploaded at once.", n, mostUploadFiles)
	}
	var staged []string
	for _, path := range paths {
		file, err := u.open(path)
		if err == nil {
			path, err = u.stageFile(file)
		}
		if err != nil {
			return nil, u.explain("The path", path, err)
		}
		staged = append(staged, path)
	}
	for _, id := range ids {
		u.mu.Lock()
		path, known := u.documents[id]
		u.mu.Unlock()
		if !known {
			return nil, toolErrorf("The document id %q is not known in this task. Use an id that was given to you.", contract.CleanField(shorten(id, 200)))
		}
		if filepath.Dir(filepath.Dir(path)) != u.staging {
			file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // the application's choice, links included
			if err == nil {
				path, err = u.stageFile(file)
			}
			if err != nil {
				return nil, u.explain("The document id", id, err)
			}
		}
		staged = append(staged, path)
	}
	return staged, nil
}

func (u *uploads) explain(what, name string, err error) error {
	name = contract.CleanField(shorten(name, 200))
	var limit *sizeError
	switch {
	case errors.As(err, &limit):
		return &ToolError{fmt.Sprintf("%s %q cannot be uploaded: %v.", what, name, limit), err}
	case len(u.roots) == 0 && what == "The path":
		return &ToolError{"Files cannot be uploaded by path in this environment. Use document_ids.", err}
	}
	return &ToolError{fmt.Sprintf("%s %q is not available for upload. Only regular files inside the upload folder are; check the spelling.", what, name), err}
}

// sizeError says that a limit of bytes would be passed.
type sizeError struct {
	what  string
	limit int64
}

func (e *sizeError) Error() string { return fmt.Sprintf("%s %d MB", e.what, e.limit>>20) }

// open opens a file inside a root. Links and ".." are resolved while opening, by the descriptor of the root, so nothing can be swapped
// between a check and the use.
func (u *uploads) open(path string) (*os.File, error) {
	for _, root := range u.roots {
		inside, ok := root.relative(path)
		if !ok {
			continue
		}
		// Not blocking: opening a FIFO for reading would wait for a writer.
		file, err := root.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		if err == nil && info.Mode().IsRegular() && links(info) == 1 {
			return file, nil
		}
		file.Close()
	}
	return nil, errUnavailable
}

// relative is a path's part below the root. A relative path is meant from each root.
func (r uploadRoot) relative(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		return path, path != ""
	}
	for _, name := range r.names {
		if inside, ok := strings.CutPrefix(path, strings.TrimSuffix(name, "/")+"/"); ok && inside != "" && inside[0] != '/' {
			return inside, true
		}
	}
	return "", false
}

// stageFile copies an open file into the staging folder and closes it.
func (u *uploads) stageFile(file *os.File) (string, error) {
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errUnavailable
	}
	if info.Size() > u.fileLimit {
		return "", &sizeError{"a file may have at most", u.fileLimit}
	}
	return u.stage(filepath.Base(file.Name()), file)
}

// stage copies content into a folder of its own, where the browser's user can read it.
func (u *uploads) stage(name string, content io.Reader) (path string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	dir, err := os.MkdirTemp(u.staging, "")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	path = filepath.Join(dir, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	limit := min(u.fileLimit, mostStagedBytes-u.staged)
	n, err := io.Copy(file, io.LimitReader(content, limit+1)) // one more shows that a growing file passed the limit
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if n > limit {
		if limit < u.fileLimit {
			return "", &sizeError{"all files of a session may have at most", mostStagedBytes}
		}
		return "", &sizeError{"a file may have at most", limit}
	}
	for _, p := range []string{path, dir} {
		if err := u.own(p); err != nil {
			return "", err
		}
	}
	u.staged += n
	return path, nil
}

func (u *uploads) closeRoots() error {
	var errs []error
	for _, root := range u.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// Close removes what was staged.
func (u *uploads) Close() error {
	return errors.Join(u.closeRoots(), os.RemoveAll(u.staging))
}
