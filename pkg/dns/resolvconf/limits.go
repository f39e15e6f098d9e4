package resolvconf

import (
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The limits of Kubernetes for a pod's dnsConfig and of kubelet for its resolv.conf.
const (
	MaxNameservers = 3
	MaxSearches    = 32
	MaxSearchChars = 2048 // of all searches, joined by spaces
	MaxSearch      = 253  // characters of one search
)

// Excess is a limit of Kubernetes that settings exceed.
type Excess struct {
	Field  string // nameservers or searches
	Detail string // how many there are, and how many there may be
}

// Exceeded is which limits settings exceed; none: Kubernetes takes them.
func Exceeded(c intent.PodDNSConfig) []Excess {
	var out []Excess
	if n := len(c.Nameservers); n > MaxNameservers {
		out = append(out, Excess{"nameservers", fmt.Sprintf("%d nameservers; Kubernetes takes at most %d", n, MaxNameservers)})
	}
	if n := len(c.Searches); n > MaxSearches {
		out = append(out, Excess{"searches", fmt.Sprintf("%d searches; Kubernetes takes at most %d", n, MaxSearches)})
	}
	if n := chars(c.Searches); n > MaxSearchChars {
		out = append(out, Excess{"searches", fmt.Sprintf("searches of %d characters, joined by spaces; Kubernetes takes at most %d", n, MaxSearchChars)})
	}
	return out
}

// The limits of resolvers in containers for the searches. musl ignores the whole line if
// it is longer, and glibc before 2.26 ignores all after the sixth.
const (
	widelyTakenChars    = 255
	widelyTakenSearches = 6
)

// NotTakenEverywhere says of searches what some resolvers make of so many; empty: all
// take them.
func NotTakenEverywhere(searches []string) string {
	if n := chars(searches); n > widelyTakenChars {
		return fmt.Sprintf("have %d characters, joined by spaces: musl, as in Alpine images, ignores all of them above %d; give fewer or shorter ones", n, widelyTakenChars)
	}
	if n := len(searches); n > widelyTakenSearches {
		return fmt.Sprintf("are %d: glibc before 2.26 takes the first %d only, and musl ignores all of them above %d characters; give fewer", n, widelyTakenSearches, widelyTakenChars)
	}
	return ""
}

// chars is how long the searches are on their line.
func chars(searches []string) int { return len(strings.Join(searches, " ")) }

// cut leaves out what kubelet leaves out beyond the limits, with a warning for
// each reason.
func cut(c intent.PodDNSConfig) (intent.PodDNSConfig, []string) {
	var warnings []string
	note := func(what string, left []string, reason string) {
		if len(left) > 0 {
			warnings = append(warnings, fmt.Sprintf("kubelet leaves out %s %s: %s", what, strings.Join(left, " "), reason))
		}
	}
	var left []string
	c.Nameservers, left = first(MaxNameservers, c.Nameservers)
	note("nameserver", left, fmt.Sprintf("there are at most %d", MaxNameservers))
	c.Searches, left = first(MaxSearches, c.Searches)
	note("search", left, fmt.Sprintf("there are at most %d", MaxSearches))
	c.Searches, left = short(c.Searches)
	note("search", left, fmt.Sprintf("one has at most %d characters", MaxSearch))
	c.Searches, left = fitting(c.Searches)
	note("search", left, fmt.Sprintf("together they have at most %d characters", MaxSearchChars))
	return c, warnings
}

// first are the first n of a list, and the rest.
func first(n int, list []string) (kept, left []string) {
	n = min(n, len(list))
	return list[:n], list[n:]
}

// short are the searches that a name can end with, and the rest.
func short(searches []string) (kept, left []string) {
	for _, search := range searches {
		if len(search) > MaxSearch {
			left = append(left, search)
		} else {
			kept = append(kept, search)
		}
	}
	return kept, left
}

// fitting are the first searches that fit on their line, and the rest.
func fitting(searches []string) (kept, left []string) {
	n := len(searches)
	for n > 0 && chars(searches[:n]) > MaxSearchChars {
		n--
	}
	return searches[:n], searches[n:]
}
