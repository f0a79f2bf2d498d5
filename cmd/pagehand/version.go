package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/pagehand/pagehand/contract"
)

// version is set by the linker for a release.
var version string

// versionCmd prints what this program is.
type versionCmd struct{}

// Run prints one fact a line.
func (versionCmd) Run(std *streams) error {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = commitOf(info)
	}
	_, err := fmt.Fprintf(std.out, "pagehand %s\ncommit   %s\ngo       %s %s/%s\ntoolset  %s\n", versionNumber(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, contract.ToolsetType)
	return err
}

// versionNumber is the release, or what the build says of itself.
func versionNumber() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// commitOf finds the commit that the program was built from.
func commitOf(info *debug.BuildInfo) string {
	commit, changed := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with local changes"
		}
	}
	return commit + changed
}
