package contract

import "testing"

// Contract §3.
func TestVisualTokens(t *testing.T) {
	for _, tt := range []struct{ w, h, want int }{
		{1, 1, 1}, {28, 28, 1}, {29, 28, 2}, {1280, 720, 46 * 26}, {2576, 1456, 92 * 52}, {0, 10, 0}, {10, -1, 0},
	} {
		if got := VisualTokens(tt.w, tt.h); got != tt.want {
			t.Errorf("VisualTokens(%d, %d) = %d, want %d", tt.w, tt.h, got, tt.want)
		}
	}
}

func TestFitsImage(t *testing.T) {
	for _, tt := range []struct {
		w, h int
		want bool
	}{
		{1280, 720, true}, {2576, 1456, true}, {2576, 1457, false}, {2577, 10, false}, {10, 2576, true}, {1932, 1932, true}, {2000, 2000, false}, {0, 1, false},
	} {
		if got := FitsImage(tt.w, tt.h); got != tt.want {
			t.Errorf("FitsImage(%d, %d) = %v, want %v", tt.w, tt.h, got, tt.want)
		}
	}
}

func TestFitSize(t *testing.T) {
	for _, tt := range []struct{ w, h, fw, fh int }{
		{1280, 720, 1280, 720}, // already fits
		{1, 1, 1, 1},           // never upscaled
		{2560, 1440, 2000, 1125},
		{3840, 2160, 2000, 1125},
		{1080, 4000, 540, 2000},
		{2000, 2000, 1932, 1932}, // 69 x 69 squares; 70 x 70 are too many
		{100000, 1, 2000, 1},
		{0, 720, 0, 0},
	} {
		if fw, fh := FitSize(tt.w, tt.h); fw != tt.fw || fh != tt.fh {
			t.Errorf("FitSize(%d, %d) = %d, %d, want %d, %d", tt.w, tt.h, fw, fh, tt.fw, tt.fh)
		}
	}
	for w := 1; w < 9000; w += 371 {
		for h := 1; h < 9000; h += 373 {
			fw, fh := FitSize(w, h)
			if !FitsImage(fw, fh) || max(fw, fh) > ManyImagesEdge || fw > w || fh > h {
				t.Errorf("FitSize(%d, %d) = %d, %d", w, h, fw, fh)
			}
		}
	}
}
