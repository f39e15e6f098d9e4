package resolvconf

import (
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// What Kubernetes takes in a pod's dnsConfig, and kubelet writes into its
// resolv.conf.
const (
	MaxNameservers = 3
	MaxSearches    = 32
	MaxSearchChars = 2048 // of all searches, joined by spaces
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

// chars is how long the searches are on their line.
func chars(searches []string) int { return len(strings.Join(searches, " ")) }
