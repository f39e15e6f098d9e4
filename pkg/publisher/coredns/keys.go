// Package coredns writes names into the etcd that CoreDNS' plugin etcd answers from.
// Keys and values are those of external-dns' provider coredns.
package coredns

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/publisher"
)

// service is a value. Its fields and their order are external-dns'; other fields of a value that somebody else has
// written are kept as they are.
type service struct {
	Host        string `json:"host,omitempty"`
	Port        int    `json:"port,omitempty"`
	Priority    int    `json:"priority,omitempty"`
	Weight      int    `json:"weight,omitempty"`
	Text        string `json:"text,omitempty"`
	Mail        bool   `json:"mail,omitempty"`
	TTL         uint32 `json:"ttl,omitempty"`
	TargetStrip int    `json:"targetstrip,omitempty"`
	Group       string `json:"group,omitempty"`
	Owner       string `json:"owner,omitempty"`
}

// entry is a key as it was read.
type entry struct {
	key      string
	revision int64 // of its last change
	service  service
}

func (s service) encode() (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// kind is the type of record that CoreDNS answers for a host.
func (s service) kind() string {
	address, err := netip.ParseAddr(s.Host)
	switch {
	case err != nil:
		return "CNAME"
	case address.Is4():
		return "A"
	default:
		return "AAAA"
	}
}

// path is the directory of a name's keys, without a slash at its end.
func path(prefix, name string) string {
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	return prefix + strings.Join(labels, "/")
}

// keyOf is the key of one target of a name. External-dns chooses the last part at random, eight hexadecimal digits of
// a positive number. Here it follows from the name and the target, so that a repeated write finds its own key.
func keyOf(prefix, name, kind, target string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + kind + "\x00" + target))
	sum[0] &= 0x7f
	return path(prefix, name) + "/" + hex.EncodeToString(sum[:4])
}

// isOf tells whether an entry is of the name with that directory, by its targetstrip. Other entries there are of
// names below that name.
func (e entry) isOf(directory string) bool {
	rest := strings.TrimPrefix(e.key, directory)
	return strings.HasPrefix(e.key, directory) && strings.Count(rest, "/") == e.service.TargetStrip
}

// sets gathers the entries of a name by type, without marks.
func sets(name string, entries []entry) []publisher.Set {
	var all []publisher.Set
	for _, e := range entries {
		if e.service.Host == "" {
			continue
		}
		kind := e.service.kind()
		at := slices.IndexFunc(all, func(s publisher.Set) bool { return s.Type == kind })
		if at < 0 {
			all = append(all, publisher.Set{Name: name, Type: kind, TTL: int64(e.service.TTL)})
			at = len(all) - 1
		}
		if !slices.Contains(all[at].Targets, e.service.Host) {
			all[at].Targets = append(all[at].Targets, e.service.Host)
		}
	}
	for _, set := range all {
		slices.Sort(set.Targets)
	}
	slices.SortFunc(all, func(a, b publisher.Set) int { return strings.Compare(a.Type, b.Type) })
	return all
}
