package redact

import (
	"slices"
	"strings"
)

// The names below are matched without regard to case and to what stands between their words: csrf_token, X-Api-Key, userPassword.

// endings are credentials wherever a name ends with them.
var endings = []string{
	"token", "secret", "password", "passwd", "passphrase", "passwort", "kennwort", "credential", "credentials", "signature",
	"passwordconfirm", "passwordconfirmation", "passwordrepeat", "passwordagain", "passwordnew", "passwordold",
	"apikey", "accesskey", "accesskeyid", "accountkey", "privatekey", "secretkey", "authkey", "sharedkey", "signingkey",
	"encryptionkey", "masterkey", "subscriptionkey", "authorization", "setcookie", "sessionid", "sessionkey", "connectsid",
	"onetimecode", "recoverycode", "verificationcode", "samlresponse", "samlrequest", "clientassertion",
}

// wholeWords are credentials where they are the last word of a name.
var wholeWords = []string{
	"pass", "pwd", "pw", "auth", "sig", "sid", "otp", "totp", "pin", "cvv", "cvc", "csc", "jwt", "jsessionid", "phpsessid",
	"csrf", "xsrf", "bearer", "cookie",
}

// urlNames are credentials as parameters of URLs; elsewhere they are ordinary words.
var urlNames = []string{"key", "code", "ticket", "assertion", "hmac", "session", "googleaccessid", "keypairid"}

// isCredentialWord tells whether a name promises a secret in any text.
func isCredentialWord(name string) bool {
	folded := strings.TrimRight(fold(name), "0123456789")
	for _, ending := range endings {
		if strings.HasSuffix(folded, ending) {
			return true
		}
	}
	last := name[strings.LastIndexFunc(name, func(r rune) bool { return !isWord(byte(min(r, 127))) || r == '_' })+1:]
	return slices.Contains(wholeWords, strings.ToLower(last))
}

// isCredential tells whether a parameter of a URL, or a header, with that name holds a secret.
func isCredential(name string) bool {
	name = strings.TrimRight(name, "[]")
	return isCredentialWord(name) || slices.Contains(urlNames, fold(name))
}

// isHeader tells the headers whose whole line is secret.
func isHeader(name string) bool {
	folded := fold(name)
	return strings.HasSuffix(folded, "authorization") || strings.HasSuffix(folded, "cookie")
}

// fold leaves the lower-case letters and the digits of a name.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, name)
}

// plain tells values that hold no secret and help to understand an error.
func plain(value string) bool {
	if len(value) <= 2 && strings.Trim(value, "0123456789") == "" {
		return true // nothing, or a count
	}
	switch strings.ToLower(value) {
	case "true", "false", "null", "undefined", "none", "nil", "missing", "required", "invalid", "expired", "empty", "object", "***":
		return true
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}
