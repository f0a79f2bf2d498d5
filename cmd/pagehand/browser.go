package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/pagehand/pagehand"
	"github.com/pagehand/pagehand/egress"
	"github.com/pagehand/pagehand/internal/chrome"
)

// browserFlags say which browser is started and what a session in it may do. Every command that runs calls embeds them.
type browserFlags struct {
	Browser     string       `placeholder:"PATH" group:"Browser:" help:"Browser to start, a path or a name in PATH. Default: the one that is found."`
	Headful     bool         `group:"Browser:" help:"Show its windows. Needs a display."`
	Viewport    viewportFlag `placeholder:"WxH" default:"1280x720" group:"Browser:" help:"Size of every tab in CSS pixels. Default: ${default}."`
	Scale       float64      `placeholder:"N" default:"1" group:"Browser:" help:"Device scale factor, from 0.1 to 10. Default: ${default}."`
	UserAgent   string       `placeholder:"TEXT" group:"Browser:" help:"User agent. Default: the browser's own, without the word Headless."`
	Locale      localeFlag   `placeholder:"TAG" group:"Browser:" help:"Language tag such as de-CH. Default: en-US."`
	Timezone    timezoneFlag `placeholder:"NAME" group:"Browser:" help:"Time zone such as Europe/Zurich. Default: the machine's."`
	Geolocation positionFlag `placeholder:"LAT,LON[,ACC]" group:"Browser:" help:"What pages learn that ask where they are, in degrees and metres. Default: nothing."`
	ColorScheme string       `placeholder:"light|dark" enum:"light,dark," default:"" group:"Browser:" help:"Preferred colour scheme. Default: the browser's."`
	Dialogs     string       `placeholder:"accept|dismiss" enum:"accept,dismiss" default:"dismiss" group:"Browser:" help:"What happens to alert, confirm and prompt. Default: ${default}."`

	Configs         configsFlag   `placeholder:"JSON|FILE" group:"What calls may do:" help:"The toolset entry, or only its configs, as your application sends it to the API."`
	Enable          membersFlag   `placeholder:"MEMBER,..." group:"What calls may do:" help:"Members to enable that are off by default."`
	Allow           hostsFlag     `placeholder:"HOST,..." group:"What calls may do:" help:"The only hosts that may be reached: HOST (ports 80 and 443), HOST:PORT, HOST:* or *.HOST, which is every host below HOST and not HOST itself. Given but empty: none. Default: the public internet."`
	AllowPrivate    privateFlag   `group:"What calls may do:" help:"Also allow all loopback, private and link-local addresses, whether --allow lists them or not. Prefer --allow-private=HOST:PORT,..., which adds only those. Cloud metadata services stay refused."`
	Uploads         []path        `placeholder:"DIR" sep:"none" group:"What calls may do:" help:"Folder that file_upload may take files from. Repeatable."`
	Document        documentsFlag `placeholder:"ID=PATH" group:"What calls may do:" help:"File staged for file_upload under a document id. Repeatable."`
	Downloads       path          `placeholder:"DIR" group:"What calls may do:" help:"Folder that downloads are kept in. Default: one that is removed at the end."`
	ExposeDownloads bool          `group:"What calls may do:" help:"Tell the model the paths of downloads: only where another of its tools can read them."`
	MaxChars        charsFlag     `placeholder:"N" default:"50000" group:"What calls may do:" help:"Most characters of a page reading, at least 200. 0: no bound, for logs and measurements only. Default: ${default}."`
	Timeout         durationFlag  `placeholder:"TIME" default:"30s" group:"What calls may do:" help:"Most time for a call, such as 45s or 45; its own duration is added. Default: ${default}."`
}

// sessionOptions checks the flags and translates them.
func (f *browserFlags) sessionOptions(log *slog.Logger) (*pagehand.SessionOptions, error) {
	rules, err := egress.Parse(egress.Options{Allow: f.Allow, AllowPrivate: f.AllowPrivate.all, AllowPrivateAt: f.AllowPrivate.at})
	if err != nil {
		return nil, unusable(err)
	}
	configs, err := f.Configs.Enable(f.Enable...)
	if err != nil {
		return nil, unusable(fmt.Errorf("--enable: %w", err))
	}
	if f.Scale < 0.1 || f.Scale > 10 {
		return nil, unusable(fmt.Errorf("--scale: %g is not from 0.1 to 10", f.Scale))
	}
	options := &pagehand.SessionOptions{
		Configs:         configs,
		Viewport:        pagehand.Size(f.Viewport),
		Scale:           f.Scale,
		UserAgent:       f.UserAgent,
		Locale:          string(f.Locale),
		Timezone:        string(f.Timezone),
		Geolocation:     f.Geolocation.at,
		ColorScheme:     f.ColorScheme,
		AcceptDialogs:   f.Dialogs == "accept",
		Destinations:    rules,
		Documents:       map[string]string{},
		Downloads:       string(f.Downloads),
		ExposeDownloads: f.ExposeDownloads,
		Timeout:         time.Duration(f.Timeout),
		MaxChars:        int(f.MaxChars),
		Logger:          log,
	}
	if f.MaxChars == 0 {
		options.MaxChars = -1
	}
	for _, root := range f.Uploads {
		info, err := os.Stat(string(root))
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", root)
		}
		if err != nil {
			return nil, unusable(fmt.Errorf("--uploads: %w", err))
		}
		options.UploadRoots = append(options.UploadRoots, string(root))
	}
	for id, file := range f.Document {
		info, err := os.Stat(string(file))
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a file", file)
		}
		if err != nil {
			return nil, unusable(fmt.Errorf("--document: %w", err))
		}
		options.Documents[id] = string(file)
	}
	return options, nil
}

// launch starts the browser, without waiting until it answers.
func (f *browserFlags) launch(ctx context.Context, log *slog.Logger) (*pagehand.Browser, error) {
	if f.Headful && runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil, &exitError{statusNoBrowser, errors.New("--headful needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set; xvfb-run pagehand ... gives it one that nobody sees")}
	}
	browser, err := pagehand.Launch(ctx, &pagehand.LaunchOptions{
		Executable: f.Browser,
		Headful:    f.Headful,
		Locale:     string(f.Locale),
		Timezone:   string(f.Timezone),
		Logger:     log,
	})
	switch {
	case err == nil:
		return browser, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, &exitError{statusNoBrowser, err}
}

// openingError says what it means that no session could be opened in a browser that was just launched: the browser ended or does
// not answer, so it could not be started; or it turned down what the flags ask for.
func openingError(ctx context.Context, err error) error {
	var ended *chrome.EndError
	var sandbox *chrome.SandboxError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return &exitError{statusNoBrowser, errors.New("the browser did not answer in time")}
	case errors.As(err, &ended), errors.As(err, &sandbox):
		return &exitError{statusNoBrowser, err}
	}
	return unusable(err)
}
