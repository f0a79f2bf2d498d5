package page

import (
	"context"
	"fmt"
	"mime"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"github.com/pagehand/pagehand/internal/cdp"
)

// FilesSet is what became of files that were set on a file input.
type FilesSet struct {
	// Names are the files' names as the page sees them.
	Names []string
	// Note is a remark for the model, empty when there is none.
	Note string
}

const uploadGroup = "pagehand-upload"

// SetFiles sets files on the file input that a reference means: the input itself, also a hidden one, or its label, what contains it, or
// any element where the document has only one. Nothing is set when the input cannot take what is given. paths must be absolute, and
// Chromium must be able to read them for as long as the page may.
func (p *Page) SetFiles(ctx context.Context, ref string, paths []string) (FilesSet, error) {
	w, n, err := p.refWorld(ref)
	if err != nil {
		return FilesSet{}, err
	}
	set, err := p.setFiles(ctx, w, n, ref, paths)
	if navigated(err) {
		return FilesSet{}, staleRef(ref)
	}
	return set, err
}

func (p *Page) setFiles(ctx context.Context, w *world, n int, ref string, paths []string) (FilesSet, error) {
	var input struct {
		Stale     bool   `json:"stale"`
		None      string `json:"none"`
		Stand     string `json:"stand"`
		Multiple  bool   `json:"multiple"`
		Directory bool   `json:"directory"`
		Disabled  bool   `json:"disabled"`
		Accept    string `json:"accept"`
	}
	args := map[string]any{"ref": n}
	if err := w.call(ctx, "fileInput", &input, args); err != nil {
		return FilesSet{}, err
	}
	switch {
	case input.Stale:
		return FilesSet{}, staleRef(ref)
	case input.None != "":
		return FilesSet{}, problemf("%s is not a file input, and none belongs to it. Use find to get the file input.", input.None)
	case input.Disabled:
		return FilesSet{}, problemf("The file input %s is disabled.", ref)
	case input.Directory:
		return FilesSet{}, problemf("The file input %s takes a whole folder, which file_upload does not support. Nothing was set.", ref)
	case len(paths) > 1 && !input.Multiple:
		return FilesSet{}, problemf("The file input %s takes one file and %d were given. Nothing was set.", ref, len(paths))
	}
	if err := w.chooseFiles(ctx, n, paths); err != nil {
		return FilesSet{}, err
	}
	set := FilesSet{}
	for _, path := range paths {
		set.Names = append(set.Names, filepath.Base(path))
	}
	if input.Stand == "not it" {
		set.Note = "That is not the file input itself; the page's only one was used."
	}
	var unwanted []string
	for _, name := range set.Names {
		if !accepts(input.Accept, name) {
			unwanted = append(unwanted, fmt.Sprintf("%q", cleanLine(name, 100)))
		}
	}
	if len(unwanted) > 0 {
		set.Note = strings.TrimSpace(fmt.Sprintf("%s The input asks for %q, which %s may not match.", set.Note, cleanLine(input.Accept, 100), strings.Join(unwanted, ", ")))
	}
	var now struct {
		Stale bool     `json:"stale"`
		Names []string `json:"names"`
	}
	err := w.call(ctx, "chosenFiles", &now, args)
	if err != nil && !navigated(err) {
		return FilesSet{}, err
	}
	switch {
	case err != nil || now.Stale || slices.Equal(now.Names, set.Names):
	case len(now.Names) == 0:
		set.Note = strings.TrimSpace(set.Note + " The field is empty again; check whether the page took the files.")
	default:
		set.Note = strings.TrimSpace(fmt.Sprintf("%s The page has changed the choice; it holds %d files now.", set.Note, len(now.Names)))
	}
	return set, nil
}

// chooseFiles sets the files, which dispatches the events of a person's choice.
func (w *world) chooseFiles(ctx context.Context, ref int, paths []string) error {
	defer cdp.Post(w.session, runtime.ReleaseObjectGroup, runtime.ReleaseObjectGroupParams{ObjectGroup: uploadGroup})
	res, err := cdp.Call(ctx, w.session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: `function(ref) { return pagehand(0, 'fileInputElement', [ref]).value; }`,
		ExecutionContextID:  w.context,
		Arguments:           []*runtime.CallArgument{{Value: fmt.Appendf(nil, "%d", ref)}},
		ObjectGroup:         uploadGroup,
	})
	if err != nil {
		return err
	}
	if res.Result.ObjectID == "" {
		return staleRef(refName(ref))
	}
	_, err = cdp.Call(ctx, w.session, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: paths, ObjectID: res.Result.ObjectID})
	return err
}

// accepts tells whether an accept attribute admits a file, as far as its name tells. What cannot be told is admitted.
func accepts(accept, name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	kind, _, _ := strings.Cut(mime.TypeByExtension(ext), ";")
	known := false
	for token := range strings.SplitSeq(strings.ToLower(accept), ",") {
		token = strings.TrimSpace(token)
		family, isFamily := strings.CutSuffix(token, "*")
		switch {
		case token == "":
			continue
		case token == "*/*", token == ext, token == kind, isFamily && kind != "" && strings.HasPrefix(kind, family):
			return true
		case strings.HasPrefix(token, "."), kind != "":
			known = true
		default:
			return true // a type, and the file's is not known
		}
	}
	return !known
}
