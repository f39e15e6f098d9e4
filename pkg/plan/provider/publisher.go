package provider

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// publisher stands in an app context for the built-in publisher of a provider, as a
// Deployment stands for an external-dns. No API server ever sees it.
type publisher struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec bundle.Publisher `json:"spec"`
}

// renderPublisher makes the one object of a provider with the built-in publisher. The
// provider is checked as for external-dns, so that both write the same.
func renderPublisher(p plan.Provider) ([]bundle.Object, []intent.Field, error) {
	arguments, fields := compile(p)
	if len(fields) > 0 {
		return nil, fields, nil
	}
	spec := PublisherOf(p)
	spec.Interval = externaldns.IntervalOf(arguments.args)
	r := renderer{Provider: p, name: DeploymentName(p.Record.Name, p.Scope)}
	object, err := bundle.New(p.Cluster, App, &publisher{
		TypeMeta:   metav1.TypeMeta{APIVersion: bundle.PublisherGroup + "/v1", Kind: bundle.PublisherKind},
		ObjectMeta: r.meta(), Spec: spec,
	})
	return []bundle.Object{object}, nil, err
}

// PublisherOf says how the built-in publisher of a provider reaches its servers, and as whom. The provider is not checked.
func PublisherOf(p plan.Provider) bundle.Publisher {
	of := bundle.Publisher{
		Provider: p.Record.Spec.Provider, Parameters: p.Record.Spec.Parameters, Environment: p.Record.Spec.Environment,
		OwnerID: OwnerID(p), Adopts: p.Adopts, AdoptsSince: p.AdoptsSince, Stopped: p.Record.Spec.Suspend || p.Waiting,
	}
	for _, c := range p.Record.Spec.Credentials {
		if c.ValueRef == "" {
			continue
		}
		if c.File != "" {
			of.Files = with(of.Files, c.File, c.ValueRef)
		} else {
			of.Values = with(of.Values, c.Environment, c.ValueRef)
		}
	}
	return of
}

// with is a map with one more entry.
func with(in map[string]string, key, value string) map[string]string {
	if in == nil {
		in = map[string]string{}
	}
	in[key] = value
	return in
}
