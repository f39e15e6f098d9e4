package admit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/nearest"
	"github.com/signpost-dns/signpost/pkg/podspec"
	"github.com/signpost-dns/signpost/pkg/resolvconf"
)

const (
	podDNSIntents = "pod-dns-intents"

	// previewName is where previews are asked for, beside the documents.
	previewName = "preview"

	dnsConfig = spec + "/dnsConfig"
)

// podDNSIntent admits a pod DNS intent, of which an app has one at most.
func (a *Admitter) podDNSIntent(ctx context.Context, r *review, in, _ *intent.PodDNSIntent) error {
	if r.path.Name() == previewName {
		r.refusef("/metadata/name", "%s is where previews are asked for; choose another name", quote(previewName))
	}
	app, err := a.knownApp(ctx, r, in.App)
	if err != nil {
		return err
	}
	r.podDNS(*in)
	if app == nil {
		return nil
	}
	if in.DNSPolicy.Canonical() == intent.DNSAutopath {
		r.ownNetwork(*app)
	}
	return a.eachIntent(ctx, r.path.Parent().Parent(), podDNSIntents, func(other intent.Path, name string) {
		if name == in.App && other != r.path {
			r.conflictf(spec+"/app", "%s names app %s, whose pods have their DNS from %s already; change that, or delete it first", r.path, quote(name), other)
		}
	})
}

// ownNetwork refuses autopath for pods on the node's network: the node's cache
// answers pods.
func (r *review) ownNetwork(app intent.App) {
	eachPod(app, func(i int, name string, pod map[string]any) {
		if pod["hostNetwork"] == true {
			r.refusef(spec+"/dnsPolicy", "autopath is for pods with a network of their own, but manifest %d of app %s (%s) has hostNetwork: true; give %s, or take that out",
				i, quote(app.Name), name, intent.DNSClusterFirstWithHostNet)
		}
	})
}

// eachPod visits the specs of the pods that an app's manifests make, with the
// manifest's number and "kind name".
func eachPod(app intent.App, visit func(i int, name string, pod map[string]any)) {
	for i, raw := range app.Manifests {
		var manifest map[string]any
		if json.Unmarshal(raw, &manifest) != nil {
			continue // cannot be stored
		}
		if place, ok := podspec.Find(manifest); ok && place.Known {
			visit(i, fmt.Sprintf("%v %v", manifest["kind"], podspec.At(manifest, []string{"metadata"})["name"]), podspec.At(manifest, place.Fields))
		}
	}
}

// podDNS checks what is wrong with an intent in itself: of its app, nothing.
func (r *review) podDNS(in intent.PodDNSIntent) {
	r.dnsPolicy(in.DNSPolicy)
	config := cmp.Or(in.DNSConfig, &intent.PodDNSConfig{})
	nameservers, searches := dnsConfig.key("nameservers"), r.searchesField()
	if in.DNSPolicy.Canonical() == intent.DNSNone && len(config.Nameservers) == 0 {
		r.refusef(nameservers, "is missing or empty, and dnsPolicy %s gives none; give 1 to %d IP addresses", in.DNSPolicy, resolvconf.MaxNameservers)
	}
	for _, excess := range resolvconf.Exceeded(*config) {
		at := map[string]pointer{"nameservers": nameservers, "searches": searches}[excess.Field]
		r.refusef(at, "has %s: leave some out", excess.Detail)
	}
	r.podNameservers(nameservers, config.Nameservers)
	r.podSearches(searches, config.Searches)
	for i, option := range config.Options {
		r.resolverOption(dnsConfig.key("options").index(i), option)
	}
}

// searchesField points to the searches as they are spelled in the body, if there
// is one.
func (r *review) searchesField() pointer {
	const usual, other = "searches", "search"
	var sent struct {
		Spec struct {
			DNSConfig map[string]json.RawMessage `json:"dnsConfig"`
		} `json:"spec"`
	}
	if json.Unmarshal(r.body, &sent) != nil {
		return dnsConfig.key(usual)
	}
	spelled, _ := spelling(r, dnsConfig, sent.Spec.DNSConfig, usual, other)
	return dnsConfig.key(cmp.Or(spelled, usual))
}

func (r *review) dnsPolicy(policy intent.DNSPolicy) {
	known := []string{
		string(intent.DNSDefault), string(intent.DNSClusterFirst), string(intent.DNSClusterFirstWithHostNet),
		string(intent.DNSNone), "Custom", string(intent.DNSAutopath),
	}
	if slices.Contains(known, string(policy.Canonical())) {
		return
	}
	r.refusef(spec+"/dnsPolicy", "%s is no DNS policy; %s", quote(string(policy)), suggest(string(policy), known))
}

