// Package providers judges DNS update records, which are accounts at DNS providers, and
// their associations.
package providers

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/admission/clusters"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckRecord admits a DNS update record.
func CheckRecord(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Record) error {
	if old == nil {
		if err := checkRecordQuota(ctx, a, r); err != nil {
			return err
		}
	}
	checkProvider(r, in.Provider)
	review.CheckSoftware(a, r, in)
	checkWebhook(a, r, in)
	inheritCredentials(in, old)
	checkParameters(r, in)
	checkCredentials(r, in, old)
	checkEnvironment(r, in)
	checkExtraArgs(r, in)
	checkPodMetadata(r, in)
	checkVerifyServers(a, r, in.Verify)
	checkTargetFilter(r, in.TargetFilter)
	checkReleaseTimeout(r, in.ReleaseTimeout)
	if err := checkHome(ctx, a, r, in, old); err != nil {
		return err
	}
	if err := checkLogicalClouds(ctx, a, r, in.LogicalClouds); err != nil {
		return err
	}
	if err := bounded(ctx, in, old); err != nil {
		return err
	}
	return clusters.AllowedClusters(ctx, a, r, review.Spec+"/clusters", in.Clusters)
}

// bounded refuses callers with rights on single projects who associate a provider with
// clusters. KV pairs of clusters are an administrator's, too. Names of one cluster are not
// compared with those of other projects.
func bounded(ctx context.Context, in, old *intent.Record) error {
	var was []string
	if old != nil {
		was = old.Clusters
	}
	who := intent.By(ctx)
	if !who.Confined || slices.Equal(was, in.Clusters) {
		return nil
	}
	return &intent.Error{
		Code: intent.Forbidden, Detail: who.Subject + " has rights only on single projects; this needs the role admin in all projects",
		Fields: []intent.Field{{Pointer: string(review.Spec + "/clusters"), Detail: "associates the provider with clusters; leave it as it is"}},
	}
}

// checkLogicalClouds checks the logical clouds that a provider serves, and notes the
// references to them.
func checkLogicalClouds(ctx context.Context, a *review.Checker, r *review.Review, names []string) error {
	for n, name := range names {
		at := (review.Spec + "/logicalClouds").Index(n)
		switch {
		case !review.IsLabelValue(name):
			r.Refusef(at, "%s is not a name of a logical cloud; %s", review.Quote(name), review.ValueAdvice)
			continue
		case slices.Contains(names[:n], name):
			r.Refusef(at, "%s is given twice; leave one out", review.Quote(name))
			continue
		}
		path := intent.Join("projects", r.Project(), "logical-clouds", name)
		cloud, err := review.Find[intent.LogicalCloud](ctx, a.Store, path)
		if err != nil {
			return err
		}
		if cloud == nil {
			a.Missing(r, at, path)
		}
		r.Refer(path)
	}
	return nil
}

// checkRecordQuota refuses a new provider of a project that has as many as it may.
// Providers that are created at the same time do not count each other.
func checkRecordQuota(ctx context.Context, a *review.Checker, r *review.Review) error {
	project := r.Path.Parent()
	doc, err := a.Store.Get(ctx, project)
	if err != nil {
		return err
	}
	stored, err := intent.Of[intent.Project](doc)
	if err != nil {
		return err
	}
	quota := stored.Spec.Quotas.Or(a.Rules.Quotas).Records
	if quota == nil {
		return nil
	}
	children, err := a.Store.Referrers(ctx, project)
	if err != nil {
		return err
	}
	records := 0
	for _, child := range children {
		if child.Collection() == r.Path.Collection() {
			records++
		}
	}
	if records >= *quota {
		r.Conflictf("", "project %s has %d providers, and may have %d: delete one that is not needed, or have an admin raise spec.quotas.records of the project", project.Name(), records, *quota)
	}
	return nil
}

func checkProvider(r *review.Review, name string) {
	switch known, meant := externaldns.KnownProvider(name); {
	case known:
	case meant != "":
		r.Refusef(review.Spec+"/provider", "%s is not a provider of external-dns; the nearest is %s", review.Quote(name), meant)
	default:
		r.Refusef(review.Spec+"/provider", "%s is not a provider of external-dns; it has %s", review.Quote(name), strings.Join(externaldns.Providers(), ", "))
	}
}

