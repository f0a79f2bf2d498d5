package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	jwtSample = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	openAI    = "sk-proj-Ab12Cd34Ef56Gh78Ij90"
	github    = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
)

// the value is nowhere in what comes out.
func TestR01Text(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		// names and values
		{`password=hunter2`, `password=[redacted]`},
		{`{"password": "hunter2", "user": "bob"}`, `{"password": "[redacted]", "user": "bob"}`},
		{`{password:'hun"ter2',user:"bob"}`, `{password:'[redacted]',user:"bob"}`},
		{`{"a":"{\"password\":\"hunter2\",\"user\":\"bob\"}"}`, `{"a":"{\"password\":\"[redacted]\",\"user\":\"bob\"}"}`},
		{`{\"token\":\"a\\\"hunter2\",\"b\":1}`, `{\"token\":\"[redacted]\",\"b\":1}`},
		{`accessToken: abc123, user: bob`, `accessToken: [redacted], user: bob`},
		{`{token:hunter2,user:bob}`, `{token:[redacted],user:bob}`},
		{`{a:{secret:hunter2}}`, `{a:{secret:[redacted]}}`},
		{`error: password: hunter2`, `error: password: [redacted]`},
		{`user[password]=hunter2&user[name]=bob`, `user[password]=[redacted]&user[name]=bob`},
		{`new_password_confirmation=hunter2`, `new_password_confirmation=[redacted]`},
		{`password=ab(c)d[e`, `password=[redacted]`},
		{`password=hun,ter2;user=bob`, `password=[redacted];user=bob`},
		{`deploy --api-key hunter2 --verbose`, `deploy --api-key [redacted] --verbose`},
		{`deploy --password="hunter2 x" -v`, `deploy --password="[redacted]" -v`},
		{`OPENAI_API_KEY=hunter2`, `OPENAI_API_KEY=[redacted]`},
		{`redirect token%3Dhunter2%26x=1`, `redirect token%3D[redacted]`},
		{`%22password%22%3A%22hunter2%22`, `%22password%22%3A[redacted]`},
		{`csrf => hunter2`, `csrf => [redacted]`},
		// headers
		{"Authorization: Bearer hunter2hunter2\nAccept: */*", "Authorization: [redacted]\nAccept: */*"},
		{`curl -H "Authorization: Token hunter2" https://x.test/`, `curl -H "Authorization: [redacted]" https://x.test/`},
		{"Cookie: sid=hunter2; theme=hunter3\r\nHost: x", "Cookie: [redacted]\r\nHost: x"},
		{`Set-Cookie: id=hunter2; Path=/`, `Set-Cookie: [redacted]`},
		{`{"authorization":"Basic dXNlcjpodW50ZXIy","n":1}`, `{"authorization":"[redacted]","n":1}`},
		{`x-api-key: hunter2`, `x-api-key: [redacted]`},
		{`authorization=Bearer hunter2`, `authorization=[redacted]`},
		{`sent bearer hunter2hunter2 to the server`, `sent bearer [redacted] to the server`},
		{`sent Basic dXNlcjpodW50ZXIy`, `sent Basic [redacted]`},
		// addresses
		{`postgres://bob:hunter2@db.test:5432/shop`, `postgres://[redacted]@db.test:5432/shop`},
		{`redis://:hun@ter2@db.test`, `redis://[redacted]@db.test`},
		{`GET https://bob@x.test/?key=hunter2&q=1#access_token=hunter3&state=2 200`, `GET https://[redacted]@x.test/?key=[redacted]&q=1#access_token=[redacted]&state=2 200`},
		{`Server=db;User=bob;Pwd=hunter2;Encrypt=true`, `Server=db;User=bob;Pwd=[redacted];Encrypt=true`},
		{`DefaultEndpointsProtocol=https;AccountKey=aHVudGVyMg==;EndpointSuffix=x`, `DefaultEndpointsProtocol=https;AccountKey=[redacted];EndpointSuffix=x`},
		// formats
		{"at " + jwtSample + ".", "at [redacted]"},
		{"cut " + jwtSample[:30], "cut [redacted]"},
		{"use " + openAI + " now", "use [redacted] now"},
		{"x%3D" + openAI, "x%3D[redacted]"},
		{"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{github, "[redacted]"},
		{"prefix_" + github, "prefix_[redacted]"},
		{"AIza" + strings.Repeat("aB3", 12), "[redacted]"},
		{"xoxb-123456789012-abcdefghijkl", "[redacted]"},
		{"sk_live_0123456789abcdef", "[redacted]"},
		{"glpat-abcdefghij0123456789", "[redacted]"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMIIEhunter2\n-----END RSA PRIVATE KEY----- after", "[redacted] after"},
		{"-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk hunter2", "[redacted]"},
		// cards
		{"card 4111 1111 1111 1111 exp 12/29", "card [redacted] exp 12/29"},
		{"card 4111-1111-1111-1111.", "card [redacted]."},
		{"4111111111111111 2024", "[redacted] 2024"},
		{"3782 822463 10005", "[redacted]"},
		{"n=%204111111111111111", "n=%20[redacted]"},
		{"12 4111 1111 1111 1111", "12 [redacted]"},
	} {
		got := Text(c.in)
		if got != c.want {
			t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
		if again := Text(got); again != got {
			t.Errorf("Text twice of %q\n got %q\nthen %q", c.in, got, again)
		}
	}
}

// harmless look-alikes are kept.
func TestR01Harmless(t *testing.T) {
	for _, s := range []string{
		"",
		"GET https://example.com/app.3f2504e04f8941d39a0c0305e82c3301.js 200",
		"id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
		"id 41111111-1111-4111-8111-111111111111",
		"order 4111111111111112 was shipped",
		"at 1767225600000 ms",
		"0.4111111111111111",
		"row_4111111111111111_x",
		"Uncaught SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
		"max_tokens=1024, total tokens: 55",
		"token: null, password: undefined, auth: true",
		"pass: 12, fail: 3",
		"WWW-Authenticate: Bearer realm=\"shop\"",
		"basic information about bearer authentication",
		"class sk-folding-cube-wrapper-large",
		"https://example.com/@user/posts?q=secret+garden&page=2#tokens",
		"https://example.com/search?keyword=shoes&sort=price",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"task-0123456789abcdef0123",
		"http://localhost:3000/@vite/client",
		"Forgot password? Enter your password below.",
		"ünïcödé 日本 🙂",
	} {
		if got := Text(s); got != s {
			t.Errorf("Text(%q) = %q, want it unchanged", s, got)
		}
	}
}

// D-03: credentials in URLs are gone, names stay.
func TestD03URL(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"https://u:p@x.test/a?b=c", "https://[redacted]@x.test/a?b=c"},
		{"https://x.test/cb?code=abc123&state=9", "https://x.test/cb?code=[redacted]&state=9"},
		{"https://x.test/?token=a,b'c&d=e", "https://x.test/?token=[redacted]&d=e"},
		{"https://x.test/?access%5Ftoken=abc", "https://x.test/?access%5Ftoken=[redacted]"},
		{"https://b.s3.test/f.csv?X-Amz-Credential=AK%2F1&X-Amz-Date=20260101T000000Z&X-Amz-Signature=abc",
			"https://b.s3.test/f.csv?X-Amz-Credential=[redacted]&X-Amz-Date=20260101T000000Z&X-Amz-Signature=[redacted]"},
		{"https://x.test/#id_token=abc&expires_in=60", "https://x.test/#id_token=[redacted]&expires_in=60"},
		{"https://x.test/#/in?token=abc", "https://x.test/#/in?token=[redacted]"},
		{"https://x.test/a;jsessionid=abc?q=1", "https://x.test/a;jsessionid=[redacted]?q=1"},
		{"https://x.test/?u=https%3A%2F%2Fy%2F%3Fsig%3Dabc&z=1", "https://x.test/?u=https%3A%2F%2Fy%2F%3Fsig%3D[redacted]&z=1"},
		{"https://x.test/" + github + "/repo", "https://x.test/[redacted]/repo"},
		{"/login?next=%2F&password=hunter2", "/login?next=%2F&password=[redacted]"},
		{"https://x.test/a?b", "https://x.test/a?b"},
		{"blob:https://x.test/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "blob:https://x.test/3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
	} {
		if got := URL(c.in); got != c.want {
			t.Errorf("URL(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestR01Header(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"Authorization", "Bearer abc", "Bearer [redacted]"},
		{"Proxy-Authorization", "abc", "[redacted]"},
		{"Cookie", "a=b", "[redacted]"},
		{"set-cookie", "a=b; Path=/", "[redacted]"},
		{"X-Api-Key", "abc", "[redacted]"},
		{"X-CSRF-Token", "abc", "[redacted]"},
		{"Location", "https://u:p@x.test/?code=abc", "https://[redacted]@x.test/?code=[redacted]"},
		{"Content-Type", "text/html; charset=utf-8", "text/html; charset=utf-8"},
		{"ETag", `"3f2504e04f8941d3"`, `"3f2504e04f8941d3"`},
	} {
		if got := Header(c.name, c.value); got != c.want {
			t.Errorf("Header(%q, %q) = %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"password=a", openAI, jwtSample, "4111 1111 1111 1111", "https://u:p@x/?a=b#c=d", `{\"token\":\"x\\\"y\"}`, "Cookie: a", "Bearer =realm"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("Text(%q) = %q is no valid UTF-8", s, once)
		}
		URL(s)
		// A planted credential is never there afterwards, whatever stands around it.
		const planted = "ghp_PLANTED0123456789abcdefABCDEF"
		if got := Text(s + " " + planted + " " + s); strings.Contains(got, "PLANTED") {
			t.Errorf("Text kept the key after %q: %q", s, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := "GET https://example.com/api/items?page=2&token=abcdef0123456789 failed: {\"error\":\"Invalid input\",\"id\":\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\"} "
	text := strings.Repeat(line, 4)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
