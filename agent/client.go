package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/pagehand/pagehand/internal/redact"
)

// Brand is one of the names under which the API is offered (contract §9).
type Brand string

// The brands. Vertex is Claude on Google Cloud: the same API at another address, where the credentials are Google's.
const (
	Claude Brand = "claude"
	Haijun Brand = "haijun"
	Vertex Brand = "vertex"
)

// brands are what differs. A key is read from its variable; the base URL too, if that is set.
var brands = map[Brand]struct{ base, baseVariable, keyVariable, model string }{
	Claude: {"https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "claude-opus-5-5"},
	Haijun: {"https://haijun.my.id", "JUGLOW_BASE_URL", "JUGLOW_API_KEY", "haijun-opus-5-5"},
	Vertex: {"", "ANTHROPIC_VERTEX_BASE_URL", "", "claude-opus-5-5"},
}

// KeyVariable names the environment variable that holds the brand's key; empty when it has none.
func (b Brand) KeyVariable() string { return brands[b].keyVariable }

// DefaultModel is the model that is asked when none is named.
func (b Brand) DefaultModel() string { return brands[b].model }

// ErrNoKey says that the brand's variable holds no key.
var ErrNoKey = errors.New("no API key")

// errRedirect is an answer that isn't followed.
var errRedirect = errors.New("the API answered with a redirect, which is not followed because the key would go with it; check the base URL")

// Access says how the API is reached.
type Access struct {
	// Brand is Claude when it is empty.
	Brand Brand
	// BaseURL replaces the brand's address.
	BaseURL string
	// Project and Region are Google Cloud's, for Vertex. Empty: ANTHROPIC_VERTEX_PROJECT_ID or the project of the credentials;
	// CLOUD_ML_REGION or "global".
	Project, Region string
	// Tokens are the credentials for Vertex. Nil: Google's application default credentials.
	Tokens oauth2.TokenSource
}

// Client is the Anthropic Go SDK's client.
type Client = sdk.Client

// NewClient makes a client for a brand. The key comes from the brand's variable and nowhere else; a loopback address, where a local API
// listens, needs none.
func NewClient(ctx context.Context, a Access) (Client, error) {
	if a.Brand == "" {
		a.Brand = Claude
	}
	brand, ok := brands[a.Brand]
	if !ok {
		return Client{}, fmt.Errorf("agent: %q is not a brand", a.Brand)
	}
	if a.BaseURL == "" {
		a.BaseURL = os.Getenv(brand.baseVariable)
	}
	// A redirect would take the key, which net/http keeps in its header, to wherever it leads.
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect }}
	options := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithHTTPClient(direct)}
	switch {
	case a.Brand == Vertex:
		access, err := vertexAccess(ctx, &a)
		if err != nil {
			return Client{}, err
		}
		options = append(options, access...)
	case a.BaseURL == "":
		a.BaseURL = brand.base
	}
	base, err := url.Parse(a.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return Client{}, fmt.Errorf("agent: the base URL %q is not an http or https address", redact.URL(a.BaseURL))
	}
	options = append(options, option.WithBaseURL(a.BaseURL))
	if a.Brand != Vertex {
		key := os.Getenv(brand.keyVariable)
		switch {
		case key != "":
		case isLoopback(base.Hostname()):
			key = "none"
		default:
			return Client{}, fmt.Errorf("agent: %w: %s is not set", ErrNoKey, brand.keyVariable)
		}
		options = append(options, option.WithAPIKey(key))
	}
	if a.Brand == Haijun {
		options = append(options, option.WithHeaderDel("anthropic-version"), option.WithHeader("juglow-version", "2023-06-01"))
	}
	return sdk.NewClient(options...), nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// vertexAccess fills in what of the access to Google Cloud is left out, and translates requests. The SDK has a package for it, which
// brings Google's whole client library with it; all that is needed of that are its credentials.
func vertexAccess(ctx context.Context, a *Access) ([]option.RequestOption, error) {
	first := func(values ...string) string {
		for _, v := range values {
			if v != "" {
				return v
			}
		}
		return ""
	}
	a.Region = first(a.Region, os.Getenv("CLOUD_ML_REGION"), "global")
	a.Project = first(a.Project, os.Getenv("ANTHROPIC_VERTEX_PROJECT_ID"), os.Getenv("GOOGLE_CLOUD_PROJECT"))
	if a.Tokens == nil {
		found, err := google.FindDefaultCredentials(ctx, cloudScope)
		if err != nil {
			return nil, fmt.Errorf("agent: %w: %w", ErrNoKey, err)
		}
		a.Tokens, a.Project = found.TokenSource, first(a.Project, found.ProjectID)
	}
	if a.Project == "" {
		return nil, errors.New("agent: no Google Cloud project is named")
	}
	if a.BaseURL == "" {
		a.BaseURL = vertexHost(a.Region)
	}
	tokens := oauth2.ReuseTokenSource(nil, a.Tokens)
	models := fmt.Sprintf("/v1/projects/%s/locations/%s/publishers/anthropic/models/", url.PathEscape(a.Project), url.PathEscape(a.Region))
	return []option.RequestOption{option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		token, err := tokens.Token()
		if err != nil {
			return nil, fmt.Errorf("agent: the credentials for Google Cloud: %w", err)
		}
		token.SetAuthHeader(r)
		if err := toVertex(r, models); err != nil {
			return nil, err
		}
		return next(r)
	})}, nil
}

// vertexHost is the address of a region; "global", "us" and "eu" are no regions but have one too.
func vertexHost(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com"
	}
	return "https://" + region + "-aiplatform.googleapis.com"
}

// toVertex turns a streamed request to /v1/messages into Google Cloud's form: the model is in the path, the version in the body.
func toVertex(r *http.Request, models string) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body.Close()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	var model string
	if err := json.Unmarshal(fields["model"], &model); err != nil {
		return err
	}
	delete(fields, "model")
	fields["anthropic_version"] = json.RawMessage(`"vertex-2023-10-16"`)
	body = encode(fields)
	r.URL.Path = strings.TrimSuffix(r.URL.Path, "/v1/messages") + models + model + ":streamRawPredict"
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, err = r.GetBody()
	r.ContentLength = int64(len(body))
	return err
}
