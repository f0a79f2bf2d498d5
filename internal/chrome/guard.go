//go:build linux || darwin

package chrome

import (
	_ "embed" // guard.sh
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

//go:embed guard.sh
var guardScript string

// guard is a tiny shell that outlives us for a moment: whatever ends us closes its input, whereupon it kills
// the browser's process group and removes its folder. See guard.sh.
type guard struct {
	cmd   *exec.Cmd
	input *os.File
}

func startGuard(folder string) (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "pagehand-guard", folder)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.Stdin = theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no Ctrl-C meant for us reaches it
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	return &guard{cmd: cmd, input: ours}, nil
}

// watch names the process group to kill at our death; 0 means none.
func (g *guard) watch(group int) {
	line := "\n"
	if group > 0 {
		line = strconv.Itoa(group) + "\n"
	}
	g.input.WriteString(line) // a guard that someone killed is no reason to stop; the next start sweeps
}

// stop lets the guard go. It removes the folder first if that is still there.
func (g *guard) stop() {
	g.input.Close()
	g.cmd.Wait() // how it ended doesn't matter: someone may have killed it
}
