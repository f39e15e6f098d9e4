package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
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
	b.WriteString(AsFlags(problem.Detail))
	if problem.Detail == "" {
		fmt.Fprintf(&b, "%s (%d)", problem.Title, problem.Status)
	}
	for _, field := range problem.Errors {
		switch {
		case field.Pointer != "":
			fmt.Fprintf(&b, "\n  %s: %s", PointerWord(field.Pointer), AsFlags(field.Detail))
		case problem.Status == http.StatusBadRequest:
			fmt.Fprintf(&b, "\n  the whole body: %s", AsFlags(field.Detail))
		default: // it is not about a body
			fmt.Fprintf(&b, "\n  %s", AsFlags(field.Detail))
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

// AsFlags is a text of an answer for people at the command line: query parameters of the API are flags there.
func AsFlags(text string) string {
	for _, rule := range [][2]string{
		{`\?takeover=`, "--takeover "},
		{`\bwith adopt=`, "with --adopt "},
		{`see POST …/plan(\?for=\w+)?, and confirm it by \?confirm=<token>`, "look at it by signpost plan, and confirm it by --confirm TOKEN"},
		{`delete it with \?confirm=<token> of its plan \(\?dryRun=true\)`, "look at it by signpost unpublish --dry-run, and give --confirm TOKEN there"},
		{`look at the plan here, and repeat the request with \?confirm=`, "look at the plan by --dry-run, and repeat the command with --confirm "},
		{`plans are allowed: \?dryRun=true`, "plans are allowed: --dry-run"},
		{`with \?override=\w+ \((--override \w+)\)`, "with $1"},
		{`--force \(\?force=true\)`, "--force"},
		{`create one first: POST /v2/projects/\S+/dns-update-records`, "create one first, by signpost apply"},
		{`create it first: POST /v2/projects$`, "create it first, by signpost apply. Or give another project, with --project"},
		{`create it first: POST /v2/\S+`, "create it first, by signpost apply"},
		{`change it by PUT /v2/\S+`, "change it by signpost apply"},
	} {
		text = regexp.MustCompile(rule[0]).ReplaceAllString(text, rule[1])
	}
	return text
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
	case errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Sprintf("%s answers without TLS; give its URL with http:// in --server or SIGNPOST_SERVER", server)
	case err.Timeout():
		return server + " does not answer in time; set a longer time with --timeout"
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return fmt.Sprintf("%s cannot be reached: %v\n  Check that the server is running, and its URL in --server or SIGNPOST_SERVER.", server, err.Err)
}
