package pagehand

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/chromedp/cdproto/browser"

	"github.com/pagehand/pagehand/contract"
)

// downloadLimits bound what pages may download in one session.
type downloadLimits struct {
	file, total int64 // bytes
	count       int
}

var defaultDownloadLimits = downloadLimits{file: 512 << 20, total: 2 << 30, count: 200}

const mostNameBytes = 150 // of a downloaded file

// downloads confines a session's downloads to one directory. Chromium, which may run as another user, writes into a staging folder under names
// that are not the page's; finished files are copied into the directory under a safe name, mode 0600, and nothing is
// ever overwritten. What happened is kept for the next results (contract §5).
//
// begin and progress are called by event handlers and never block. It is safe for concurrent use.
type downloads struct {
	staging string
	dir     string
	expose  bool // tell paths
	limits  downloadLimits
	cancel  func(guid string) // asks Chromium to cancel; must not block
	log     *slog.Logger

	from, to *os.Root // of staging and dir
	moves    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	count   int
	bytes   int64 // received by all
	active  map[string]*download
	pending []contract.StateChange // at most one for an id, in the order the downloads began
	all     []Download
}

// Download is what has become of a download, for the application: the model reads of it in results (contract §5).
type Download struct {
	ID    string              // as in results: dl-1
	URL   string              // after redirects, without credentials
	State contract.ChangeType // DownloadStarted, DownloadCompleted or DownloadFailed
	Path  string              // of the complete file, absolute; also where the model is not told
	Size  int64               // of the complete file, in bytes
	Error string              // why it failed
}

// Downloads lists the session's downloads in the order they began, also those of a session that it replaced. A file without a folder of the
// operator's goes with the session.
func (s *Session) Downloads() []Download {
	s.downloads.mu.Lock()
	defer s.downloads.mu.Unlock()
	return slices.Clone(s.downloads.all)
}

// download is one that is on its way, by Chromium's GUID.
type download struct {
	id, url, name string
	received      int64
}

// newDownloads opens both folders, which must exist. staging must be empty and the session's own; it is removed by Close.
func newDownloads(staging, dir string, expose bool, limits downloadLimits, cancel func(string), log *slog.Logger) (*downloads, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("download folder: %w", err)
	}
	from, err := os.OpenRoot(staging)
	if err != nil {
		return nil, fmt.Errorf("staging folder of downloads: %w", err)
	}
	to, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("download folder: %w", err), from.Close())
	}
	return &downloads{
		staging: staging, dir: dir, expose: expose, limits: limits, cancel: cancel, log: log,
		from: from, to: to, active: map[string]*download{},
	}, nil
}

// stagingDir is where Chromium writes.
func (d *downloads) stagingDir() string { return d.staging }

// begin records a download that Chromium has begun.
func (d *downloads) begin(ev browser.EventDownloadWillBegin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if d.count++; d.count > d.limits.count {
		d.cancel(ev.GUID)
		if d.count == d.limits.count+1 { // told once, for all that follow
			d.report(contract.StateChange{
				Type: contract.DownloadFailed, DownloadID: d.nextID(), URL: contract.CleanDownloadURL(ev.URL),
				Error: fmt.Sprintf("A session may download at most %d files. This and all further downloads are cancelled.", d.limits.count),
			})
		}
		return
	}
	dl := &download{id: d.nextID(), url: contract.CleanDownloadURL(ev.URL), name: safeName(ev.SuggestedFilename, mostNameBytes)}
	d.active[ev.GUID] = dl
	d.report(contract.StateChange{Type: contract.DownloadStarted, DownloadID: dl.id, URL: dl.url})
}

func (d *downloads) nextID() string { return fmt.Sprintf("dl-%d", d.count) }

