package admission

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// SealedValues lists the ids of the sealed values that a document uses.
func SealedValues(doc intent.Document) []string {
	var ids []string
	for _, ref := range doc.Refs {
		if id, ok := strings.CutPrefix(string(ref), intent.SecretCollection+"/"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// Admits tells whether documents of a kind have their checks.
func Admits(kind intent.Kind) bool {
	_, known := checksOf(kind)
	return known
}
