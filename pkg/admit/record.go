package admit

import (
	"cmp"
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/verify"
)

// record admits a DNS update record.
func (a *Admitter) record(ctx context.Context, r *review, in, old *intent.Record) error {
	if old == nil {
		if err := a.recordQuota(ctx, r); err != nil {
			return err
		}
	}
	r.provider(in.Provider)
	a.software(r, in)
	a.webhook(r, in)
	inheritCredentials(in, old)
	r.parameters(in)
	r.credentials(in, old)
	r.environment(in)
	r.extraArgs(in)
	r.podMetadata(in)
	a.verifyServers(r, in.Verify)
	r.targetFilter(in.TargetFilter)
	r.releaseTimeout(in.ReleaseTimeout)
	if in.DeployOn == nil {
		return nil
	}
	return a.allowedCluster(ctx, r, spec+"/deployOn", *in.DeployOn)
}

// recordQuota refuses a new record of a project that has as many as it may. Those
// that are created at the same time do not see each other.
func (a *Admitter) recordQuota(ctx context.Context, r *review) error {
	project := r.path.Parent()
	doc, err := a.store.Get(ctx, project)
	if err != nil {
		return err
	}
	stored, err := intent.Of[intent.Project](doc)
	if err != nil {
		return err
	}
	quota := stored.Spec.Quotas.Or(a.rules.Quotas).Records
	if quota == nil {
		return nil
	}
	children, err := a.store.Referrers(ctx, project)
	if err != nil {
		return err
	}
	records := 0
	for _, child := range children {
		if child.Collection() == r.path.Collection() {
			records++
		}
	}
	if records >= *quota {
		r.conflictf("", "project %s has %d DNS update records, and may have %d: delete one that is not needed, or have an admin raise the project's quota", project.Name(), records, *quota)
	}
	return nil
}

func (r *review) provider(name string) {
	switch known, meant := externaldns.KnownProvider(name); {
	case known:
	case meant != "":
		r.refusef(spec+"/provider", "%s is no provider of external-dns; the nearest is %s", quote(name), meant)
	default:
		r.refusef(spec+"/provider", "%s is no provider of external-dns; it has %s", quote(name), strings.Join(externaldns.Providers(), ", "))
	}
}

// parameters judges the external-dns parameters and moves those that are
// secret among the credentials.
func (r *review) parameters(in *intent.Record) {
	const at = spec + "/external-dns-parameters"
	findings, _ := externaldns.Check(externalDNS(*in))
	for _, f := range append(findings, externaldns.Mistyped(in.Parameters)...) {
		place := at + pointer(f.Pointer)
		if f.Pointer == "" {
			place = spec.key(f.Parameter)
		}
		r.refusef(place, "%s", f.Detail)
	}
	public, secrets := externaldns.TakeSecrets(in.Parameters)
	in.Parameters = public
	for _, secret := range secrets {
		r.parameterAsCredential(at.key(secret.Parameter), in, secret)
	}
}

