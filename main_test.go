package pagehand_test

import (
	"os"
	"testing"

	"github.com/pagehand/pagehand/internal/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Run(m)) }
