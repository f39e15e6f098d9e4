package providers

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/clusters"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkHome checks where a provider's names are published from: a cluster, or the
// built-in publisher.
func checkHome(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Record) error {
	const at = review.Spec + "/deployOn"
	home := in.DeployOn
	switch {
	case home == nil:
	case home.Publisher != "" && (home.ClusterProvider != "" || home.Cluster != ""):
		r.Refusef(at, "names a publisher and a cluster; give one of them")
	case home.Publisher != "":
		checkBuiltIn(r, in)
		checkServers(ctx, a, r, in, old)
	case home.ClusterProvider == "" || home.Cluster == "":
		r.Refusef(at, "is incomplete; give clusterProvider and cluster, or publisher")
	default:
		return clusters.AllowedCluster(ctx, a, r, at, *home.Ref(r.Path))
	}
	return nil
}

// checkBuiltIn refuses what the built-in publisher cannot do. The reasons say what to do
// instead.
func checkBuiltIn(r *review.Review, in *intent.Record) {
	if home := in.DeployOn.Publisher; home != intent.BuiltIn {
		r.Refusef(review.Spec+"/deployOn/publisher", "%s is no publisher; the only one is %q", review.Quote(home), intent.BuiltIn)
	}
	if able := externaldns.BuiltIn(); !slices.Contains(able, in.Provider) {
		r.Refusef(review.Spec+"/provider", "%s has no built-in publisher; it writes with %s; name a cluster in deployOn, or run a webhook for the provider", review.Quote(in.Provider), strings.Join(able, ", "))
	}
	for _, field := range []struct {
		name  string
		given bool
		why   string
	}{
		{"webhook", in.Webhook != nil, "is a sidecar of external-dns' pod, which the built-in publisher does not have; run the program yourself, and give its URL as webhook-provider-url"},
		{"image", in.Image != "", "is an image of external-dns, which the built-in publisher does not run; remove it"},
		{"version", in.Version != "", "is a version of external-dns, which the built-in publisher does not run; remove it"},
		{"extraArgs", len(in.ExtraArgs) > 0, "are arguments of external-dns, which the built-in publisher does not run; remove them"},
		{"imagePullSecrets", len(in.ImagePullSecrets) > 0, "are for a pod, which the built-in publisher does not have; remove them"},
		{"podLabels", len(in.PodLabels) > 0, "are for a pod, which the built-in publisher does not have; remove them"},
		{"serviceAccountAnnotations", len(in.ServiceAccountAnnotations) > 0, "are for a pod, which the built-in publisher does not have; remove them"},
		{"clusters", len(in.Clusters) > 0, "publishes names of scope cluster, and the built-in publisher has public names only; remove it, or name a cluster in deployOn"},
	} {
		if field.given {
			r.Refusef(review.Spec.Key(field.name), "%s", field.why)
		}
	}
	for n, c := range in.Credentials {
		if c.SecretRef != nil {
			r.Refusef((review.Spec + "/credentials").Index(n).Key("secretRef"), "names a Secret of a cluster, and the built-in publisher has no cluster; give value")
		}
	}
	checkBuiltInParameters(r, in)
}

// checkBuiltInParameters refuses parameters that ask external-dns for what the built-in
// publisher does not do.
func checkBuiltInParameters(r *review.Review, in *intent.Record) {
	const at = review.Spec + "/external-dns-parameters"
	if registry := externaldns.Values(in.Parameters, "registry"); len(registry) > 0 && registry[0] != "txt" {
		r.Refusef(at.Key("registry"), "%s is a registry of external-dns; the built-in publisher marks names with registry txt only", review.Quote(registry[0]))
	}
	for _, name := range externaldns.NotBuiltIn() {
		if values := externaldns.Values(in.Parameters, name); len(values) > 0 && !slices.Contains(values, "false") {
			r.Refusef(at.Key(name), "asks for something that the built-in publisher does not do; remove it, or name a cluster in deployOn")
		}
	}
}

// checkServers refuses servers to which the built-in publisher may not connect. The
// servers that the provider has already pass: the publisher judges them whenever it connects.
func checkServers(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Record) {
	same := old != nil && old.DeployOn != nil && *old.DeployOn == *in.DeployOn && old.Provider == in.Provider &&
		reflect.DeepEqual(old.Parameters, in.Parameters) && maps.Equal(old.Environment, in.Environment)
	if a.Rules.ForbiddenServers == nil || same {
		return
	}
	for field, why := range a.Rules.ForbiddenServers(ctx, *in) {
		r.Refusef(review.Spec+"/"+review.Pointer(field), "names a server to which Signpost may not connect: %s", why)
	}
}
