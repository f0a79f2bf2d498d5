package agent_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/pagehand/pagehand/agent"
)

func TestBrands(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "JUGLOW_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"} {
		t.Setenv(name, "")
	}
	t.Setenv("ANTHROPIC_API_KEY", "key-a")
	t.Setenv("JUGLOW_API_KEY", "key-j")
	for _, tt := range []struct {
		access  agent.Access
		path    string
		headers map[string]string
	}{
		{agent.Access{}, "/v1/messages", map[string]string{"X-Api-Key": "key-a", "Anthropic-Version": "2023-06-01", "Juglow-Version": ""}},
		{agent.Access{Brand: agent.Haijun}, "/v1/messages", map[string]string{"X-Api-Key": "key-j", "Anthropic-Version": "", "Juglow-Version": "2023-06-01"}},
		{agent.Access{Brand: agent.Vertex, Project: "p", Region: "eu", Tokens: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "tok"})},
			"/v1/projects/p/locations/eu/publishers/anthropic/models/claude-sonnet-5:streamRawPredict", map[string]string{"X-Api-Key": "", "Authorization": "Bearer tok"}},
	} {
		t.Run(string(tt.access.Brand), func(t *testing.T) {
			tr := newTrial(t, failWith(529, "overloaded_error", "Overloaded"), says("end_turn", text("Done.")))
			tt.access.BaseURL = tr.api.URL
			var paths []string
			tr.api.Config.Handler = spy(tr.api.Config.Handler, &paths)
			client, err := agent.NewClient(t.Context(), tt.access)
			if err != nil {
				t.Fatal(err)
			}
			tr.options.Client = client
			equal(t, "answer", tr.run(t, "Go.").Answer, "Done.")
			equal(t, "paths", paths, []string{tt.path, tt.path}) // the SDK repeats the request
			last := tr.api.requests[1]
			for name, want := range tt.headers {
				equal(t, name, last.header.Get(name), want)
			}
			if vertex := tt.access.Brand == agent.Vertex; (last.body["model"] == nil) != vertex || (last.body["anthropic_version"] != nil) != vertex || string(last.body["stream"]) != "true" {
				t.Errorf("model %s, version %s, stream %s", last.body["model"], last.body["anthropic_version"], last.body["stream"])
			}
		})
	}
}

func spy(next http.Handler, paths *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*paths = append(*paths, r.URL.Path)
		next.ServeHTTP(w, r)
	})
}

func TestNoKey(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_BASE_URL", "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere")
	if _, err := agent.NewClient(t.Context(), agent.Access{}); !errors.Is(err, agent.ErrNoKey) || !strings.Contains(err.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("without a key: %v", err)
	}
	if _, err := agent.NewClient(t.Context(), agent.Access{Brand: agent.Vertex, Project: "p"}); !errors.Is(err, agent.ErrNoKey) {
		t.Errorf("without credentials: %v", err)
	}
	local := httptest.NewServer(http.NotFoundHandler())
	defer local.Close()
	if _, err := agent.NewClient(t.Context(), agent.Access{BaseURL: local.URL}); err != nil {
		t.Errorf("a local API: %v", err)
	}
	for _, bad := range []agent.Access{{Brand: "other"}, {BaseURL: "127.0.0.1:80"}, {BaseURL: "file:///x"}} {
		if _, err := agent.NewClient(t.Context(), bad); err == nil || errors.Is(err, agent.ErrNoKey) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
