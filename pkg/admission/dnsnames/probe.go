package dnsnames

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Bounds of a probe.
const (
	shortestInterval = 2 * time.Second
	longestInterval  = 10 * time.Minute
	shortestTimeout  = 100 * time.Millisecond
	longestTimeout   = 30 * time.Second
	highestPort      = 65535
	mostThreshold    = 10
	longestText      = 1024
	lowestStatus     = 200
	highestStatus    = 599
)

// checkProbe checks how addresses of some host names are probed.
func checkProbe(r *review.Review, at review.Pointer, p intent.Probe, scope intent.Scope, names []string) {
	if scope == intent.ClusterScope {
		r.Refusef(at, "no probe reaches addresses inside a cluster; leave probe out, or choose scope public")
	}
	switch p.Type {
	case intent.ProbeTCP:
		checkUnread(r, at, p)
	case intent.ProbeHTTP, intent.ProbeHTTPS:
		checkRequest(r, at, p, names)
	default:
		r.Refusef(at+"/type", "%s is not a type of probe; give TCP, HTTP or HTTPS", review.Quote(p.Type))
	}
	if p.Port < 0 || p.Port > highestPort || p.Type == intent.ProbeTCP && p.Port == 0 {
		r.Refusef(at+"/port", "%d is not a port; give 1 to %d", p.Port, highestPort)
	}
	full := p.Completed("")
	interval := checkDuration(r, at+"/interval", full.Interval, shortestInterval, longestInterval)
	timeout := checkDuration(r, at+"/timeout", full.Timeout, shortestTimeout, longestTimeout)
	if interval > 0 && timeout > interval {
		r.Refusef(at+"/timeout", "%s is longer than the interval, %s; give a shorter one", full.Timeout, full.Interval)
	}
	for field, is := range map[string]int{"failures": full.Failures, "successes": full.Successes} {
		if is < 1 || is > mostThreshold {
			r.Refusef(at.Key(field), "%d is not a number of probes in a row; give 1 to %d", is, mostThreshold)
		}
	}
}

// checkDuration checks a time between two others, and answers zero for a wrong one.
func checkDuration(r *review.Review, at review.Pointer, text string, shortest, longest time.Duration) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < shortest || d > longest {
		r.Refusef(at, "%s is not a valid duration here; give %s to %s, as in 5s", review.Quote(text), shortest, longest)
		return 0
	}
	return d
}

// checkUnread refuses what a TCP probe would not read.
func checkUnread(r *review.Review, at review.Pointer, p intent.Probe) {
	for _, field := range []struct {
		name  string
		given bool
	}{{"host", p.Host != ""}, {"path", p.Path != ""}, {"statuses", len(p.Statuses) > 0}, {"body", p.Body != ""}, {"allowInsecure", p.AllowInsecure}} {
		if field.given {
			r.Refusef(at.Key(field.name), "a TCP probe only connects; leave %s out, or choose type HTTP or HTTPS", field.name)
		}
	}
}

// checkRequest checks the request of an HTTP probe, and what its answer has to be.
func checkRequest(r *review.Review, at review.Pointer, p intent.Probe, names []string) {
	if p.Host != "" {
		if _, err := hostname.Canonical(p.Host); err != nil || strings.HasPrefix(p.Host, "*") {
			r.Refusef(at+"/host", "%s is not a host name; give one as in www.shop.example", review.Quote(p.Host))
		}
	} else if n := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, "*") }); n >= 0 {
		r.Refusef(at+"/host", "%s is a wildcard, which no request can name; give the host of the request", names[n])
	}
	path := cmp.Or(p.Path, "/")
	parsed, err := url.ParseRequestURI(path)
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || parsed.Fragment != "" || len(path) > longestText {
		r.Refusef(at+"/path", "%s is not the path of a request; begin it with a slash, as in /healthz, with at most %d characters", review.Quote(p.Path), longestText)
	}
	for n, status := range p.Statuses {
		if status < lowestStatus || status > highestStatus {
			r.Refusef((at + "/statuses").Index(n), "%d is not a status of an answer; give 200 to 599", status)
		}
	}
	if len(p.Body) > longestText {
		r.Refusef(at+"/body", "has %d bytes; give a text of at most %d", len(p.Body), longestText)
	}
	if p.AllowInsecure && p.Type == intent.ProbeHTTP {
		r.Refusef(at+"/allowInsecure", "is for type HTTPS; leave it out")
	}
}
