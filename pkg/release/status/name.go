package status

import (
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
)

// OfName projects the snapshot of a name.
func OfName(snap query.Snapshot) intent.NameReport {
	all := Of(snap)
	out := intent.NameReport{
		State: all.State, Published: "Unknown", Verified: "Unknown", Message: all.Message, Records: all.Names, Warnings: []string{},
	}
	for _, c := range all.Conditions {
		switch c.Type {
		case "Published":
			out.Published = c.Status
		case "Verified":
			out.Verified = c.Status
		}
		if c.Status != "True" && out.Message == "" {
			out.Message = c.Message
		}
	}
	return out
}