// checkParameters judges the external-dns parameters and moves those that are
// secret among the credentials.
func checkParameters(r *review.Review, in *intent.Record) {
	const at = review.Spec + "/external-dns-parameters"
	findings, _ := externaldns.Check(externalDNS(*in))
	for _, f := range append(findings, externaldns.Mistyped(in.Parameters)...) {
		place := at + review.Pointer(f.Pointer)
		if f.Pointer == "" {
			place = review.Spec.Key(f.Parameter)
		}
		r.Refusef(place, "%s", f.Detail)
	}
	checkZoneIDs(r, at.Key("zone-id-filter"), in)
	public, secrets := externaldns.TakeSecrets(in.Parameters)
	in.Parameters = public
	for _, secret := range secrets {
		checkParameterAsCredential(r, at.Key(secret.Parameter), in, secret)
	}
}

// checkZoneIDs refuses parts of the ids of zones. External-dns manages each zone whose id
// ends so, while names are claimed only in the zones that a provider names.
func checkZoneIDs(r *review.Review, at review.Pointer, in *intent.Record) {
	if !externaldns.AccountOf(in.Provider).ZoneIDs {
		return
	}
	for _, text := range externaldns.Values(in.Parameters, "zone-id-filter") {
		for id := range strings.SplitSeq(text, ",") {
			if id = strings.TrimSpace(id); externaldns.IsPartOfZoneID(id[strings.LastIndexByte(id, '/')+1:]) {
				r.Refusef(at, "%s is not a whole zone id: external-dns manages every zone whose id ends with it; give the whole id, as in Z2FDTNDATAQYW2", review.Quote(id))
			}
		}
	}
}

// checkParameterAsCredential adds a credential for a secret parameter, or gives its value
// to an existing credential without a value, as a GET shows it.
func checkParameterAsCredential(r *review.Review, at review.Pointer, in *intent.Record, secret externaldns.Secret) {
	i := slices.IndexFunc(in.Credentials, func(c intent.Credential) bool { return c.Environment == secret.Environment && c.File == "" })
	switch {
	case i < 0:
		in.Credentials = append(in.Credentials, intent.Credential{Environment: secret.Environment, Value: secret.Value})
	case in.Credentials[i].Value != "" || in.Credentials[i].SecretRef != nil:
		r.Refusef(at, "is also given by the credential for %s; give one of them", secret.Environment)
	default:
		in.Credentials[i].Value = secret.Value
	}
}

// externalDNS is the record as the flag table judges it.
func externalDNS(in intent.Record) externaldns.Record {
	record := externaldns.Record{
		Provider: in.Provider, Parameters: in.Parameters, AllowUnownedDeletion: in.AllowUnownedDeletion,
		Environment: in.Variables(), Files: in.Files(), Pace: externaldns.PaceOf(in.Provider, in.ExtraArgs, 0),
	}
	if in.Webhook != nil {
		record.WebhookPort = in.Webhook.Port
	}
	return record
}

// options are what of a deployment can be told before there is one.
func options(in intent.Record) externaldns.Options {
	return externaldns.Options{
		Record: externalDNS(in), Version: version(in), Namespace: "namespace", LabelFilter: "label", OwnerID: "owner",
	}
}

// version is the release that a record asks for, zero when it asks for none.
func version(in intent.Record) externaldns.Version {
	version, err := externaldns.ParseVersion(cmp.Or(in.Version, review.ParseImage(in.Image).Tag))
	if err != nil {
		return 0
	}
	return version
}

