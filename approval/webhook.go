package approval

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Headers of a question and of its answer. The signature is "v1=" and the hexadecimal HMAC-SHA256, under the shared secret, of
// "question." or "answer.", the timestamp, "." and the body.
const (
	TimestampHeader = "Pagehand-Timestamp" // seconds since 1970
	SignatureHeader = "Pagehand-Signature"
)

// Limits of a webhook.
const (
	minSecret  = 16 // bytes
	maxReply   = 64 << 10
	maxSkew    = 5 * time.Minute
	hookTarget = "ask by webhook"
)

// Webhook asks by an HTTP POST whose response is the answer.
//
// The question is a JSON object: "id", "expires" and "request", a [View]. The answer is one too: "id" and "digest" as they were sent, "answer",
// which is "yes" or "no", and optionally "by". Status 200, type application/json, signed as the question is. Status 202 says that
// there is no answer yet: the same question, with the same id, is put again after the seconds that Retry-After names. Anything else is a no.
// Each question has a new id, so an answer counts for no other question; redirects are not followed.
type Webhook struct {
	url    string
	secret []byte
	client *http.Client
	now    func() time.Time
}

// NewWebhook asks at an https address, or at an http one of this machine. The secret has at least 16 bytes. A nil client
// is one that goes straight there, whatever proxy the environment names.
func NewWebhook(address string, secret []byte, client *http.Client) (*Webhook, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the webhook's address: %w", err)
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return nil, errors.New("the webhook's address must be https, or http on this machine")
	}
	if len(secret) < minSecret {
		return nil, fmt.Errorf("the webhook's secret must have at least %d bytes", minSecret)
	}
	own := http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true}} // no proxy of the environment's
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhook{url: address, secret: bytes.Clone(secret), client: &own, now: time.Now}, nil
}

type hookQuestion struct {
	ID      string    `json:"id"`
	Expires time.Time `json:"expires,omitzero"`
	Request View      `json:"request"`
}

type hookAnswer struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	Answer string `json:"answer"`
	By     string `json:"by"`
}

// Sign is the value of [SignatureHeader]. Kind is "question" or "answer", so that neither passes for the other.
func Sign(secret []byte, kind, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.", kind, timestamp)
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Approve asks and waits for the response until ctx ends.
func (w *Webhook) Approve(ctx context.Context, r Request) (Answer, error) {
	question := hookQuestion{ID: newID(), Request: r.View()}
	if deadline, ok := ctx.Deadline(); ok {
		question.Expires = deadline.UTC()
	}
	body, err := json.Marshal(question)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", hookTarget, err)
	}
	for {
		answer, again, err := w.post(ctx, question, body)
		if err != nil {
			return Answer{}, fmt.Errorf("%s: %w", hookTarget, err)
		}
		if again == nil {
			return answer, nil
		}
		select {
		case <-time.After(*again):
		case <-ctx.Done():
			return Answer{}, context.Cause(ctx)
		}
	}
}

// post puts the question once. Without an answer yet it tells how long to wait before it is put again.
func (w *Webhook) post(ctx context.Context, question hookQuestion, body []byte) (Answer, *time.Duration, error) {
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, nil, err
	}
	timestamp := strconv.FormatInt(w.now().Unix(), 10)
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set(TimestampHeader, timestamp)
	post.Header.Set(SignatureHeader, Sign(w.secret, "question", timestamp, body))
	response, err := w.client.Do(post)
	if err != nil {
		return Answer{}, nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusAccepted {
		return Answer{}, new(retryAfter(response.Header)), nil
	}
	reply, err := w.verified(response)
	if err != nil {
		return Answer{}, nil, err
	}
	answer, err := readReply(reply, question)
	return answer, nil, err
}

// retryAfter is how long the header asks to wait, from a tenth of a second to a minute; some seconds when it says nothing that is understood.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 3 * time.Second
	}
	return max(min(time.Duration(seconds), 60)*time.Second, time.Second/10)
}

// verified is the body of a response that was signed just now by somebody who has the secret.
func (w *Webhook) verified(response *http.Response) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", response.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errors.New("the answer is not application/json")
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxReply {
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	timestamp := response.Header.Get(TimestampHeader)
	signature := response.Header.Get(SignatureHeader)
	if !hmac.Equal([]byte(signature), []byte(Sign(w.secret, "answer", timestamp, body))) {
		return nil, errors.New("the answer's signature is wrong")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || w.now().Sub(time.Unix(seconds, 0)).Abs() > maxSkew {
		return nil, errors.New("the answer's timestamp is not of now")
	}
	return body, nil
}

// readReply reads a verified answer to a question.
func readReply(body []byte, asked hookQuestion) (Answer, error) {
	var reply hookAnswer
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&reply); err != nil {
		return Answer{}, fmt.Errorf("read the answer: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Answer{}, errors.New("the answer is more than one JSON object")
	}
	if reply.ID != asked.ID || reply.Digest != asked.Request.Digest {
		return Answer{}, ErrMismatch
	}
	if reply.Answer != "yes" && reply.Answer != "no" {
		return Answer{}, errors.New("the answer is neither yes nor no")
	}
	return Answer{Yes: reply.Answer == "yes", Digest: reply.Digest, By: "webhook " + reply.By}, nil
}
