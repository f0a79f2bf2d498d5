package chrome

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// baseFlags are passed to every browser. Together they also silence every request Chromium makes on its own account.
var baseFlags = []string{
	"--remote-debugging-pipe",
	"--no-startup-window", // tabs are made by Target.createTarget, in a browser context of their session
	"--no-first-run",
	"--no-default-browser-check",
	"--disable-default-apps",
	"--disable-extensions",
	"--disable-sync",
	"--no-pings",
	"--disable-breakpad",
	"--disable-field-trial-config", // no experiments: the same browser on every machine
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-domain-reliability",
	"--disable-client-side-phishing-detection",
	"--component-updater=url-source=http://127.0.0.1:9/", // the discard port: nothing of Google's is ever asked
	"--gaia-url=http://127.0.0.1:9/",
	"--deny-permission-prompts",
	"--password-store=basic", // no keyring, which could ask a person or hang on D-Bus
	"--use-mock-keychain",
	"--mute-audio",
	"--disable-gpu",
	"--site-per-process",
	// Without these two, STUN packets leave by UDP; the second is how chrome-headless-shell spells the first.
	"--webrtc-ip-handling-policy=disable_non_proxied_udp",
	"--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
	"--disable-quic",
}

// disabledFeatures go into the one --disable-features flag, because Chromium heeds only the last.
var disabledFeatures = []string{
	"NetworkTimeServiceQuerying",
	"AutofillServerCommunication",
	"OptimizationHints",
	"MediaRouter",
	"Translate",
	// Each window would load two pages for a list of suggestions that nobody sees: with them a start takes up to
	// twice the processor time and a tab costs a renderer more.
	"WebUIOmniboxPopup",
	"WebUIOmniboxAimPopup",
}

// refusedFlags are never passed, whoever asks. The value says why.
var refusedFlags = map[string]string{
	"no-sandbox":                        "it turns the sandbox off",
	"disable-setuid-sandbox":            "it weakens the sandbox",
	"disable-namespace-sandbox":         "it weakens the sandbox",
	"disable-seccomp-filter-sandbox":    "it weakens the sandbox",
	"disable-gpu-sandbox":               "it weakens the sandbox",
	"no-zygote-sandbox":                 "it weakens the sandbox",
	"no-zygote":                         "it weakens the sandbox",
	"allow-sandbox-debugging":           "it weakens the sandbox",
	"single-process":                    "it turns the sandbox off",
	"in-process-gpu":                    "it weakens the sandbox",
	"browser-subprocess-path":           "it runs another program",
	"gpu-launcher":                      "it runs another program",
	"renderer-cmd-prefix":               "it runs another program",
	"utility-cmd-prefix":                "it runs another program",
	"load-extension":                    "extensions read every page",
	"disable-web-security":              "it lets sites read each other",
	"disable-site-isolation-trials":     "it lets sites share a process",
	"disable-site-isolation-for-policy": "it lets sites share a process",
	"allow-file-access-from-files":      "it lets pages read files",
	"allow-file-access":                 "it lets pages read files",
	"disable-ipc-flooding-protection":   "it lets pages flood the browser",
	"disable-popup-blocking":            "it lets pages open windows at will",
	"disable-hang-monitor":              "it lets hung pages stay",
	"remote-debugging-port":             "it opens a DevTools port",
	"remote-debugging-address":          "it opens a DevTools port",
	"remote-debugging-socket-name":      "it opens a DevTools port",
	"remote-debugging-targets":          "it opens a DevTools port",
	"remote-debugging-io-pipes":         "the DevTools pipe is set by us",
	"remote-debugging-pipe":             "the DevTools pipe is set by us",
	"remote-allow-origins":              "it opens a DevTools port",
	"user-data-dir":                     "every browser has a folder of its own",
	"proxy-server":                      "the proxy is an option of its own",
	"proxy-pac-url":                     "the proxy is an option of its own",
	"proxy-auto-detect":                 "the proxy is an option of its own",
	"proxy-bypass-list":                 "the proxy is an option of its own",
	"no-proxy-server":                   "the proxy is an option of its own",
	"host-resolver-rules":               "the proxy is an option of its own",
	"host-rules":                        "the proxy is an option of its own",
	"webrtc-ip-handling-policy":         "it lets pages past the proxy",
	"force-webrtc-ip-handling-policy":   "it lets pages past the proxy",
}