// suggest follows what is unknown: the nearest known name, else all.
func suggest(name string, known []string) string {
	if near := nearest.Name(name, known); near != "" {
		return "the nearest known one is " + near
	}
	return "known are " + strings.Join(known, ", ")
}

func (r *review) podNameservers(at pointer, nameservers []string) {
	for i, text := range nameservers {
		if err := podNameserverFault(text, "192.0.2.53 or 2001:db8::53"); err != nil {
			r.refusef(at.index(i), "%s %s", quote(text), err)
		}
	}
}

// podNameserverFault says why a text is no nameserver of a pod, and what would
// be right, as in the example.
func podNameserverFault(text, example string) error {
	address, err := netip.ParseAddr(text)
	if err != nil {
		if nameserver, err := netip.ParseAddrPort(text); err == nil {
			return fmt.Errorf("has a port, for which resolv.conf has no place: it is always %d; give %s", usualPort, nameserver.Addr())
		}
		if bare, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			return fmt.Errorf("has brackets, for which resolv.conf has no place; give %s", bare)
		}
		return errors.New("is no IP address; give one such as " + example)
	}
	if address.Is4In6() {
		return fmt.Errorf("is an IPv4 address, written as IPv6; give %s", address.Unmap())
	}
	return addressFault(address)
}

func (r *review) podSearches(at pointer, searches []string) {
	for i, text := range searches {
		if isSearchDomain(text) {
			continue
		}
		several := ""
		if domains := strings.Fields(text); len(domains) > 1 {
			several = fmt.Sprintf(", and several as a list: [%s,%s]", quote(domains[0]), quote(domains[1]))
		}
		r.refusef(at.index(i), "%s is no search domain; give one in lower case such as a.example%s", quote(text), several)
	}
}

// isSearchDomain tells whether a text is an RFC 1123 subdomain whose labels may
// begin with an underscore and have some within, and which may end in a dot; or
// the root.
func isSearchDomain(text string) bool {
	if text == "." {
		return true
	}
	text = strings.TrimSuffix(text, ".")
	if len(text) > longestSubdomain {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) > longestLabel || !searchLabelPattern.MatchString(label) {
			return false
		}
	}
	return true
}

// resolverOption checks an option of resolv.conf.
func (r *review) resolverOption(at pointer, option intent.PodDNSOption) {
	value := ""
	if option.Value != nil {
		value = *option.Value
	}
	most, numeric := mostOf(option.Name)
	switch number, err := strconv.ParseUint(value, 10, 8); {
	case numeric && value == "":
		r.refusef(at.key("value"), `is missing; give a number from 0 to %d beside the name, as in {"name":%q,"value":"1"}`, most, option.Name)
	case numeric && (err != nil || number > most):
		r.refusef(at.key("value"), "%s is no value of %s; give a number from 0 to %d", quote(value), option.Name, most)
	case numeric:
	case !slices.Contains(resolverFlags(), option.Name):
		r.unknownOption(at.key("name"), option.Name)
	case value != "":
		r.refusef(at.key("value"), "%s has no value; leave it out", option.Name)
	}
}

func (r *review) unknownOption(at pointer, text string) {
	name, value, joined := strings.Cut(text, ":")
	if _, numeric := mostOf(name); numeric && joined {
		r.refusef(at, `%s is a name with its value; give {"name":%q,"value":%q}`, quote(text), name, value)
		return
	}
	r.refusef(at, "%s is no option that glibc's or musl's resolver knows; %s", quote(text), suggest(text, append([]string{"ndots", "timeout", "attempts"}, resolverFlags()...)))
}

// mostOf is the largest number that an option of glibc's resolver may have;
// false for one that has no number.
func mostOf(option string) (most uint64, numeric bool) {
	const dots, seconds, attempts = 15, 30, 5
	switch option {
	case "ndots":
		return dots, true
	case "timeout":
		return seconds, true
	case "attempts":
		return attempts, true
	}
	return 0, false
}

// resolverFlags are the options of glibc's resolver without a value, those
// included that it has forgotten.
func resolverFlags() []string {
	return []string{
		"rotate", "edns0", "trust-ad", "use-vc", "no-aaaa", "no-reload", "no-tld-query", "no_tld_query",
		"single-request", "single-request-reopen", "strict-error",
		"debug", "inet6", "ip6-bytestring", "ip6-dotint", "no-ip6-dotint", "no-check-names",
	}
}
