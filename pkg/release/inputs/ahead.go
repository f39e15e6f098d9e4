package inputs

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// AheadOf is what the inputs of a group, or of a logical cloud, are read from, as far as its path tells.
func AheadOf(s *state.Store, owner intent.Path) ahead.Reads {
	project := intent.Join("projects", owner.Segment("projects"))
	return ahead.Reads{
		Documents: []intent.Path{project},
		Prefixes:  []string{below(s, owner), ahead.Collection(s, string(project)+"/dns-update-records")},
	}
}

// Ahead is what they are read from, as far as those of an earlier release tell: these, and what may
// have come since.
func Ahead(s *state.Store, earlier []state.Input) ahead.Reads {
	var reads ahead.Reads
	for _, input := range earlier {
		reads.Documents = append(reads.Documents, input.Path)
		switch intent.KindOf(input.Path).One {
		case "LogicalCloud":
			reads.Prefixes = append(reads.Prefixes, ahead.Collection(s, string(input.Path)+"/cluster-references"))
			reads.Documents = append(reads.Documents, input.Path.Child("kv-pairs", intent.AssociationName))
		case "Cluster":
			reads.Documents = append(reads.Documents, input.Path.Child("kv-pairs", intent.AssociationName))
		}
	}
	return reads
}

// below is the prefix of the keys of all documents below a path; empty if the store of keys does not
// have them.
func below(s *state.Store, path intent.Path) string {
	if s.DocumentKey == nil {
		return ""
	}
	return strings.TrimSuffix(s.DocumentKey(path.Child("a", "b")), "a//b")
}
