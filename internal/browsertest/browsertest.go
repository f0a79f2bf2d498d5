// Package browsertest gives tests a real Chromium, one for all tests of a package, and servers on loopback addresses.
package browsertest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/pagehand/pagehand"
)

var (
	once    sync.Once
	shared  *pagehand.Browser
	failure error
)

// Browser is the package's browser. Its first use starts it; [Run] ends it. Where no Chromium is installed the test fails and
// says how to install it, since nothing else would tell that behaviour went untested.
func Browser(t testing.TB) *pagehand.Browser {
	t.Helper()
	once.Do(func() { shared, failure = pagehand.Launch(context.Background(), nil) })
	if failure != nil {
		t.Fatal(failure)
	}
	return shared
}

// Run runs a package's tests and ends its browser: call it from TestMain.
func Run(m *testing.M) int {
	code := m.Run()
	if shared != nil {
		if err := shared.Close(); err != nil {
			println(err.Error())
			return 1
		}
	}
	return code
}

// OtherHost serves on 127.0.0.2, which Chromium takes for another site and renders in another process.
func OtherHost(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("no second loopback address on this system: %v", err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}
