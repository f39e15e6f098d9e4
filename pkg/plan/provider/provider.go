// Package provider renders one external-dns: a record in one scope on one
// cluster, with everything that it needs there.
package provider

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// App is the app under which an app context files the objects.
const App = "external-dns"

// Render makes the objects of one external-dns, ordered by bundle.Compare. They are the
// project's namespace, the CRD of DNSEndpoints, the account with its rights, the Secret
// of inline credentials if there are any, and the Deployment. No object holds a secret
// value: the Secret says by its annotation which sealed values it gets (I9). A provider
// with the built-in publisher has one object, which is for Signpost itself.
//
// The fields are what cannot work, with pointers into the record; there are no
// objects then. An error is a defect of the frozen record or of Signpost.
func Render(p plan.Provider) ([]bundle.Object, []intent.Field, error) {
	if intent.IsPublisher(p.Cluster) {
		return renderPublisher(p)
	}
	arguments, fields := compile(p)
	credentials, more := readCredentials(p)
	if fields = append(fields, more...); len(fields) > 0 {
		return nil, fields, nil
	}
	r := renderer{
		Provider: p, name: DeploymentName(p.Record.Name, p.Scope),
		arguments: arguments, credentials: credentials,
	}
	definition, err := definition(p.Cluster, p.Record.Installation)
	if err != nil {
		return nil, nil, err
	}
	kinds := []any{r.namespace(), r.serviceAccount(), r.role(), r.roleBinding(), r.deployment()}
	secret, err := r.secret()
	if err != nil {
		return nil, nil, err
	}
	if secret != nil {
		kinds = append(kinds, secret)
	}
	objects := append(make([]bundle.Object, 0, len(kinds)+1), definition)
	for _, kind := range kinds {
		object, err := bundle.New(p.Cluster, App, kind)
		if err != nil {
			return nil, nil, err
		}
		objects = append(objects, object)
	}
	ordered, err := bundle.Collect(objects)
	return ordered, nil, err
}

// renderer is a provider with what was read out of it.
type renderer struct {
	plan.Provider
	name        string // of every namespaced object
	arguments   arguments
	credentials credentials
}

// meta names and marks a namespaced object.
func (r renderer) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: r.name, Namespace: r.Record.Project.Namespace, Labels: r.Record.Labels(r.Scope),
	}
}
