package pagehand

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/browser"

	"github.com/pagehand/pagehand/contract"
	"github.com/pagehand/pagehand/internal/cdp"
	"github.com/pagehand/pagehand/internal/page"
)

var fileMembers = []Member{
	off(onTab("file_upload", "Set files on a file input.", fileUpload)),
}

type fileUploadInput struct {
	Target      RefTarget `json:"target" need:"true" doc:"The file input, or its label or button."`
	Paths       []string  `json:"paths" doc:"Files in the upload folder."`
	DocumentIDs []string  `json:"document_ids" doc:"Files that the application staged for this task."`
	tabInput
}

func fileUpload(ctx context.Context, t *tab, in fileUploadInput) (output, error) {
	if len(in.Paths)+len(in.DocumentIDs) == 0 {
		return output{}, toolErrorf("file_upload needs paths or document_ids.")
	}
	staged, err := t.session.uploads.resolve(in.Paths, in.DocumentIDs)
	if err != nil {
		return output{}, err
	}
	var set page.FilesSet
	settled, err := t.act(ctx, func() error {
		set, err = t.page.SetFiles(ctx, in.Target.Ref, staged)
		return err
	})
	if err != nil {
		return output{}, err
	}
	return say(filesText(in.Target.Ref, set) + t.outcome(settled))
}

func filesText(ref string, set page.FilesSet) string {
	names := make([]string, len(set.Names))
	for i, name := range set.Names {
		names[i] = fmt.Sprintf("%q", contract.CleanField(shorten(name, 100)))
	}
	text := fmt.Sprintf("Set %s on %s.", strings.Join(names, ", "), ref)
	if set.Note != "" {
		text += " " + set.Note
	}
	return text
}

// prepareFiles makes the session's folders: two staging folders that the browser's user can enter, and, unless the operator named one, a
// private one for downloads. They go with the session.
func (s *Session) prepareFiles() (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, dir := range made {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	folder := func(pattern string) (string, error) {
		dir, err := s.browser.makeDir(pattern)
		made = append(made, dir)
		return dir, err
	}
	dir := s.opts.Downloads
	if dir == "" {
		if dir, err = folder("saved-"); err != nil {
			return fmt.Errorf("download folder: %w", err)
		}
		s.temporary = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("download folder: %w", err)
	}
	incoming, err := folder("downloads-")
	if err != nil {
		return fmt.Errorf("staging folder of downloads: %w", err)
	}
	outgoing, err := folder("uploads-")
	if err != nil {
		return fmt.Errorf("staging folder of uploads: %w", err)
	}
	if s.uploads, err = newUploads(s.opts.UploadRoots, s.opts.Documents, dir, outgoing, s.browser.own); err != nil {
		return err
	}
	s.downloads, err = newDownloads(incoming, dir, s.opts.ExposeDownloads, defaultDownloadLimits, s.cancelDownload, s.log)
	if err != nil {
		return errors.Join(err, s.uploads.Close())
	}
	return nil
}

func (s *Session) cancelDownload(guid string) {
	cdp.Post(s.browser.conn.Root(), browser.CancelDownload, browser.CancelDownloadParams{GUID: guid, BrowserContextID: s.context})
}

// makeDir makes a folder that the browser can write to. It goes with the browser we started, at the latest.
func (b *Browser) makeDir(pattern string) (string, error) {
	if b.proc == nil {
		return os.MkdirTemp("", "pagehand-"+pattern)
	}
	return b.proc.MakeDir(pattern)
}

// own hands a file to the user that the browser runs as.
func (b *Browser) own(path string) error {
	if b.proc == nil {
		return nil
	}
	return b.proc.Own(path)
}
