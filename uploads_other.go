//go:build !unix

package pagehand

import "io/fs"

// links cannot be told here, so no file counts as having a single name.
func links(fs.FileInfo) uint64 { return 0 }
