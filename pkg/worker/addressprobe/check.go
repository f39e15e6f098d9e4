package addressprobe

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// Dial connects to an address that may be probed.
type Dial func(ctx context.Context, network, address, scope string) (net.Conn, error)

// How much of an answer is read.
const (
	mostHeader = 16 << 10
	mostBody   = 64 << 10
)

// userAgent tells servers who asks.
const userAgent = "signpost-probe"

// check asks one address in one way. It keeps the connection of HTTP for the next time.
// It is not safe for concurrent use.
type check struct {
	spec    intent.Probe
	address string // HOST:PORT
	timeout time.Duration
	dial    Dial
	client  *http.Client // nil for TCP
}

func newCheck(spec intent.Probe, target string, dial Dial) *check {
	c := &check{spec: spec, address: net.JoinHostPort(target, strconv.Itoa(spec.Port)), dial: dial, timeout: duration(spec.Timeout)}
	if spec.Type == intent.ProbeTCP {
		return c
	}
	c.client = &http.Client{
		Transport: &http.Transport{
			Proxy: nil, // the environment's would be asked in place of the address
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dial(ctx, network, c.address, "")
			},
			TLSClientConfig:        &tls.Config{ServerName: spec.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: spec.AllowInsecure}, //nolint:gosec // as the document asks for
			DisableCompression:     true,                                                                                                     // a small answer may grow
			MaxIdleConnsPerHost:    1,
			MaxResponseHeaderBytes: mostHeader,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// duration is one of a probe, which was checked.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return time.Second
	}
	return d
}

// close ends the connection that is kept.
func (c *check) close() {
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}

// ask answers why the address does not serve, nil if it does.
func (c *check) ask(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, c.timeout)
	defer cancel()
	err := c.once(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", c.timeout)
	}
	return err
}

func (c *check) once(ctx context.Context) error {
	if c.client == nil {
		conn, err := c.dial(ctx, "tcp", c.address, "")
		if err != nil {
			return err
		}
		return conn.Close()
	}
	scheme := "http"
	if c.spec.Type == intent.ProbeHTTPS {
		scheme = "https"
	}
	at, err := url.Parse(scheme + "://" + net.JoinHostPort(c.spec.Host, strconv.Itoa(c.spec.Port)) + c.spec.Path)
	if err != nil {
		return fmt.Errorf("path %q is not one of a URL: %w", c.spec.Path, err)
	}
	request := &http.Request{Method: http.MethodGet, URL: at, Host: c.hostHeader(), Header: http.Header{"User-Agent": {userAgent}}}
	answer, err := c.client.Do(request.WithContext(ctx))
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	return c.judge(answer)
}

// hostHeader leaves the port out if it is the scheme's own.
func (c *check) hostHeader() string {
	if c.spec.Port == (intent.Probe{Type: c.spec.Type}).Completed("").Port {
		return c.spec.Host
	}
	return net.JoinHostPort(c.spec.Host, strconv.Itoa(c.spec.Port))
}

// judge reads the beginning of an answer.
func (c *check) judge(answer *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostBody))
	if err != nil {
		return err
	}
	ok := answer.StatusCode >= http.StatusOK && answer.StatusCode < http.StatusMultipleChoices
	if len(c.spec.Statuses) > 0 {
		ok = slices.Contains(c.spec.Statuses, answer.StatusCode)
	}
	switch {
	case !ok:
		return fmt.Errorf("status %d", answer.StatusCode)
	case !bytes.Contains(body, []byte(c.spec.Body)):
		return fmt.Errorf("the first %d bytes of the answer lack the text of body", len(body))
	}
	return nil
}

// unjudged tells whether an error says nothing about the address: it may not be
// probed, or this machine cannot try.
func unjudged(err error) bool {
	if fault.Of(err) == publisher.Forbidden {
		return true
	}
	own := []syscall.Errno{syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.EACCES, syscall.EPERM}
	return slices.ContainsFunc(own, func(one syscall.Errno) bool { return errors.Is(err, one) })
}
