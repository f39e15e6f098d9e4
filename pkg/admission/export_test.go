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
