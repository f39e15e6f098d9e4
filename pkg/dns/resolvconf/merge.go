// Package resolvconf computes a pod's /etc/resolv.conf, as kubelet makes it from the
// node's own, the policy and the pod's settings. It also computes the queries of a lookup
// with it, as glibc asks. It is pure.
//
// Sources: the seed "configurable pod DNS"; kubelet's and glibc's behaviour, which tests
// compare this package with.
package resolvconf

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Merge adds settings to others, as the seed says: nameservers and searches are
// appended, and options override by name, keeping the place of the first.
// Duplicates are dropped. An empty value of an option is none. The result shares
// nothing with its arguments.
func Merge(base, more intent.PodDNSConfig) intent.PodDNSConfig {
	return intent.PodDNSConfig{
		Nameservers: distinct(base.Nameservers, more.Nameservers),
		Searches:    distinct(base.Searches, more.Searches),
		Options:     valued(setOptions(base.Options, more.Options)),
	}
}

// distinct is all of the texts, each once, where it comes first.
func distinct(lists ...[]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, text := range slices.Concat(lists...) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// setOptions is each option once, where it comes first, as it comes last.
func setOptions(lists ...[]intent.PodDNSOption) []intent.PodDNSOption {
	var out []intent.PodDNSOption
	place := map[string]int{}
	for _, option := range slices.Concat(lists...) {
		if at, there := place[option.Name]; there {
			out[at] = option
			continue
		}
		place[option.Name] = len(out)
		out = append(out, option)
	}
	return out
}

// valued makes an empty value none.
func valued(options []intent.PodDNSOption) []intent.PodDNSOption {
	for i, option := range options {
		if option.Value != nil && *option.Value == "" {
			options[i].Value = nil
		}
	}
	return options
}
