// Package archtest keeps the architecture as ARCHITECTURE.md tells it: imports point down, each large dependency has one home,
// every package says what it is for.
package archtest

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pagehand/pagehand"

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p pkg
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// mayImport says what of ours each package may import, below the module's path. A package that is not listed may import nothing of ours.
var mayImport = map[string][]string{
	"":                      {"/contract", "/egress", "/internal/cdp", "/internal/chrome", "/internal/keys", "/internal/page"},
	"/internal/page":        {"/contract", "/internal/cdp", "/internal/keys", "/internal/redact"},
	"/anthropic":            {"", "/contract"},
	"/models":               {"/contract"},
	"/check":                {"", "/contract", "/models", "/recording"},
	"/script":               {"/contract"},
	"/api":                  {"", "/check", "/contract", "/models", "/recording", "/script"},
	"/agent":                {"", "/check", "/contract", "/internal/redact", "/models", "/recording", "/script"},
	"/agent/mcptools":       {"/agent", "/contract"},
	"/conform":              {"", "/check", "/contract", "/script"},
	"/report":               {"/contract", "/recording"},
	"/approval":             {"/policy"},
	"/policy":               {"/egress", "/internal/keys"},
	"/examples/go":          {"", "/anthropic", "/egress"},
	"/internal/browsertest": {""},
}

// homes are the large dependencies and the only packages that may import them.
var homes = map[string][]string{
	"github.com/anthropics/anthropic-sdk-go": {"/agent", "/anthropic", "/examples/go"},
	"github.com/modelcontextprotocol/go-sdk": {"/agent/mcptools"},
	"github.com/google/jsonschema-go":        {"/agent"},
	"golang.org/x/oauth2":                    {"/agent"},
	"github.com/alecthomas/kong":             {"/cmd/pagehand"},
	"github.com/goccy/go-yaml":               {"/api", "/cmd/pagehand", "/models", "/policy"},
	"github.com/nlnwa/whatwg-url":            {"/egress"},
	"code.dny.dev/ssrf":                      {"/egress"},
	"github.com/coder/websocket":             {"/internal/cdp"},
	"github.com/chromedp/cdproto":            {"", "/internal/cdp", "/internal/page"},
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && !strings.HasPrefix(name, "/cmd/") && !slices.Contains(mayImport[name], ours) {
				t.Errorf("%s imports %s, against the direction that ARCHITECTURE.md tells: only cmd joins packages freely", p.ImportPath, imported)
			}
			for dependency, allowed := range homes {
				if strings.HasPrefix(imported, dependency) && !slices.Contains(allowed, name) {
					t.Errorf("%s imports %s, whose home is %v", p.ImportPath, imported, allowed)
				}
			}
		}
	}
}

func TestPackageDocs(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" && !strings.HasSuffix(p.ImportPath, "/archtest") {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
		for _, banned := range []string{"util", "helper", "manager", "common"} {
			if strings.Contains(p.ImportPath[strings.LastIndex(p.ImportPath, "/"):], banned) {
				t.Errorf("%s: %q says nothing about what the package is", p.ImportPath, banned)
			}
		}
	}
}