// parameterAsCredential adds a credential for a secret parameter, or gives its
// value to the one that is there without a value, as a GET shows it.
func (r *review) parameterAsCredential(at pointer, in *intent.Record, secret externaldns.Secret) {
	i := slices.IndexFunc(in.Credentials, func(c intent.Credential) bool { return c.Environment == secret.Environment && c.File == "" })
	switch {
	case i < 0:
		in.Credentials = append(in.Credentials, intent.Credential{Environment: secret.Environment, Value: secret.Value})
	case in.Credentials[i].Value != "" || in.Credentials[i].SecretRef != nil:
		r.refusef(at, "is given by the credential for %s, too; give one of them", secret.Environment)
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
	version, err := externaldns.ParseVersion(cmp.Or(in.Version, parseImage(in.Image).tag))
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
	if tag := parseImage(in.Image).tag; in.Image != "" {
		if _, err := externaldns.ParseVersion(tag); err != nil {
			warnings = append(warnings, intent.Warning{
				Parameter: "image",
				Message:   "its tag tells no version of external-dns; the arguments are those of " + externaldns.DefaultVersion.String(),
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

// podMetadata checks what is passed on to the pod and its ServiceAccount.
func (r *review) podMetadata(in *intent.Record) {
	r.labels(spec+"/podLabels", in.PodLabels)
	r.annotations(spec+"/serviceAccountAnnotations", in.ServiceAccountAnnotations)
	for _, part := range []struct {
		at   pointer
		keys map[string]string
	}{{spec + "/podLabels", in.PodLabels}, {spec + "/serviceAccountAnnotations", in.ServiceAccountAnnotations}} {
		for _, key := range slices.Sorted(maps.Keys(part.keys)) {
			if ours(key) || key == "app.kubernetes.io/managed-by" {
				r.refusef(part.at.key(key), "%s %s", quote(key), oursAdvice)
			}
		}
	}
	at := spec + "/imagePullSecrets"
	for i, name := range in.ImagePullSecrets {
		if !isSubdomain(name) {
			r.refusef(at.index(i), "is no name of a Secret; use lower-case letters, digits, '-' and '.'") // perhaps its content
		} else if slices.Contains(in.ImagePullSecrets[:i], name) {
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(name))
		}
	}
}

// verifyServers checks the authoritative servers and adds the port where it is
// missing.
func (a *Admitter) verifyServers(r *review, in *intent.Verify) {
	const dnsPort = 53
	if in == nil {
		return
	}
	at := spec + "/verify/servers"
	if len(in.Servers) > verify.MostServers {
		r.refusef(at, "has %d servers, each of which would be asked for each name; give at most %d", len(in.Servers), verify.MostServers)
		return
	}
	for i, text := range in.Servers {
		server, err := netip.ParseAddrPort(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(strings.Trim(text, "[]"))
			server, err = netip.AddrPortFrom(address, dnsPort), addressErr
		}
		if err != nil || server.Addr().Zone() != "" || server.Port() == 0 {
			r.refusef(at.index(i), "%s is no address with a port; give one such as 192.0.2.53:53 or [2001:db8::53]:53", quote(text))
			continue
		}
		server = netip.AddrPortFrom(server.Addr().Unmap(), server.Port())
		if !a.rules.AllowLocalServers && verify.Local(server.Addr()) {
			r.refusef(at.index(i), "%s is local to the server itself; give an address of the authoritative server that others reach, or have Signpost started with --allow-local-verify", quote(text))
		}
		in.Servers[i] = server.String()
		if slices.Contains(in.Servers[:i], in.Servers[i]) {
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(text))
		}
	}
}

// mostNetworks is how many networks a list of a target filter has at most.
const mostNetworks = 1000

// targetFilter checks networks and writes them without host bits.
func (r *review) targetFilter(in *intent.TargetFilter) {
	if in == nil {
		return
	}
	for _, list := range []struct {
		at       pointer
		networks []string
	}{{spec + "/targetFilter/allow", in.Allow}, {spec + "/targetFilter/deny", in.Deny}} {
		if len(list.networks) > mostNetworks {
			r.refusef(list.at, "has %d networks, against which each address is held; give at most %d", len(list.networks), mostNetworks)
			continue
		}
		for i, text := range list.networks {
			network, err := netip.ParsePrefix(text)
			if err != nil {
				r.refusef(list.at.index(i), "%s is no network; give one such as 203.0.113.0/24 or 2001:db8::/32", quote(text))
				continue
			}
			list.networks[i] = network.Masked().String()
		}
	}
}

func (r *review) releaseTimeout(text string) {
	const at, shortest = spec + "/releaseTimeout", time.Second
	if text == "" {
		return
	}
	timeout, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.refusef(at, "%s is no duration; give one such as 70s or 2m", quote(text))
	case timeout < shortest:
		r.refusef(at, "%s is too short; the shortest is 1s", quote(text))
	}
}

// showRecord hides where credentials are kept and adds the warnings.
func showRecord(in *intent.Record) *Status {
	for i := range in.Credentials {
		in.Credentials[i].ValueRef = ""
	}
	return &Status{Warnings: recordWarnings(*in)}
}
