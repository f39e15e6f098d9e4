package grant

import (
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/podspec"
)

// Accounts are the names of the ServiceAccounts that the pods of a manifest run
// as, ordered, without "default", which every namespace has. In kinds that are not
// Kubernetes' own, each field of that name counts.
func Accounts(manifest map[string]any) []string {
	found := map[string]bool{}
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	if place, pods := podspec.Find(manifest); pods && place.Known {
		account(podspec.At(manifest, place.Fields), found)
	} else if !Common(Group(apiVersion), kind) {
		everywhere(manifest, found)
	}
	delete(found, "default")
	return slices.Sorted(maps.Keys(found))
}

// account reads the ServiceAccount of an object, also by the field's older name.
func account(object map[string]any, into map[string]bool) {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name, _ := object[field].(string); name != "" {
			into[name] = true
		}
	}
}

func everywhere(value any, into map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		account(value, into)
		for _, inner := range value {
			everywhere(inner, into)
		}
	case []any:
		for _, inner := range value {
			everywhere(inner, into)
		}
	}
}

// TokenOf is the ServiceAccount whose token a Secret asks for; ok is false for
// what is no such Secret.
func TokenOf(manifest map[string]any) (account string, ok bool) {
	if manifest["apiVersion"] != "v1" || manifest["kind"] != "Secret" || manifest["type"] != "kubernetes.io/service-account-token" {
		return "", false
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	account, _ = annotations["kubernetes.io/service-account.name"].(string)
	return account, true
}
