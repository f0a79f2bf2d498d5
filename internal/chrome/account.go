//go:build linux || darwin

package chrome

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is whom the browser runs as.
type account struct {
	uid, gid uint32
	separate bool     // another user than ours; only root can do that
	claim    *os.File // keeps other processes from using a uid of our choice; nil for a named user
}

func (a account) release() {
	if a.claim != nil {
		a.claim.Close()
	}
}

// browserAccount decides whom the browser runs as. An ordinary user runs it himself. Root never does: Chromium
// refuses to, and a browser that was taken over would own the machine.
func browserAccount(name string) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}, nil
	}
	if name == "" {
		name = os.Getenv("PAGEHAND_USER")
	}
	if name == "" {
		return unusedAccount()
	}
	a, err := namedAccount(name)
	if err != nil {
		return account{}, fmt.Errorf("browser user %q: %w", name, err)
	}
	if a.uid == 0 {
		return account{}, fmt.Errorf("browser user %q is root, and Chromium's sandbox needs another", name)
	}
	return a, nil
}

func namedAccount(name string) (account, error) {
	uidText, gidText, both := strings.Cut(name, ":")
	if uid, err := strconv.ParseUint(uidText, 10, 32); err == nil {
		gid := uid
		if both {
			if gid, err = strconv.ParseUint(gidText, 10, 32); err != nil {
				return account{}, errors.New("want a user name, UID or UID:GID")
			}
		}
		return account{uid: uint32(uid), gid: uint32(gid), separate: true}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, err
	}
	return account{uid: uint32(uid), gid: uint32(gid), separate: true}, nil
}

// own hands a file or folder to the browser's user.
func (a account) own(path string) error {
	if !a.separate {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// canReach says which folder on the way to a path the browser's user may not enter. Group memberships other than
// the main one don't count, because the browser is started without them.
func (a account) canReach(path string) error {
	if !a.separate {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		enter := info.Mode().Perm() & 0o001
		switch {
		case owner.Uid == a.uid:
			enter = info.Mode().Perm() & 0o100
		case owner.Gid == a.gid:
			enter = info.Mode().Perm() & 0o010
		}
		if enter == 0 {
			return fmt.Errorf("%s: user %d, whom the browser runs as, may not enter %s; choose another place or run: chmod a+x %s",
				path, a.uid, dir, dir)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func (a account) processAttributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true} // a group of its own: one kill reaches all, and no Ctrl-C of ours does
	if a.separate {
		attr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	setParentDeathSignal(attr)
	return attr
}
