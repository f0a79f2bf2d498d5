package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pagehand/pagehand/contract"
)

// album writes the images of results into a folder: 001-screenshot-toolu_01A.png, 002-zoom-toolu_01B.png and so on, with the id of the
// call. A file that exists is never overwritten, its number is skipped. The zero value writes nothing.
type album struct {
	dir   string
	count int
}

// newAlbum makes the folder; no folder, no images.
func newAlbum(dir string) (*album, error) {
	if dir == "" {
		return &album{}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &album{dir: dir}, nil
}

// add writes the images that the results of a turn's calls carry.
func (a *album) add(calls []contract.ToolUse, results []contract.ToolResult) error {
	if a.dir == "" {
		return nil
	}
	for i, r := range results {
		for _, b := range r.Content {
			image, ok := b.(contract.Image)
			if !ok {
				continue
			}
			// A result with an image is a success, so the call's name is a member's and no path. Of the id, nothing is known.
			if err := a.write(calls[i].Name+"-"+plainID(r.ToolUseID), image); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainID is an id as part of a file name: ASCII letters, digits, _ and -, all else as _, at most 64 of them.
func plainID(id string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, id)
	return plain[:min(len(plain), 64)]
}

func (a *album) write(title string, image contract.Image) error {
	extension := ".png"
	if image.MediaType == "image/jpeg" {
		extension = ".jpg"
	}
	for {
		a.count++
		name := filepath.Join(a.dir, fmt.Sprintf("%03d-%s%s", a.count, title, extension))
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		_, err = file.Write(image.Data)
		return errors.Join(err, file.Close())
	}
}
