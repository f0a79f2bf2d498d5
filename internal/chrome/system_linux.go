package chrome

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Ids for browsers started by root. Distributions give ids below 60000 to people and services, systemd's other
// ranges begin at 61184, and ids above 65535 don't exist in many containers.
const (
	firstOwnUID = 60706
	lastOwnUID  = 61183
)

// unusedAccount claims a user id that no other browser of this machine has, so that a browser process that was
// taken over can reach neither our memory and files nor another browser's. The id needs no line in the user
// database. An abstract socket address is the claim: the kernel gives it to one process only and takes it
// back when that process ends.
func unusedAccount() (account, error) {
	if !idMapped(firstOwnUID) || !idMapped(lastOwnUID) {
		return account{}, fmt.Errorf("this container has no user ids from %d to %d for the browser: run as an ordinary user, or set PAGEHAND_USER to one that exists",
			firstOwnUID, lastOwnUID)
	}
	count := lastOwnUID - firstOwnUID + 1
	start := rand.IntN(count)
	for i := range count {
		uid := uint32(firstOwnUID + (start+i)%count)
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return account{}, fmt.Errorf("claim a user id for the browser: %w", err)
		}
		claim := os.NewFile(uintptr(fd), "user id claim")
		err = syscall.Bind(fd, &syscall.SockaddrUnix{Name: fmt.Sprintf("@pagehand-browser-user-%d", uid)})
		if err == nil {
			return account{uid: uid, gid: uid, separate: true, claim: claim}, nil
		}
		claim.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			return account{}, fmt.Errorf("claim a user id for the browser: %w", err)
		}
	}
	return account{}, fmt.Errorf("every user id from %d to %d is in use by a browser", firstOwnUID, lastOwnUID)
}

func setParentDeathSignal(attr *syscall.SysProcAttr) {
	attr.Pdeathsig = syscall.SIGKILL
}

// awaitExit returns when a child has ended, and leaves reaping it to the caller.
func awaitExit(pid int) {
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// sandboxError finds out why Chromium could not build its sandbox.
func sandboxError() *SandboxError {
	if setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" {
		return &SandboxError{
			Cause: "this kernel allows user namespaces to root only",
			Fix:   "sysctl -w kernel.unprivileged_userns_clone=1",
		}
	}
	if setting("/proc/sys/user/max_user_namespaces") == "0" {
		return &SandboxError{
			Cause: "this kernel allows no user namespaces",
			Fix:   "sysctl -w user.max_user_namespaces=15000",
		}
	}
	if inContainer() {
		return &SandboxError{
			Cause: "this container may not make user namespaces",
			Fix:   "start the container with a seccomp profile that allows clone, unshare and setns, for example: docker run --security-opt seccomp=PROFILE.json …",
		}
	}
	if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
		return &SandboxError{
			Cause: "AppArmor restricts user namespaces to programs with a profile",
			Fix:   "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
		}
	}
	return &SandboxError{
		Cause: "user namespaces are not available",
		Fix:   "apt-get update && apt-get install -y chromium-sandbox",
	}
}

// smallSharedMemory says whether /dev/shm has too little room for Chromium, which then gets its shared memory from
// temporary files instead; the size is the room left, in bytes. Docker gives containers 64 MiB unless told more.
func smallSharedMemory() (size uint64, small bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err != nil {
		return 0, true
	}
	size = fs.Bavail * uint64(fs.Bsize)
	return size, size < 512<<20
}

// idMapped says whether a user id exists in this user namespace.
func idMapped(uid uint32) bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true // the kernel will say
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, count uint64
		if _, err := fmt.Sscan(line, &first, &outside, &count); err == nil && uint64(uid) >= first && uint64(uid) < first+count {
			return true
		}
	}
	return false
}

// sandboxProof says what confines the renderers of a running browser, or what fails to.
func sandboxProof(group int) error {
	renderers, err := renderersOf(group)
	if err != nil {
		return err
	}
	if len(renderers) == 0 {
		return errors.New("no renderer process was found")
	}
	for _, pid := range renderers {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return err
		}
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(string(status), want) {
				return fmt.Errorf("renderer %d lacks %q", pid, strings.TrimSpace(want))
			}
		}
	}
	return nil
}

// renderersOf lists the renderer processes of a browser by its process group.
func renderersOf(group int) ([]int, error) {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var renderers []int
	for _, entry := range processes {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if found, err := unix.Getpgid(pid); err != nil || found != group {
			continue
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), "--type=renderer") {
			renderers = append(renderers, pid)
		}
	}
	return renderers, nil
}

func setting(path string) string {
	value, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(value))
}

// inContainer recognises Docker, Podman and Kubernetes by the marks they leave.
func inContainer() bool {
	for _, path := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}
