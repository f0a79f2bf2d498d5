package chrome

import (
	"os"
	"strings"
)

// distribution is the ID of this Linux distribution, such as "debian" or "ubuntu", or empty.
func distribution() string { return osRelease("ID") }

// isDebian says whether Debian's package names and commands apply.
func isDebian() bool {
	return distribution() == "debian" || strings.Contains(" "+osRelease("ID_LIKE")+" ", " debian ")
}

func osRelease(key string) string {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}
