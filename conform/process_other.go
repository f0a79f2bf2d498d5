//go:build !unix

package conform

import (
	"errors"
	"os"
	"os/exec"
)

// shell prepares a command.
func shell(command string) *exec.Cmd { return exec.Command("cmd", "/c", command) }

// killGroup kills the command's shell. There are no process groups here: an executor must end when its input does.
func killGroup(cmd *exec.Cmd) error {
	err := cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
