package check

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for the size of a GIF
	_ "image/jpeg" // for the size of a JPEG
	_ "image/png"  // for the size of a PNG
	"slices"

	"github.com/pagehand/pagehand/contract"
)

var mediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// image checks an image block and counts it. ofToolset tells that it is in the result of a toolset's call: then it must be base64,
// and the API doesn't scale it down. The size is zero when it can't be told.
func (c *Conversation) image(block *value, ofToolset bool, found *findings) (contract.Image, image.Point) {
	c.images++
	picture, size := c.decodeImage(block.get("source"), block, ofToolset, found)
	if size != (image.Point{}) && ofToolset {
		c.fits(block, size, found)
	}
	c.many(block, size, found)
	return picture, size
}

func (c *Conversation) decodeImage(source, block *value, ofToolset bool, found *findings) (contract.Image, image.Point) {
	if source.get("type").text() != "base64" {
		if ofToolset {
			found.wrong("image-source", block, "source", "a base64 source")
		}
		return contract.Image{}, image.Point{}
	}
	picture := contract.Image{MediaType: source.get("media_type").text()}
	if !slices.Contains(mediaTypes, picture.MediaType) {
		found.wrong("image-source", source, "media_type", "image/png, image/jpeg, image/gif or image/webp")
		return picture, image.Point{}
	}
	data, err := base64.StdEncoding.DecodeString(source.get("data").text())
	if err != nil || len(data) == 0 {
		found.addAt("image-data", source.path()+".data", "no base64", "an image in base64")
		return picture, image.Point{}
	}
	picture.Data = data
	size, format, err := imageSize(data)
	if err != nil || size.X < 1 || size.Y < 1 {
		found.addAt("image-data", source.path()+".data", fmt.Sprintf("%d bytes that are no image", len(data)), "an image")
		return picture, image.Point{}
	}
	if format != picture.MediaType {
		found.add("image-media-type", source.get("media_type"), quote(picture.MediaType), quote(format)+", as the data")
	}
	return picture, size
}

// fits checks an image against the model's limits.
func (c *Conversation) fits(block *value, size image.Point, found *findings) {
	got := fmt.Sprintf("an image of %dx%d", size.X, size.Y)
	if edge := c.limits.LongEdge; edge > 0 && max(size.X, size.Y) > edge {
		found.add("image-size", block, got, fmt.Sprintf("at most %d pixels on the longer side", edge))
		return
	}
	if most, n := c.limits.VisualTokens, contract.VisualTokens(size.X, size.Y); most > 0 && n > most {
		found.add("image-size", block, fmt.Sprintf("%s, of %d visual tokens", got, n), fmt.Sprintf("at most %d", most))
	}
}

// many applies the limits that depend on the number of images so far.
func (c *Conversation) many(block *value, size image.Point, found *findings) {
	if most := c.limits.Count; most > 0 && c.images == most+1 {
		found.add("image-count", block, fmt.Sprintf("image %d", c.images), fmt.Sprintf("at most %d in a request", most))
	}
	if c.limits.Many == 0 {
		return
	}
	if edge := c.limits.ManyEdge; max(size.X, size.Y) > edge {
		c.wide = append(c.wide, pixels{block.path(), size})
	}
	if c.images <= c.limits.Many {
		return
	}
	for _, p := range c.wide {
		found.addAt("image-many", p.path, fmt.Sprintf("an image of %dx%d in a request with %d images", p.size.X, p.size.Y, c.images), fmt.Sprintf("at most %d pixels on a side once there are more than %d", c.limits.ManyEdge, c.limits.Many))
	}
	c.wide = nil
}

// imageSize reads an image's size and media type from its header.
func imageSize(data []byte) (image.Point, string, error) {
	if size, err := webpSize(data); err == nil {
		return size, "image/webp", nil
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, "", err
	}
	return image.Pt(config.Width, config.Height), "image/" + format, nil
}

var errNoWebP = errors.New("not a WebP image")

// webpSize reads the size from the first chunk of a WebP file (RFC 9649): lossy, lossless or extended.
func webpSize(data []byte) (image.Point, error) {
	const header = 20 // RIFF, size, WEBP, the chunk's name and size
	if len(data) < header+10 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return image.Point{}, errNoWebP
	}
	chunk := data[header:]
	switch string(data[12:16]) {
	case "VP8 ":
		if !bytes.Equal(chunk[3:6], []byte{0x9d, 0x01, 0x2a}) {
			return image.Point{}, errNoWebP
		}
		const mask = 1<<14 - 1
		return image.Pt(int(binary.LittleEndian.Uint16(chunk[6:])&mask), int(binary.LittleEndian.Uint16(chunk[8:])&mask)), nil
	case "VP8L":
		if chunk[0] != 0x2f {
			return image.Point{}, errNoWebP
		}
		const mask = 1<<14 - 1
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return image.Pt(int(bits&mask)+1, int(bits>>14&mask)+1), nil
	case "VP8X":
		return image.Pt(uint24(chunk[4:])+1, uint24(chunk[7:])+1), nil
	}
	return image.Point{}, errNoWebP
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
