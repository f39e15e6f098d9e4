// Package seed holds the examples of bodies as the designs wrote them: a DNS update
// record, and OpenShift's DNS object. Tests prove that Signpost accepts them.
package seed

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// text is the record's body as it stands there: one group of parameters for each family
// of providers, side by side, and remarks.
//
//go:embed record.txt
var text string

// Record is the body to post for a provider: of the groups the one that belongs
// to the provider's family. It is an error when there is none.
func Record(provider string) (map[string]any, error) {
	remark := regexp.MustCompile(`##[^{"]*`)
	var body struct {
		Metadata map[string]any `json:"metadata"`
		Spec     struct {
			Parameters map[string]any `json:"external-dns-parameters"`
		} `json:"spec"`
	}
	if err := json.Unmarshal([]byte(remark.ReplaceAllString(text, "")), &body); err != nil {
		return nil, err
	}
	parameters := body.Spec.Parameters
	groups, _ := parameters["oneOf"].([]any)
	delete(parameters, "oneOf")
	family, _, _ := strings.Cut(provider, "-")
	for _, group := range groups {
		members, _ := group.(map[string]any)
		for name := range members {
			if strings.HasPrefix(name, family+"-") {
				maps.Copy(parameters, members)
				return map[string]any{
					"metadata": body.Metadata,
					"spec":     map[string]any{"provider": provider, "external-dns-parameters": parameters},
				}, nil
			}
		}
	}
	return nil, fmt.Errorf("the example has no group for provider %s", provider)
}

// Parameters are those of [Record].
func Parameters(provider string) (map[string]any, error) {
	record, err := Record(provider)
	if err != nil {
		return nil, err
	}
	spec, _ := record["spec"].(map[string]any)
	parameters, _ := spec["external-dns-parameters"].(map[string]any)
	return parameters, nil
}

// Providers are those that the design names.
func Providers() []string {
	return []string{"aws", "aws-sd", "azure", "azure-dns", "azure-private-dns", "coredns", "rfc2136"}
}
