package access

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
)

// newIssuerClient is the client that asks an issuer. Proxies of the environment
// count.
func newIssuerClient(caFile string) (*http.Client, error) {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		trusted, err := readAuthorities(caFile)
		if err != nil {
			return nil, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		transport.TLSClientConfig.RootCAs = trusted
	}
	const memory = 8 << 20 // of an answer
	return &http.Client{Transport: bounded.Transport{RoundTripper: bounded.Straight{RoundTripper: bounded.LimitHeaders(transport)}, Most: memory}}, nil
}

// discover reads the keys that an issuer publishes, and how long they are good
// for, as OpenID Connect Discovery has it.
func discover(ctx context.Context, client *http.Client, issuer string) (keys []jose.JSONWebKey, fresh time.Duration, err error) {
	var about struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if _, err := get(ctx, client, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return nil, 0, err
	}
	if about.Issuer != issuer {
		return nil, 0, fmt.Errorf("the issuer calls itself %q; give --oidc-issuer exactly as it is written there", about.Issuer)
	}
	if err := secureURL(strings.SplitN(about.JWKSURI, "?", 2)[0]); err != nil {
		return nil, 0, fmt.Errorf("its jwks_uri: %w", err)
	}
	var published struct {
		Keys []json.RawMessage `json:"keys"`
	}
	header, err := get(ctx, client, about.JWKSURI, &published)
	if err != nil {
		return nil, 0, err
	}
	keys, err = parseKeys(published.Keys)
	return keys, maxAge(header), err
}

// parseKeys reads those keys that are of a kind that is known here.
func parseKeys(published []json.RawMessage) ([]jose.JSONWebKey, error) {
	const most = 100
	if len(published) > most {
		return nil, fmt.Errorf("it publishes %d keys; at most %d are read", len(published), most)
	}
	var keys []jose.JSONWebKey
	for _, raw := range published {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// get reads a JSON document of at most 1 MiB.
func get(ctx context.Context, client *http.Client, url string, into any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, answer.Status)
	}
	const most = 1 << 20
	body, err := io.ReadAll(http.MaxBytesReader(nil, answer.Body, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return answer.Header, nil
}

// maxAge is what a Cache-Control header says; without it, as long as can be.
func maxAge(header http.Header) time.Duration {
	for part := range strings.SplitSeq(header.Get("Cache-Control"), ",") {
		if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(part)), "max-age="); ok {
			if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
				return time.Duration(min(seconds, int(keysFresh/time.Second))) * time.Second
			}
		}
	}
	return keysFresh
}
