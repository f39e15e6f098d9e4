package provider

import (
	"encoding/json"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// definition is dnsEndpointCRD as an object. Each external-dns needs it, and all but its
// labels is always the same, so that the schema is written once.
func definition(cluster, installation string) (bundle.Object, error) {
	parts, err := definitionParts()
	if err != nil {
		return bundle.Object{}, err
	}
	parts.Metadata.Labels = plan.Marks(installation)
	canonical, err := json.Marshal(parts)
	if err != nil {
		return bundle.Object{}, err
	}
	return bundle.Stored(cluster, App, canonical)
}

// crd is a definition whose fields stand in canonical order.
type crd struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
		Name        string            `json:"name"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// definitionParts are those of a definition without the installation's labels.
//
//nolint:gochecknoglobals // computed once, read-only
var definitionParts = sync.OnceValues(func() (parts crd, err error) {
	whole, err := bundle.New("", App, dnsEndpointCRD(""))
	if err != nil {
		return crd{}, err
	}
	err = json.Unmarshal(whole.JSON, &parts)
	return parts, err
})

// dnsEndpointCRD defines the kind of object by which names reach external-dns,
// as external-dns defines it.
func dnsEndpointCRD(installation string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "dnsendpoints.externaldns.k8s.io", Labels: plan.Marks(installation),
			Annotations: map[string]string{
				// Without it an API server refuses definitions in groups of k8s.io.
				"api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/external-dns/pull/2007",
			},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "externaldns.k8s.io",
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: "DNSEndpoint", ListKind: "DNSEndpointList", Plural: "dnsendpoints", Singular: "dnsendpoint",
			},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: dnsEndpointSchema()},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

type (
	schema     = apiextensionsv1.JSONSchemaProps
	properties = map[string]apiextensionsv1.JSONSchemaProps
)

func dnsEndpointSchema() *schema {
	root := object("A set of names for external-dns to publish.", properties{
		"apiVersion": text("The version of this object's schema."),
		"kind":       text("The kind of this object."),
		"metadata":   {Type: "object"},
		"spec":       object("What is published.", properties{"endpoints": list("", endpointSchema())}),
		"status": object("What external-dns has seen.", properties{
			"observedGeneration": int64s("The generation that external-dns has read."),
		}),
	})
	return &root
}

func endpointSchema() schema {
	property := object("A setting for one DNS provider.", properties{"name": text(""), "value": text("")})
	return object("One name and type with its targets.", properties{
		"dnsName":          text("The host name."),
		"labels":           texts("What external-dns notes about the name."),
		"providerSpecific": list("Settings for single DNS providers.", property),
		"recordTTL":        int64s("How long resolvers may keep the answer, in seconds."),
		"recordType":       text("The type, as A, AAAA, CNAME, SRV or TXT."),
		"setIdentifier":    text("Tells several records of one name and type apart, where the provider allows them."),
		"targets":          list("What the name points to.", text("")),
	})
}

func object(description string, fields properties) schema {
	return schema{Type: "object", Description: description, Properties: fields}
}

func list(description string, items schema) schema {
	return schema{Type: "array", Description: description, Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
}

func text(description string) schema {
	return schema{Type: "string", Description: description}
}

// texts is a map of texts.
func texts(description string) schema {
	return schema{Type: "object", Description: description, AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{
		Allows: true, Schema: &schema{Type: "string"},
	}}
}

func int64s(description string) schema {
	return schema{Type: "integer", Format: "int64", Description: description}
}
