package inputs

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// AheadOf is what the inputs of a group, or of a logical cloud, are read from, as far as its path tells.
func AheadOf(s *state.Store, owner intent.Path) state.Ahead {
	project := intent.Join("projects", owner.Segment("projects"))
	return state.Ahead{
		Documents: []intent.Path{project},
		Prefixes:  []string{below(s, owner), state.Collection(s, string(project)+"/dns-update-records")},
	}
}

// Ahead is what they are read from, as far as those of an earlier release tell: these, and what may
// have come since.
func Ahead(s *state.Store, earlier []state.Input) state.Ahead {
	var ahead state.Ahead
	for _, input := range earlier {
		ahead.Documents = append(ahead.Documents, input.Path)
		switch intent.KindOf(input.Path).One {
		case "LogicalCloud":
			ahead.Prefixes = append(ahead.Prefixes, state.Collection(s, string(input.Path)+"/cluster-references"))
			ahead.Documents = append(ahead.Documents, input.Path.Child("kv-pairs", intent.AssociationName))
		case "Cluster":
			ahead.Documents = append(ahead.Documents, input.Path.Child("kv-pairs", intent.AssociationName))
		}
	}
	return ahead
}

// below is the prefix of the keys of all documents below a path; empty if the store of keys does not
// have them.
func below(s *state.Store, path intent.Path) string {
	if s.DocumentKey == nil {
		return ""
	}
	return strings.TrimSuffix(s.DocumentKey(path.Child("a", "b")), "a//b")
}