// recordWarnings tells what of a stored record does not do what it may seem to,
// and what cannot work, in stable order. It is never nil.
func recordWarnings(in intent.Record) []intent.Warning {
	_, odd := externaldns.CheckFor(version(in), externalDNS(in))
	warnings := []intent.Warning{}
	for _, f := range odd {
		warning := intent.Warning{Parameter: f.Parameter, Message: f.Detail}
		if !slices.Contains(warnings, warning) {
			warnings = append(warnings, warning)
		}
	}
	if tag := review.ParseImage(in.Image).Tag; in.Image != "" {
		if _, err := externaldns.ParseVersion(tag); err != nil {
			warnings = append(warnings, intent.Warning{
				Parameter: "image",
				Message:   "the tag names no version of external-dns; Signpost uses the arguments of " + externaldns.DefaultVersion.String(),
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.Environment)) {
		if intent.NamesSecret(name) {
			warnings = append(warnings, intent.Warning{
				Parameter: name, Message: "is stored and shown as it is; give a secret as a credential",
			})
		}
	}
	return warnings
}

// checkPodMetadata checks what is passed on to the pod and its ServiceAccount.
func checkPodMetadata(r *review.Review, in *intent.Record) {
	review.CheckLabels(r, review.Spec+"/podLabels", in.PodLabels)
	review.CheckAnnotations(r, review.Spec+"/serviceAccountAnnotations", in.ServiceAccountAnnotations)
	for _, part := range []struct {
		at   review.Pointer
		keys map[string]string
	}{{review.Spec + "/podLabels", in.PodLabels}, {review.Spec + "/serviceAccountAnnotations", in.ServiceAccountAnnotations}} {
		for _, key := range slices.Sorted(maps.Keys(part.keys)) {
			if review.Ours(key) || key == "app.kubernetes.io/managed-by" {
				r.Refusef(part.at.Key(key), "%s %s", review.Quote(key), review.OursAdvice)
			}
		}
	}
	at := review.Spec + "/imagePullSecrets"
	for i, name := range in.ImagePullSecrets {
		if !review.IsSubdomain(name) {
			r.Refusef(at.Index(i), "is not a name of a Secret; use lower-case letters, digits, '-' and '.'") // perhaps its content
		} else if slices.Contains(in.ImagePullSecrets[:i], name) {
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(name))
		}
	}
}

// checkVerifyServers checks the authoritative servers and adds the port where it is
// missing.
func checkVerifyServers(a *review.Checker, r *review.Review, in *intent.Verify) {
	const dnsPort = 53
	if in == nil {
		return
	}
	at := review.Spec + "/verify/servers"
	if len(in.Servers) > verify.MostServers {
		r.Refusef(at, "has %d servers, and each is asked for each name; give at most %d", len(in.Servers), verify.MostServers)
		return
	}
	for i, text := range in.Servers {
		server, err := netip.ParseAddrPort(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(strings.Trim(text, "[]"))
			server, err = netip.AddrPortFrom(address, dnsPort), addressErr
		}
		if err != nil || server.Addr().Zone() != "" || server.Port() == 0 {
			r.Refusef(at.Index(i), "%s is not an address with a port; give one such as 192.0.2.53:53 or [2001:db8::53]:53", review.Quote(text))
			continue
		}
		server = netip.AddrPortFrom(server.Addr().Unmap(), server.Port())
		if !a.Rules.AllowLocalServers && verify.Local(server.Addr()) {
			r.Refusef(at.Index(i), "%s is local to the server itself; give an address of the authoritative server that others reach, or start Signpost with --allow-local-verify", review.Quote(text))
		}
		in.Servers[i] = server.String()
		if slices.Contains(in.Servers[:i], in.Servers[i]) {
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(text))
		}
	}
}

// mostNetworks is how many networks a list of a target filter has at most.
const mostNetworks = 1000

// checkTargetFilter checks networks and writes them without host bits.
func checkTargetFilter(r *review.Review, in *intent.TargetFilter) {
	if in == nil {
		return
	}
	for _, list := range []struct {
		at       review.Pointer
		networks []string
	}{{review.Spec + "/targetFilter/allow", in.Allow}, {review.Spec + "/targetFilter/deny", in.Deny}} {
		if len(list.networks) > mostNetworks {
			r.Refusef(list.at, "has %d networks, and each address is compared with all of them; give at most %d", len(list.networks), mostNetworks)
			continue
		}
		for i, text := range list.networks {
			network, err := netip.ParsePrefix(text)
			if err != nil {
				r.Refusef(list.at.Index(i), "%s is not a network; give one such as 203.0.113.0/24 or 2001:db8::/32", review.Quote(text))
				continue
			}
			list.networks[i] = network.Masked().String()
		}
	}
}

func checkReleaseTimeout(r *review.Review, text string) {
	const at, shortest = review.Spec + "/releaseTimeout", time.Second
	if text == "" {
		return
	}
	timeout, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.Refusef(at, "%s is not a duration; give one such as 70s or 2m", review.Quote(text))
	case timeout < shortest:
		r.Refusef(at, "%s is too short; the shortest is 1s", review.Quote(text))
	}
}

// ShowRecord hides where credentials are kept and adds the warnings.
func ShowRecord(in *intent.Record) *review.Status {
	for i := range in.Credentials {
		in.Credentials[i].ValueRef = ""
	}
	return &review.Status{Warnings: recordWarnings(*in)}
}
