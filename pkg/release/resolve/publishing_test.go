package resolve

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// TestTheBuiltInPublisherKeepsBothFamilies of a name, where external-dns takes them for one record.
func TestTheBuiltInPublisherKeepsBothFamilies(t *testing.T) {
	t.Parallel()
	record := plan.Record{Spec: intent.Record{Provider: "coredns"}}
	require.False(t, PublishingOf(record).Abilities.DualStack)
	record.Spec.DeployOn = &intent.Home{Publisher: intent.BuiltIn}
	require.True(t, PublishingOf(record).Abilities.DualStack)
}
