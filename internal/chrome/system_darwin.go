package chrome

import (
	"errors"
	"syscall"
)

// unusedAccount refuses: macOS ties much to its user database, so a browser can't run as a user of its own.
func unusedAccount() (account, error) {
	return account{}, errors.New("Chromium does not run as root: run as an ordinary user or set PAGEHAND_USER to one")
}

// setParentDeathSignal does nothing: macOS has no such signal. Chromium leaves when its pipe ends, and the guard
// kills what doesn't.
func setParentDeathSignal(*syscall.SysProcAttr) {}

// awaitExit does nothing: the group is killed after its leader is reaped.
func awaitExit(int) {}

// smallSharedMemory is a matter of Linux.
func smallSharedMemory() (uint64, bool) { return 0, false }

// sandboxProof relies on Chromium, which does not run without its sandbox here.
func sandboxProof(int) error { return nil }

func sandboxError() *SandboxError {
	return &SandboxError{Cause: "macOS refused it", Fix: "brew reinstall --cask chromium"}
}
