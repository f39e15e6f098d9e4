package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/client"
)

// IsUnreachable tells whether the same request may well succeed later.
func IsUnreachable(err error) bool {
	if problem, ok := errors.AsType[*client.Error](err); ok {
		return problem.Status == http.StatusServiceUnavailable || problem.Status == http.StatusTooManyRequests
	}
	var transport *url.Error
	return errors.As(err, &transport) && !errors.Is(err, context.Canceled)
}

// Describe is the error for people: a problem field by field, one line each.
func Describe(err error) string {
	if problem, ok := errors.AsType[*client.Error](err); ok {
		return describeProblem(problem)
	}
	if emcos, ok := errors.AsType[*emco.Unreachable](err); ok {
		return emcos.Error()
	}
	if transport, ok := errors.AsType[*url.Error](err); ok {
		return describeTransport(transport)
	}
	return err.Error()
}

func describeProblem(problem *client.Error) string {
	var b strings.Builder
	b.WriteString(problem.Detail)
	if problem.Detail == "" {
		fmt.Fprintf(&b, "%s (%d)", problem.Title, problem.Status)
	}
	for _, field := range problem.Errors {
		switch {
		case field.Pointer != "":
			fmt.Fprintf(&b, "\n  %s: %s", PointerWord(field.Pointer), field.Detail)
		case problem.Status == http.StatusBadRequest:
			fmt.Fprintf(&b, "\n  the whole body: %s", field.Detail)
		default: // it is not about a body
			fmt.Fprintf(&b, "\n  %s", field.Detail)
		}
	}
	switch problem.Status {
	case http.StatusUnauthorized:
		b.WriteString("\n  Give a token with SIGNPOST_TOKEN or --token-file.")
	case http.StatusInternalServerError:
		fmt.Fprintf(&b, "\n  The server's log has the details under request %s.", problem.RequestID)
	}
	return b.String()
}

// PointerWord is a pointer as people read it: one to a document as a whole ends in
// "#".
func PointerWord(pointer string) string { return strings.TrimSuffix(pointer, "#") }

func describeTransport(err *url.Error) string {
	server := err.URL
	if parsed, parseErr := url.Parse(err.URL); parseErr == nil {
		server = parsed.Scheme + "://" + parsed.Host
	}
	var unknown *tls.CertificateVerificationError
	var alert *net.OpError // the server's, which crypto/tls has no exported type for
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("%s presents a certificate that is not trusted: %v\n  Give the CA certificate with --ca-file or SIGNPOST_CA_FILE.", server, unknown.Err)
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Sprintf("%s refused the TLS connection: %v\n  Check that the server trusts the certificate of --cert-file.", server, alert.Err)
	case err.Timeout():
		return server + " does not answer in time; set a longer time with --timeout"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return fmt.Sprintf("%s cannot be reached: %v\n  Check that the server is running, and its URL in --server or SIGNPOST_SERVER.", server, err.Err)
}