// progress records what Chromium says of a download. Those of other sessions are not known here.
func (d *downloads) progress(ev browser.EventDownloadProgress) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dl := d.active[ev.GUID]
	if dl == nil || d.closed {
		return
	}
	d.bytes += int64(ev.ReceivedBytes) - dl.received
	dl.received = int64(ev.ReceivedBytes)
	switch {
	case ev.State == browser.DownloadProgressStateCanceled:
		d.fail(ev.GUID, "The download was cancelled or interrupted.")
	case max(dl.received, int64(ev.TotalBytes)) > d.limits.file:
		d.cancel(ev.GUID)
		d.fail(ev.GUID, fmt.Sprintf("The file is larger than the %s allowed.", megabytes(d.limits.file)))
	case d.bytes > d.limits.total:
		d.cancel(ev.GUID)
		d.fail(ev.GUID, fmt.Sprintf("The downloads of this session are larger than the %s allowed.", megabytes(d.limits.total)))
	case ev.State == browser.DownloadProgressStateCompleted:
		delete(d.active, ev.GUID)
		d.moves.Go(func() { d.finish(ev.GUID, dl) })
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// fail reports a download's failure and removes what there is of its file. Called with mu held.
func (d *downloads) fail(guid, reason string) {
	dl := d.active[guid]
	delete(d.active, guid)
	d.bytes -= dl.received
	d.report(contract.StateChange{Type: contract.DownloadFailed, DownloadID: dl.id, URL: dl.url, Error: reason})
	d.moves.Go(func() { d.discard(guid) })
}

// discard removes a file from the staging folder; that it is gone already is fine.
func (d *downloads) discard(guid string) {
	for _, name := range []string{guid, guid + ".crdownload"} {
		if err := d.from.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			d.log.Warn("a download's partial file could not be removed", "cause", err)
		}
	}
}

// finish moves a complete file into the directory and reports it.
func (d *downloads) finish(guid string, dl *download) {
	name, size, err := d.move(guid, dl.name)
	d.discard(guid)
	path := filepath.Join(d.dir, name)
	change := contract.StateChange{Type: contract.DownloadCompleted, DownloadID: dl.id, URL: dl.url, SizeBytes: &size}
	if err != nil {
		d.log.Error("a download could not be saved", "id", dl.id, "cause", err)
		change = contract.StateChange{Type: contract.DownloadFailed, DownloadID: dl.id, URL: dl.url, Error: "The file could not be saved."}
		path, size = "", 0
	} else if d.expose {
		change.Path = contract.CleanField(path)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report(change)
	last := &d.all[slices.IndexFunc(d.all, func(o Download) bool { return o.ID == dl.id })]
	last.Path, last.Size = path, size
}

// move copies a staged file into the directory. The staging folder is the browser's, so what lies there is checked.
func (d *downloads) move(guid, name string) (string, int64, error) {
	in, err := d.from.OpenFile(guid, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() || links(info) != 1 {
		return "", 0, fmt.Errorf("staged file %s is no plain file", guid)
	}
	out, name, err := d.create(name)
	if err != nil {
		return "", 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, d.limits.file+1))
	if err == nil && n > d.limits.file {
		err = fmt.Errorf("staged file %s is larger than %d bytes", guid, d.limits.file)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", 0, errors.Join(err, d.to.Remove(name))
	}
	return name, n, nil
}

// create makes a new file, under another name when the wanted one is taken. It follows no link and overwrites nothing.
func (d *downloads) create(name string) (*os.File, string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 1; ; i++ {
		file, err := d.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) || i > 10_000 {
			return file, name, err
		}
		name = fmt.Sprintf("%s (%d)%s", stem, i, ext)
	}
}

// report keeps a change for the next result; an earlier one of the same download that was not told yet is replaced.
func (d *downloads) report(c contract.StateChange) {
	i := slices.IndexFunc(d.all, func(o Download) bool { return o.ID == c.DownloadID })
	if i < 0 {
		i = len(d.all)
		d.all = append(d.all, Download{})
	}
	d.all[i] = Download{ID: c.DownloadID, URL: c.URL, State: c.Type, Error: c.Error}
	for i := range d.pending {
		if d.pending[i].DownloadID == c.DownloadID {
			d.pending[i] = c
			return
		}
	}
	d.pending = append(d.pending, c)
}

// take hands over at most so many changes, each once; the others stay for the next result.
func (d *downloads) take(most int) []contract.StateChange {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := max(0, min(most, len(d.pending)))
	taken := d.pending[:n:n]
	d.pending = d.pending[n:]
	return taken
}

// Close waits for files that are being moved, and removes the staging folder. The directory stays.
func (d *downloads) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.moves.Wait()
	return errors.Join(d.from.Close(), d.to.Close(), os.RemoveAll(d.staging))
}

// safeName makes a page's or model's file name a plain one: one path element, visible characters, no leading dot or
// hyphen, at most so many bytes with its extension.
func safeName(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, contract.CleanTitle(name))
	name = strings.TrimRight(strings.TrimLeft(name, ". -"), ". ")
	ext := filepath.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	if most -= len(ext); len(stem) > most {
		stem = strings.TrimRight(strings.ToValidUTF8(stem[:most], ""), ". ")
	}
	if stem == "" {
		stem = "download"
	}
	return stem + ext
}
