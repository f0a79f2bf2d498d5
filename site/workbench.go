package site

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// field is a name and value that a form sent.
type field struct{ Name, Value string }

const (
	maxUpload = 64 << 20 // bytes of one request with files
	maxParts  = 200
)

// submitForm shows what a form sent, in the order it was sent. Passwords are
// shown as a length, files as a name and size.
func (a *app) submitForm(w http.ResponseWriter, r *http.Request) {
	var fields []field
	err := eachPart(w, r, func(p *multipart.Part) error {
		if p.FileName() != "" {
			size, err := io.Copy(io.Discard, p)
			fields = append(fields, field{p.FormName(), fmt.Sprintf("%s (%d bytes)", p.FileName(), size)})
			return err
		}
		value, err := io.ReadAll(io.LimitReader(p, maxForm))
		text := strings.ToValidUTF8(string(value), "\uFFFD")
		if p.FormName() == "password" {
			text = fmt.Sprintf("%d characters", utf8.RuneCountInString(text))
		}
		fields = append(fields, field{p.FormName(), text})
		return err
	})
	if err != nil {
		a.badRequest(w, r, "The form could not be read: "+err.Error()+".")
		return
	}
	a.render(w, r, http.StatusOK, "received.html", view{Title: "Form received", Data: fields})
}

// upload is what the server learned about a file.
type upload struct {
	Field  string `json:"field"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// receiveUpload hashes the files of a request and answers what it got: JSON for
// a script that asks for it, else a page. Nothing is stored.
func (a *app) receiveUpload(w http.ResponseWriter, r *http.Request) {
	uploads := []upload{}
	err := eachPart(w, r, func(p *multipart.Part) error {
		if p.FileName() == "" {
			return nil
		}
		sum := sha256.New()
		size, err := io.Copy(sum, p)
		uploads = append(uploads, upload{p.FormName(), p.FileName(), size, hex.EncodeToString(sum.Sum(nil))})
		return err
	})
	switch {
	case err != nil:
		a.badRequest(w, r, "The upload could not be read: "+err.Error()+".")
	case r.Header.Get("Accept") == "application/json":
		writeJSON(w, http.StatusOK, uploads)
	default:
		a.render(w, r, http.StatusOK, "uploaded.html", view{Title: "Upload received", Data: uploads})
	}
}

// eachPart streams a multipart form of at most maxUpload bytes and maxParts parts.
func eachPart(w http.ResponseWriter, r *http.Request, each func(*multipart.Part) error) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for range maxParts {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d fields", maxParts)
}

func (a *app) frames(w http.ResponseWriter, r *http.Request) {
	a.render(w, r, http.StatusOK, "frames.html", view{Title: "Frames", Data: a.origins})
}

// innerPlaces are the frames that load the inner page, named by ?place=.
var innerPlaces = []string{"Same origin", "Nested frame", "Second port", "Other host"}

func (a *app) innerFrame(w http.ResponseWriter, r *http.Request) {
	place := r.FormValue("place")
	if !slices.Contains(innerPlaces, place) {
		a.badRequest(w, r, "There is no such frame.")
		return
	}
	a.render(w, r, http.StatusOK, "inner.html", view{Title: place, Data: map[string]any{
		"Place": place, "Nest": place == "Same origin" || place == "Other host",
	}})
}
