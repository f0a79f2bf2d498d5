package page

import (
	"regexp"
	"testing"
)

// TestLibraryNames: the files of the in-page library share one scope, where a name that is declared twice is a syntax error that would
// only show in a browser.
func TestLibraryNames(t *testing.T) {
	declaration := regexp.MustCompile(`(?m)^(?:const|let|class|function\*?|async function) ([\w$]+)`)
	seen := map[string]string{}
	for _, file := range libraryOrder {
		src, err := libraryFiles.ReadFile("js/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declaration.FindAllStringSubmatch(string(src), -1) {
			if other := seen[m[1]]; other != "" {
				t.Errorf("%s declares %s, which %s has declared", file, m[1], other)
			}
			seen[m[1]] = file
		}
	}
}
