package inputs

import (
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/ahead"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// NeededBy is what the inputs of a group, or of a logical cloud, are read from, as far as its path tells.
func NeededBy(s *state.Store, owner intent.Path) ahead.Reads {
	project := intent.Join("projects", owner.Segment("projects"))
	return ahead.Reads{
		Documents: []intent.Path{project},
		Prefixes:  []string{ahead.Below(s, owner), ahead.Collection(s, string(project)+"/dns-update-records")},
	}
}

// NeededSince is what they are read from, as far as those of an earlier release tell: these, and what may
// have come since.
func NeededSince(s *state.Store, earlier []state.Input) ahead.Reads {
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
