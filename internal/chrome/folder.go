//go:build linux || darwin

package chrome

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folder is a browser's place in the file system: home, profile, temporary files, downloads. All of it is removed
// at the end. It stays locked while we live, which tells other processes that it is in use.
type folder struct {
	path                string // ours
	profile, home, temp string // the browser user's, below path
	programs            string // ours, below path: what the browser finds first in its PATH
	user                account
	lock                *os.File
	swept               chan struct{}
}

// folderPrefix begins the names of browser folders; sweep removes what begins so and has no owner.
const folderPrefix = "pagehand-browser-"

func newFolder(user account) (*folder, error) {
	path, lock, err := claimFolder()
	if err != nil {
		return nil, err
	}
	f := &folder{
		path:     path,
		profile:  filepath.Join(path, "profile"),
		home:     filepath.Join(path, "home"),
		temp:     filepath.Join(path, "tmp"),
		programs: filepath.Join(path, "programs"),
		user:     user,
		lock:     lock,
		swept:    make(chan struct{}),
	}
	go func() {
		defer close(f.swept)
		sweep(filepath.Dir(path))
	}()
	if err := f.furnish(); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	return f, nil
}

func (f *folder) furnish() error {
	if f.user.separate {
		if err := os.Chmod(f.path, 0o711); err != nil { // the browser's user passes through but can't list or add
			return err
		}
	}
	for _, dir := range []string{f.profile, f.home, f.temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := f.user.own(dir); err != nil {
			return err
		}
	}
	if err := f.addPrograms(); err != nil {
		return err
	}
	return f.user.canReach(f.profile)
}

// addPrograms puts an xdg-settings in the browser's way that calls it the default program for every scheme. Else Chromium would start
// another program for mailto:, and ask a person whether to open tel: and the like, in a dialog that nobody sees and that
// keeps all input from the tab.
func (f *folder) addPrograms() error {
	if err := os.Mkdir(f.programs, 0o755); err != nil {
		return err
	}
	path := filepath.Join(f.programs, "xdg-settings")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho yes\n"), 0o755); err != nil {
		return err
	}
	// Whatever the umask is: the browser's user reads and runs it, and only we can change it.
	return errors.Join(os.Chmod(f.programs, 0o755), os.Chmod(path, 0o755))
}

func (f *folder) makeDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp(f.path, pattern)
	if err != nil {
		return "", err
	}
	if err := f.user.own(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// remove removes the folder and gives up the claim to it.
func (f *folder) remove() error {
	<-f.swept
	defer f.lock.Close()
	if err := os.RemoveAll(f.path); err != nil {
		return fmt.Errorf("remove the browser's folder: %w", err)
	}
	return nil
}

// claimFolder makes a folder and locks it. Between the two a sweeping process may take it for an abandoned one;
// then another is made.
func claimFolder() (string, *os.File, error) {
	dir, err := filepath.Abs(os.TempDir()) // the browser runs in another folder
	if err != nil {
		return "", nil, err
	}
	for {
		path, err := os.MkdirTemp(dir, folderPrefix)
		if err != nil {
			return "", nil, err
		}
		lock, err := lockFolder(path)
		if errors.Is(err, errInUse) || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(path))
		}
		return path, lock, nil
	}
}

// errInUse says that a folder has a living owner.
var errInUse = errors.New("in use")

// lockFolder takes the lock of a browser folder. The lock ends with the process that holds it.
func lockFolder(path string) (*os.File, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		dir.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errInUse
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	locked, err := dir.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(locked, there) {
			err = errInUse
		}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// sweep removes the browser folders in dir whose owners are gone. It touches only folders of our own user and is
// a best effort: what it can't remove now, the next start tries again.
func sweep(dir string) {
	found, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range found {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		lock, err := lockFolder(path)
		if err != nil {
			continue
		}
		os.RemoveAll(path)
		lock.Close()
	}
}
