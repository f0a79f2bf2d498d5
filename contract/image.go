package contract

// Limits of images in a request (contract §3). The API never downscales: it rejects a larger image.
const (
	// ImageLongEdge is the most pixels on an image's longer side.
	ImageLongEdge = 2576
	// ImageVisualTokens is the most visual tokens of one image; see [VisualTokens].
	ImageVisualTokens = 4784
	// ManyImages is the number of images of a request, earlier turns included, above which each of them must stay within
	// ManyImagesEdge.
	ManyImages = 20
	// ManyImagesEdge is the most pixels on a side when a request holds more than ManyImages.
	ManyImagesEdge = 2000
)

// visualTokenEdge is the side, in pixels, of the square that costs one visual token.
const visualTokenEdge = 28

// VisualTokens returns what an image of w x h pixels costs: the number of squares of 28 pixels that cover it. It is 0
// when a side is not positive.
func VisualTokens(w, h int) int {
	if w <= 0 || h <= 0 {
		return 0
	}
	return ((w-1)/visualTokenEdge + 1) * ((h-1)/visualTokenEdge + 1)
}

// FitsImage reports whether the API accepts an image of w x h pixels in a request of at most ManyImages.
func FitsImage(w, h int) bool {
	return w > 0 && h > 0 && max(w, h) <= ImageLongEdge && VisualTokens(w, h) <= ImageVisualTokens
}

// FitSize returns the largest size, in pixels, to which an image of w x h is scaled down with its proportions kept
// (rounded to whole pixels, at least 1) so that the API accepts it in every request: it stays within ManyImagesEdge, so
// that a conversation which grows past ManyImages remains valid without dropping old images (contract §8). It never
// scales up, and returns 0, 0 when a side is not positive.
func FitSize(w, h int) (fw, fh int) {
	if w <= 0 || h <= 0 {
		return 0, 0
	}
	long, short := max(w, h), min(w, h)
	edge, other := min(long, ManyImagesEdge), 0
	for ; ; edge-- {
		other = max(1, (2*short*edge+long)/(2*long)) // rounded to nearest
		if VisualTokens(edge, other) <= ImageVisualTokens {
			break
		}
	}
	if w >= h {
		return edge, other
	}
	return other, edge
}
