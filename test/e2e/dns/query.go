package dns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	// queryTimeout is how long one question waits for its answer.
	queryTimeout = 5 * time.Second
	// queryTries is how often a question is asked: UDP may lose it.
	queryTries = 4
)

// Query asks the server ("host:port") for the records of this type and returns
// their data as zone files show it, sorted. It returns nothing if there is no
// such record or name. Any code but NOERROR and NXDOMAIN, and no answer at all,
// is an error.
func Query(ctx context.Context, server, name, recordType string) ([]string, error) {
	return query(ctx, server, name, recordType, false)
}

// Resolve is Query of a resolver, which may ask other servers.
func Resolve(ctx context.Context, server, name, recordType string) ([]string, error) {
	return query(ctx, server, name, recordType, true)
}

func query(ctx context.Context, server, name, recordType string, recursive bool) ([]string, error) {
	kind, known := dns.StringToType[recordType]
	if !known {
		return nil, fmt.Errorf("query %s: no record type %q", name, recordType)
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	question.RecursionDesired = recursive
	reply, err := exchange(ctx, question, server)
	if err != nil {
		return nil, fmt.Errorf("query %s %s: %w", name, recordType, err)
	}
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("query %s %s: status %s", name, recordType, dns.RcodeToString[reply.Rcode])
	}
	var answers []string
	for _, record := range reply.Answer {
		if record.Header().Rrtype == kind {
			answers = append(answers, strings.TrimPrefix(record.String(), record.Header().String()))
		}
	}
	slices.Sort(answers)
	return answers, nil
}

// exchange asks over UDP, and again over TCP if the answer was truncated.
func exchange(ctx context.Context, question *dns.Msg, server string) (reply *dns.Msg, err error) {
	client := &dns.Client{Timeout: queryTimeout}
	for range queryTries {
		reply, _, err = client.ExchangeContext(ctx, question, server)
		switch {
		case err == nil && reply.Truncated && client.Net == "":
			client.Net = "tcp"
		case err == nil, ctx.Err() != nil:
			return reply, err
		}
	}
	return reply, err
}
