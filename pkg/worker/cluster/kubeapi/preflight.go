package kubeapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

// reviewers is how many rights are asked about at a time.
const reviewers = 8

// definitionOfEndpoints makes the kind DNSEndpoint known.
const definitionOfEndpoints = "dnsendpoints.externaldns.k8s.io"

// Preflight asks the API server for the rights that a cluster's uses need, with objects
// in these namespaces; none: with objects in any. It changes nothing. A failure to ask is
// a check that failed, so Preflight returns no error.
func (k *Kubernetes) Preflight(ctx context.Context, of intent.Cluster, namespaces []string) intent.Preflight {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	var report intent.Preflight
	version, err := k.version(ctx)
	if err != nil {
		why := err.Error()
		if cluster.CodeOf(err) == http.StatusUnauthorized {
			why += "; the cluster does not accept the credentials of the kubeconfig: run signpost connect for the cluster again"
		}
		report.Checks = []intent.Check{cluster.Checked("can be reached", false, why)}
		return report
	}
	report.Reachable, report.Version = true, version
	needed := rights.Of(of.AllUses())
	if k.shows.Renewable() {
		needed = append(needed, rights.OwnToken(k.shows.Namespace, k.shows.Name))
	}
	report.Checks = k.review(ctx, needed, namespaces)
	if of.For(intent.UseHome) {
		report.Checks = append(report.Checks, k.knowsEndpoints(ctx))
	}
	return report
}

// version answers the API server's version, soon or not at all.
func (k *Kubernetes) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline/2)
	defer cancel()
	raw, err := k.core.RESTClient().Get().AbsPath("/version").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return "", cluster.Classify(err, cluster.Reading)
	}
	var found struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(raw, &found); err != nil || found.GitVersion == "" {
		return "", &fault.Error{Fault: fault.Unreachable, Message: "what answers is not a Kubernetes API server", Err: err}
	}
	return found.GitVersion, nil
}

// review asks about each right: once for the whole cluster, and where that is
// denied but not needed, in each namespace.
func (k *Kubernetes) review(ctx context.Context, all []rights.Right, namespaces []string) []intent.Check {
	answers := make([][]intent.Check, len(all))
	var group errgroup.Group
	group.SetLimit(reviewers)
	for i, r := range all {
		group.Go(func() error {
			answers[i] = k.reviewRight(ctx, r, namespaces)
			return nil
		})
	}
	_ = group.Wait() // no goroutine fails
	var checks []intent.Check
	for _, answer := range answers {
		checks = append(checks, answer...)
	}
	return checks
}

func (k *Kubernetes) reviewRight(ctx context.Context, r rights.Right, namespaces []string) []intent.Check {
	if r.Namespace != "" {
		ok, why := k.allowed(ctx, r, r.Namespace)
		return []intent.Check{cluster.Checked(r.In(r.Namespace), ok, why)}
	}
	ok, why := k.allowed(ctx, r, metav1.NamespaceAll)
	if r.Wide() || len(namespaces) == 0 {
		return []intent.Check{cluster.Checked(r.In(""), ok, why)}
	}
	var checks []intent.Check
	for _, namespace := range namespaces {
		here, whyHere := ok, why
		if !ok {
			here, whyHere = k.allowed(ctx, r, namespace)
		}
		checks = append(checks, cluster.Checked(r.In(namespace), here, whyHere))
	}
	return checks
}

// allowed asks about one right, in one namespace or in all, and says why it is
// missing.
func (k *Kubernetes) allowed(ctx context.Context, r rights.Right, namespace string) (ok bool, why string) {
	resource, subresource, _ := strings.Cut(r.Resource, "/")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource, Name: r.Name,
		},
	}}
	answer, err := k.access.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	switch {
	case err != nil:
		return false, "not known: " + cluster.Classify(err, cluster.Reading).Error()
	case answer.Status.Allowed:
		return true, ""
	}
	return false, r.Missing()
}

// knowsEndpoints checks that the kind DNSEndpoint is served, or that Signpost
// can make its definition.
func (k *Kubernetes) knowsEndpoints(ctx context.Context) intent.Check {
	const name = "knows DNSEndpoint or can be taught it"
	served, err := k.definitionEstablished(ctx, definitionOfEndpoints)
	if err != nil {
		return cluster.Checked(name, false, "not known: "+err.Error())
	}
	if served {
		return cluster.Checked(name, true, "")
	}
	for _, verb := range []string{"create", "patch"} {
		if ok, _ := k.allowed(ctx, rights.Right{Verb: verb, Group: cluster.GroupDefinitions, Resource: "customresourcedefinitions"}, ""); !ok {
			return cluster.Checked(name, false, "the CustomResourceDefinition "+definitionOfEndpoints+" is missing and may not be made: make it, or allow it")
		}
	}
	return cluster.Checked(name, true, "its definition is made at first use")
}