var (
	flagPattern     = regexp.MustCompile(`^--([a-z0-9][a-z0-9-]*)(?:=(.*))?$`)
	localePattern   = regexp.MustCompile(`^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$`)
	timezonePattern = regexp.MustCompile(`^[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*$`)
)

// flags returns the command line for the options, without the program's name.
func flags(o Options, profile string) ([]string, error) {
	args := append([]string{"--user-data-dir=" + profile}, baseFlags...)
	if !o.Headful {
		args = append(args, "--headless=new")
	}
	locale := o.locale()
	if err := CheckLocale(locale); err != nil {
		return nil, fmt.Errorf("locale: %w", err)
	}
	args = append(args, "--lang="+locale, "--accept-lang="+acceptLanguages(locale))
	if o.Timezone != "" && !timezonePattern.MatchString(o.Timezone) {
		return nil, fmt.Errorf("time zone %q is not a name such as Europe/Zurich", o.Timezone)
	}
	if o.UserAgent != "" {
		args = append(args, "--user-agent="+o.UserAgent)
	}
	if o.WindowWidth < 0 || o.WindowHeight < 0 {
		return nil, fmt.Errorf("window size %dx%d is negative", o.WindowWidth, o.WindowHeight)
	}
	if o.WindowWidth > 0 && o.WindowHeight > 0 {
		args = append(args, fmt.Sprintf("--window-size=%d,%d", o.WindowWidth, o.WindowHeight))
	}
	proxy, err := proxyFlags(o.Proxy)
	if err != nil {
		return nil, err
	}
	args = append(args, proxy...)

	disabled := disabledFeatures
	for _, f := range o.ExtraFlags {
		match := flagPattern.FindStringSubmatch(f)
		if match == nil {
			return nil, fmt.Errorf("browser flag %q is not of the form --name or --name=value", f)
		}
		if why, refused := refusedFlags[match[1]]; refused {
			return nil, fmt.Errorf("browser flag --%s is refused: %s", match[1], why)
		}
		if match[1] == "disable-features" {
			disabled = append(disabled[:len(disabled):len(disabled)], match[2])
			continue
		}
		args = append(args, f)
	}
	return append(args, "--disable-features="+strings.Join(disabled, ",")), nil
}

// proxyFlags leave Chromium no way to the network but the proxy.
func proxyFlags(proxy string) ([]string, error) {
	if proxy == "" {
		return nil, nil
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("egress proxy %q is not of the form http://ADDRESS:PORT", proxy)
	}
	addr, err := netip.ParseAddrPort(u.Host)
	if err != nil {
		return nil, fmt.Errorf("egress proxy %q: %w", proxy, err)
	}
	return []string{
		"--proxy-server=http://" + addr.String(),
		"--proxy-bypass-list=<-loopback>", // Chromium's built-in rule would reach loopback and link-local directly
		// No lookups by Chromium itself, which would leak names past the proxy. The proxy's own address must be
		// excluded or nothing loads.
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE " + addr.Addr().String(),
	}, nil
}

// CheckLocale refuses what has not the form of a BCP 47 language tag, "en-US" for instance.
func CheckLocale(tag string) error {
	if !localePattern.MatchString(tag) {
		return fmt.Errorf("%q is not a language tag such as en-US", tag)
	}
	return nil
}

func (o Options) locale() string {
	if o.Locale == "" {
		return "en-US"
	}
	return o.Locale
}

// acceptLanguages is what navigator.languages shows: the locale and its language.
func acceptLanguages(locale string) string {
	language, _, found := strings.Cut(locale, "-")
	if !found {
		return locale
	}
	return locale + "," + language
}
