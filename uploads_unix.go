//go:build unix

package pagehand

import (
	"io/fs"
	"syscall"
)

// links is how many names a file has. One that has more may be a file from elsewhere under another name.
func links(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(stat.Nlink)
}
