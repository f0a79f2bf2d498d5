package page

import (
	"embed"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/page"

	"github.com/pagehand/pagehand/internal/cdp"
)

//go:embed js/*.js
var libraryFiles embed.FS

// libraryOrder lists the files of the in-page library. They share one function scope; prelude.js opens it
// and epilogue.js closes it, the order of the others matters only for constants computed at load.
var libraryOrder = []string{
	"prelude.js",
	"dom.js",
	"refs.js",
	"visible.js",
	"role.js",
	"name.js",
	"state.js",
	"lines.js",
	"walk.js",
	"shadow.js",
	"read.js",
	"article.js",
	"text.js",
	"find_words.js",
	"find.js",
	"point.js",
	"landed.js",
	"form.js",
	"upload.js",
	"observe.js",
	"epilogue.js",
}

// comment is a line that is all comment. They make up a quarter of the library, which travels to each new document.
var comment = regexp.MustCompile(`(?m)^[ \t]*//.*$`)

// librarySource is the expression that installs the in-page library in an isolated world.
var librarySource = func() string {
	var b strings.Builder
	for _, name := range libraryOrder {
		src, err := libraryFiles.ReadFile("js/" + name)
		if err != nil {
			panic("page: " + err.Error()) // a file is listed that is not embedded: a build mistake
		}
		b.Write(comment.ReplaceAll(src, nil))
		b.WriteByte('\n')
	}
	return b.String()
}()

// libraryProbe is the value of [librarySource] where the library is installed already, null where it is not.
const libraryProbe = `Object.hasOwn(globalThis, 'pagehand') ? pagehand(1, 'levels', []).value : null`

// installLibrary has Chromium install the library itself in each new document of the tab, before the document's own scripts: it travels
// once, and is compiled once for a process. Documents of frames get it when they are read.
func installLibrary(s *cdp.Session) {
	cdp.Post(s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: "if (window === top)\n" + librarySource, WorldName: worldName,
	})
}
