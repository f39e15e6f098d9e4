// Package connect reaches a Signpost server, and says in words for people what it
// refuses.
package connect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// The default server, and the default time for a request.
const (
	defaultServer  = "http://127.0.0.1:9018"
	RequestTimeout = 30 * time.Second
)

// Connection is how a client command reaches the server.
type Connection struct {
	server    string
	token     string
	tokenFile string
	caFile    string
	certFile  string
	keyFile   string
	Timeout   time.Duration // of one request
}

// Flags adds the flags of every client command.
func (c *Connection) Flags(flags *pflag.FlagSet) {
	c.ServerFlags(flags)
	flags.DurationVar(&c.Timeout, "timeout", RequestTimeout, "how long to wait for each response")
}

// ServerFlags adds those flags but --timeout.
func (c *Connection) ServerFlags(flags *pflag.FlagSet) {
	c.Timeout = RequestTimeout
	flags.StringVar(&c.server, "server", "", "the server's `URL` (SIGNPOST_SERVER; default "+defaultServer+")")
	flags.StringVar(&c.token, "token", "", "the token to send (SIGNPOST_TOKEN, which other users of the machine cannot see)")
	flags.StringVar(&c.tokenFile, "token-file", "", "a `FILE` that holds only the token to send")
	flags.StringVar(&c.caFile, "ca-file", "", "a `FILE` with the CA certificates of an https:// server, in PEM (SIGNPOST_CA_FILE; default those of the system)")
	flags.StringVar(&c.certFile, "cert-file", "", "a `FILE` with the client certificate to present, in PEM (SIGNPOST_CERT_FILE)")
	flags.StringVar(&c.keyFile, "key-file", "", "the `FILE` with the key of --cert-file, in PEM (SIGNPOST_KEY_FILE)")
}

// Dial makes the client. It makes no request.
func (c *Connection) Dial() (*client.Client, error) {
	token, err := c.chosenToken()
	if err != nil {
		return nil, err
	}
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	const retries = 2
	made, err := client.New(cmp.Or(c.server, os.Getenv("SIGNPOST_SERVER"), defaultServer), client.Options{
		Token:      token,
		HTTPClient: &http.Client{Timeout: c.Timeout, Transport: transport},
		Retries:    retries,
	})
	if err != nil {
		return nil, terminal.Usagef("--server: %w", err)
	}
	return made, nil
}

// transport trusts whom the flags, else the environment, name, and shows their
// certificate.
func (c *Connection) transport() (http.RoundTripper, error) {
	caFile := cmp.Or(c.caFile, os.Getenv("SIGNPOST_CA_FILE"))
	certFile := cmp.Or(c.certFile, os.Getenv("SIGNPOST_CERT_FILE"))
	keyFile := cmp.Or(c.keyFile, os.Getenv("SIGNPOST_KEY_FILE"))
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		content, err := os.ReadFile(caFile)
		if err != nil {
			return nil, terminal.Usagef("--ca-file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, terminal.Usagef("--ca-file: %s holds no PEM certificate", caFile)
		}
	}
	if (certFile == "") != (keyFile == "") {
		return nil, terminal.Usagef("--cert-file and --key-file belong together: give both or neither")
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, terminal.Usagef("--cert-file and --key-file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("http.DefaultTransport was replaced")
	}
	transport = transport.Clone()
	transport.TLSClientConfig = config
	return transport, nil
}

// OfCluster sends a request about a cluster, which people name as they like, as Ask does. The error
// of an unknown cluster says how to find the clusters.
func (c *Connection) OfCluster(ctx context.Context, cluster, method, request string, into any) ([]byte, error) {
	path, err := document.ClusterPath(cluster)
	if err != nil {
		return nil, err
	}
	body, err := c.Ask(ctx, method, string(path)+"/"+request, nil, into)
	if IsMissing(err) {
		err = c.unknownCluster(ctx, path, err)
	}
	return body, err
}

// Ask dials the server and sends a request, as the function Ask does.
func (c *Connection) Ask(ctx context.Context, method, path string, body, into any) ([]byte, error) {
	api, err := c.Dial()
	if err != nil {
		return nil, err
	}
	return Ask(ctx, api, method, path, body, into)
}

// Ask sends a request whose body is the JSON of a value, nil for none. The answer is
// decoded into another value, nil for none, and returned as it came.
func Ask(ctx context.Context, api *client.Client, method, path string, body, into any) ([]byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = bytes.NewReader(text)
	}
	response, err := api.Do(ctx, method, path, sent, nil)
	if err != nil || into == nil {
		return nil, err
	}
	return response.Body, json.Unmarshal(response.Body, into)
}

// chosenToken is the token of the flags, else of the environment, else none.
func (c *Connection) chosenToken() (string, error) {
	if c.tokenFile == "" {
		return cmp.Or(c.token, os.Getenv("SIGNPOST_TOKEN")), nil
	}
	if c.token != "" {
		return "", terminal.Usagef("--token and --token-file exclude each other; give one of them")
	}
	content, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return "", terminal.Usagef("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" || strings.ContainsAny(token, " ,\t\r\n") {
		return "", terminal.Usagef("--token-file: %s must hold a single token; the server's list of tokens is for signpost serve", c.tokenFile)
	}
	return token, nil
}
