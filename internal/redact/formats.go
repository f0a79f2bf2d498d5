package redact

import "strings"

// format is what the keys of a service look like: a prefix, then at least so many characters of an alphabet.
type format struct {
	prefix   string
	least    int
	alphabet string // besides letters and digits
	common   bool   // the prefix occurs in words, so it counts only at the start of one and with a digit behind it
}

const dashes = "-_"

var formats = []format{
	{"AKIA", 16, "", false}, {"ASIA", 16, "", false}, // AWS
	{"ghp_", 20, "", false}, {"gho_", 20, "", false}, {"ghu_", 20, "", false}, {"ghs_", 20, "", false}, {"ghr_", 20, "", false}, // GitHub
	{"github_pat_", 20, "_", false},
	{"glpat-", 16, dashes, false}, {"gldt-", 16, dashes, false}, {"glrt-", 16, dashes, false}, // GitLab
	{"AIza", 30, dashes, false}, {"ya29.", 20, dashes, false}, {"GOCSPX-", 20, dashes, false}, // Google
	{"xoxa-", 10, "-", false}, {"xoxb-", 10, "-", false}, {"xoxe-", 10, "-", false}, {"xoxo-", 10, "-", false}, // Slack
	{"xoxp-", 10, "-", false}, {"xoxr-", 10, "-", false}, {"xoxs-", 10, "-", false}, {"xoxe.", 10, "-.", false}, {"xapp-", 10, "-", false},
	{"hooks.slack.com/services/", 20, "/", false},
	{"discord.com/api/webhooks/", 20, "/-_", false}, {"discordapp.com/api/webhooks/", 20, "/-_", false},
	{"sk_live_", 10, "", false}, {"sk_test_", 10, "", false}, {"rk_live_", 10, "", false}, {"rk_test_", 10, "", false}, // Stripe
	{"whsec_", 16, "+/=", false},
	{"npm_", 30, "", false}, {"pypi-", 32, dashes, false}, // package registries
	{"SG.", 33, "-_.", false},                              // SendGrid
	{"dop_v1_", 32, "", false}, {"doo_v1_", 32, "", false}, // DigitalOcean
	{"shpat_", 32, "", false}, {"shpca_", 32, "", false}, {"shppa_", 32, "", false}, {"shpss_", 32, "", false}, // Shopify
	{"sq0atp-", 20, dashes, false}, {"sq0csp-", 20, dashes, false}, // Square
	{"dckr_pat_", 20, dashes, false}, {"ATATT3", 30, "-_=", false}, // Docker, Atlassian
	{"hvs.", 20, dashes, false}, {"lin_api_", 30, "", false}, // Vault, Linear
	{"hf_", 30, "", false}, {"glsa_", 30, "_", false}, // Hugging Face, Grafana
	{":AA", 33, dashes, false},                                           // Telegram
	{"AGE-SECRET-KEY-1", 50, "", false},                                  // age
	{"sk-", 16, dashes, true},                                            // OpenAI, Anthropic
	{"SK", 32, "", true}, {"key-", 32, "", true}, {"dapi", 32, "", true}, // Twilio, Mailgun, Databricks
}

// keys redacts keys of well-known services.
func keys(s string) string {
	for _, f := range formats {
		if strings.Contains(s, f.prefix) {
			s = f.redact(s)
		}
	}
	return s
}

func (f format) redact(s string) string {
	var out edit
	for from := 0; ; {
		n := strings.Index(s[from:], f.prefix)
		if n < 0 {
			return out.end(s)
		}
		from += n
		to := from + len(f.prefix)
		for to < len(s) && (isWord(s[to]) && s[to] != '_' || strings.IndexByte(f.alphabet, s[to]) >= 0) {
			to++
		}
		if to-from-len(f.prefix) >= f.least && (!f.common || startsWord(s, from) && strings.ContainsAny(s[from:to], "0123456789")) {
			out.redact(s, from, to)
		}
		from = to
	}
}

// startsWord tells whether a word begins there. What a percent escape stands for ends one.
func startsWord(s string, at int) bool {
	return at == 0 || !isWord(s[at-1]) && s[at-1] != '-' || at >= 3 && s[at-3] == '%'
}
