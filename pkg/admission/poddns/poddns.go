// Package poddns judges pod DNS intents, and previews what they give to a pod.
package poddns

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

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/clusterdns"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
)

// CheckPodDNSIntent admits a pod DNS intent, of which an app has one at most.
func CheckPodDNSIntent(ctx context.Context, a *review.Checker, r *review.Review, in, _ *intent.PodDNSIntent) error {
	if r.Path.Name() == review.PreviewName {
		r.Refusef("/metadata/name", "%s is the path of previews; choose another name", review.Quote(review.PreviewName))
	}
	app, err := apps.KnownApp(ctx, a, r, in.App)
	if err != nil {
		return err
	}
	checkPodDNS(r, *in)
	if app == nil {
		return nil
	}
	if in.DNSPolicy.Canonical() == intent.DNSAutopath {
		checkOwnNetwork(r, *app)
	}
	return a.EachIntent(ctx, r.Path.Parent().Parent(), "pod-dns-intents", func(other intent.Path, name string) {
		if name == in.App && other != r.Path {
			r.Conflictf(review.Spec+"/app", "%s names app %s, whose pods already have their DNS from %s; change or delete that intent first", r.Path, review.Quote(name), other)
		}
	})
}

// checkOwnNetwork refuses autopath for pods on the node's network: the node's cache
// answers pods.
func checkOwnNetwork(r *review.Review, app intent.App) {
	eachPod(app, func(i int, name string, pod map[string]any) {
		if pod["hostNetwork"] == true {
			r.Refusef(review.Spec+"/dnsPolicy", "autopath is only for pods with a network of their own, but manifest %d of app %s (%s) has hostNetwork: true; give %s, or remove hostNetwork",
				i, review.Quote(app.Name), name, intent.DNSClusterFirstWithHostNet)
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

// checkPodDNS checks what is wrong with an intent in itself: of its app, nothing.
func checkPodDNS(r *review.Review, in intent.PodDNSIntent) {
	checkDNSPolicy(r, in.DNSPolicy)
	config := cmp.Or(in.DNSConfig, &intent.PodDNSConfig{})
	nameservers, searches := review.DNSConfig.Key("nameservers"), searchesField(r)
	if in.DNSPolicy.Canonical() == intent.DNSNone && len(config.Nameservers) == 0 {
		r.Refusef(nameservers, "is missing or empty, and dnsPolicy %s gives no nameserver; give 1 to %d IP addresses", in.DNSPolicy, resolvconf.MaxNameservers)
	}
	for _, excess := range resolvconf.Exceeded(*config) {
		at := map[string]review.Pointer{"nameservers": nameservers, "searches": searches}[excess.Field]
		r.Refusef(at, "has %s: leave some out", excess.Detail)
	}
	checkPodNameservers(r, nameservers, config.Nameservers)
	checkPodSearches(r, searches, config.Searches)
	for i, option := range config.Options {
		checkResolverOption(r, review.DNSConfig.Key("options").Index(i), option)
	}
}

// searchesField points to the searches as they are spelled in the body, if there
// is one.
func searchesField(r *review.Review) review.Pointer {
	const usual, other = "searches", "search"
	var sent struct {
		Spec struct {
			DNSConfig map[string]json.RawMessage `json:"dnsConfig"`
		} `json:"spec"`
	}
	if json.Unmarshal(r.Body, &sent) != nil {
		return review.DNSConfig.Key(usual)
	}
	spelled, _ := clusterdns.Spelling(r, review.DNSConfig, sent.Spec.DNSConfig, usual, other)
	return review.DNSConfig.Key(cmp.Or(spelled, usual))
}

func checkDNSPolicy(r *review.Review, policy intent.DNSPolicy) {
	known := []string{
		string(intent.DNSDefault), string(intent.DNSClusterFirst), string(intent.DNSClusterFirstWithHostNet),
		string(intent.DNSNone), "Custom", string(intent.DNSAutopath),
	}
	if slices.Contains(known, string(policy.Canonical())) {
		return
	}
	r.Refusef(review.Spec+"/dnsPolicy", "%s is not a DNS policy; %s", review.Quote(string(policy)), suggest(string(policy), known))
}

// suggest follows what is unknown: the nearest known name, else all.
func suggest(name string, known []string) string {
	if near := nearest.Name(name, known); near != "" {
		return "the nearest known one is " + near
	}
	return "known are " + strings.Join(known, ", ")
}

func checkPodNameservers(r *review.Review, at review.Pointer, nameservers []string) {
	for i, text := range nameservers {
		if err := podNameserverFault(text, "192.0.2.53 or 2001:db8::53"); err != nil {
			r.Refusef(at.Index(i), "%s %s", review.Quote(text), err)
		}
	}
}

// podNameserverFault says why a text is no nameserver of a pod, and what would
// be right, as in the example.
func podNameserverFault(text, example string) error {
	address, err := netip.ParseAddr(text)
	if err != nil {
		if nameserver, err := netip.ParseAddrPort(text); err == nil {
			return fmt.Errorf("has a port, which resolv.conf cannot hold: the port is always %d; give %s", clusterdns.UsualPort, nameserver.Addr())
		}
		if bare, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			return fmt.Errorf("has brackets, which resolv.conf cannot hold; give %s", bare)
		}
		return errors.New("is not an IP address; give one such as " + example)
	}
	if address.Is4In6() {
		return fmt.Errorf("is an IPv4 address, written as IPv6; give %s", address.Unmap())
	}
	return clusterdns.AddressFault(address)
}

func checkPodSearches(r *review.Review, at review.Pointer, searches []string) {
	for i, text := range searches {
		if isSearchDomain(text) {
			continue
		}
		several := ""
		if domains := strings.Fields(text); len(domains) > 1 {
			several = fmt.Sprintf(", and several as a list: [%s,%s]", review.Quote(domains[0]), review.Quote(domains[1]))
		}
		r.Refusef(at.Index(i), "%s is not a search domain; give one in lower case such as a.example%s", review.Quote(text), several)
	}
}

// isSearchDomain tells whether a text is an RFC 1123 subdomain, or the root. Labels may
// begin with an underscore and contain some, and the text may end in a dot.
func isSearchDomain(text string) bool {
	if text == "." {
		return true
	}
	text = strings.TrimSuffix(text, ".")
	if len(text) > review.LongestSubdomain {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) > review.LongestLabel || !review.SearchLabelPattern.MatchString(label) {
			return false
		}
	}
	return true
}

// checkResolverOption checks an option of resolv.conf.
func checkResolverOption(r *review.Review, at review.Pointer, option intent.PodDNSOption) {
	value := ""
	if option.Value != nil {
		value = *option.Value
	}
	most, numeric := mostOf(option.Name)
	switch number, err := strconv.ParseUint(value, 10, 8); {
	case numeric && value == "":
		r.Refusef(at.Key("value"), `is missing; give a number from 0 to %d beside the name, as in {"name":%q,"value":"1"}`, most, option.Name)
	case numeric && (err != nil || number > most):
		r.Refusef(at.Key("value"), "%s is not a value of %s; give a number from 0 to %d", review.Quote(value), option.Name, most)
	case numeric:
	case !slices.Contains(resolverFlags(), option.Name):
		checkUnknownOption(r, at.Key("name"), option.Name)
	case value != "":
		r.Refusef(at.Key("value"), "%s has no value; remove the value", option.Name)
	}
}

func checkUnknownOption(r *review.Review, at review.Pointer, text string) {
	name, value, joined := strings.Cut(text, ":")
	if _, numeric := mostOf(name); numeric && joined {
		r.Refusef(at, `%s is a name with its value; give {"name":%q,"value":%q}`, review.Quote(text), name, value)
		return
	}
	r.Refusef(at, "%s is not an option that glibc's or musl's resolver knows; %s", review.Quote(text), suggest(text, append([]string{"ndots", "timeout", "attempts"}, resolverFlags()...)))
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
