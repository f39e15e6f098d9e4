package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
)

// object is what an import reads of an object of Kubernetes.
type object struct {
	Metadata struct {
		Namespace   string            `json:"namespace"`
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Type         string   `json:"type"`         // of a Service
		ExternalName string   `json:"externalName"` // of a Service
		ExternalIPs  []string `json:"externalIPs"`  // of a Service

		DefaultBackend *ingressBackend `json:"defaultBackend"` // of an Ingress
		TLS            []struct {
			Hosts []string `json:"hosts"`
		} `json:"tls"` // of an Ingress

		Hostnames  []string    `json:"hostnames"`  // of an HTTPRoute
		ParentRefs []reference `json:"parentRefs"` // of an HTTPRoute

		Rules []struct {
			Host string `json:"host"`
			HTTP struct {
				Paths []struct {
					Backend ingressBackend `json:"backend"`
				} `json:"paths"`
			} `json:"http"`
			BackendRefs []reference `json:"backendRefs"`
		} `json:"rules"` // of an Ingress, or of an HTTPRoute

		Endpoints []endpoint `json:"endpoints"` // of a DNSEndpoint
	} `json:"spec"`
	Status struct {
		LoadBalancer struct {
			Ingress []struct{ IP, Hostname string } `json:"ingress"`
		} `json:"loadBalancer"` // of a Service, or of an Ingress
		Addresses []struct{ Value string } `json:"addresses"` // of a Gateway
	} `json:"status"`
}

type ingressBackend struct {
	Service struct{ Name string } `json:"service"`
}

type reference struct{ Kind, Namespace, Name string }

// endpoint is a record set of a DNSEndpoint.
type endpoint struct {
	DNSName          string   `json:"dnsName"`
	RecordType       string   `json:"recordType"`
	Targets          []string `json:"targets"`
	RecordTTL        int64    `json:"recordTTL"`
	SetIdentifier    string   `json:"setIdentifier"`
	ProviderSpecific []struct{ Name string }
}

// Objects are the objects of a cluster from which an external-dns takes names.
type Objects struct {
	Cluster    string // "provider/cluster", as Signpost knows it
	services   []object
	ingresses  []object
	gateways   []object
	routes     []object
	dnsObjects []object
}

func kubernetesCommand(p terminal.Program) *cobra.Command {
	var t task
	var kubeconfig, in, as, namespace string
	cmd := &cobra.Command{
		Use:   "kubernetes --context CONTEXT --cluster PROVIDER/CLUSTER",
		Short: "Make documents of the names that an external-dns takes from a cluster",
		Long: `Makes documents of the host names that an external-dns takes from Services, Ingresses, HTTPRoutes and
DNSEndpoints. A name follows the Service, if Signpost finds the same addresses there as external-dns publishes.
Otherwise the name gets the present addresses as fixed ones, and the report says so.

The command reads the cluster with the rights of your kubeconfig. It changes nothing there.`,
		Example: "  signpost import kubernetes --context prod-one --cluster dc/one --project shop > names.yaml",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := document.ClusterPath(as)
			if as == "" || err != nil {
				return errors.Join(terminal.Usagef("--cluster: give the cluster as Signpost knows it, as provider/cluster"), err)
			}
			reached, err := account.Open(kubeconfig, in)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			found, err := readCluster(cmd.Context(), reached)
			if err != nil {
				return fmt.Errorf("%s: %w", reached.Server(), err)
			}
			found.Cluster = path.Parent().Name() + "/" + path.Name()
			return t.deliver(p, FromCluster(reached.Server(), found.within(namespace)))
		},
	}
	cmd.Flags().StringVar(&in, "context", "", "the `CONTEXT` of the kubeconfig (default: its current one)")
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the kubeconfig `FILE` (default: as kubectl finds it)")
	cmd.Flags().StringVar(&as, "cluster", "", "the `CLUSTER` as Signpost knows it, as provider/cluster")
	cmd.Flags().StringVar(&namespace, "namespace", "", "the `NAMESPACE` of the objects (default: all)")
	t.flags(cmd)
	return cmd
}

// within are the objects of a namespace, and all Gateways; without a namespace, all of them.
func (o Objects) within(namespace string) Objects {
	if namespace == "" {
		return o
	}
	for _, list := range []*[]object{&o.services, &o.ingresses, &o.routes, &o.dnsObjects} {
		*list = slices.DeleteFunc(*list, func(one object) bool { return one.Metadata.Namespace != namespace })
	}
	return o
}

// readCluster lists the objects.
func readCluster(ctx context.Context, from *account.Cluster) (Objects, error) {
	var found Objects
	for _, kind := range []struct {
		of   account.Resource
		into *[]object
	}{
		{account.Resource{Version: "v1", Plural: "services"}, &found.services},
		{account.Resource{Group: "networking.k8s.io", Version: "v1", Plural: "ingresses"}, &found.ingresses},
		{account.Resource{Group: "gateway.networking.k8s.io", Version: "v1", Plural: "gateways"}, &found.gateways},
		{account.Resource{Group: "gateway.networking.k8s.io", Version: "v1", Plural: "httproutes"}, &found.routes},
		{account.Resource{Group: "externaldns.k8s.io", Version: "v1alpha1", Plural: "dnsendpoints"}, &found.dnsObjects},
	} {
		all, err := from.List(ctx, kind.of)
		if err != nil {
			return found, err
		}
		for _, raw := range all {
			var o object
			if err := json.Unmarshal(raw, &o); err != nil {
				return found, fmt.Errorf("%s cannot be read: %w", kind.of.Plural, err)
			}
			*kind.into = append(*kind.into, o)
		}
	}
	return found, nil
}

// key is the namespace and name of an object.
func (o object) key() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

// lists splits an annotation at its commas.
func (o object) lists(annotation string) []string {
	var values []string
	for value := range strings.SplitSeq(o.Metadata.Annotations[annotations+annotation], ",") {
		if value = strings.TrimSpace(value); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// balanced are the addresses and host names of a load balancer.
func (o object) balanced() []string {
	var targets []string
	for _, at := range o.Status.LoadBalancer.Ingress {
		for _, target := range []string{at.IP, at.Hostname} {
			if target != "" {
				targets = append(targets, target)
			}
		}
	}
	return targets
}
