package status

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// turns are when objects came to be applied, and ceased to be: what a condition
// about them dates its transition by. Times that nobody noted are zero.
type turns struct {
	applied time.Time // the last of those that are
	lacking time.Time // the first of those that are not
}

func turnsOf(snap query.Snapshot) turns {
	var t turns
	for _, o := range snap.Objects {
		t.add(snap.Owner, o, snap.Clusters[o.Cluster])
	}
	for _, p := range snap.Providers {
		if !p.Draining {
			t.addProvider(p)
		}
	}
	return t
}

func (t *turns) addProvider(p query.ProviderReport) {
	for _, o := range p.Objects {
		t.add(p.Owner, o, p.Cluster)
	}
}

func (t *turns) add(owner appcontext.Owner, o bundle.Object, report query.ClusterReport) {
	e := report.Entries[o.ID]
	progress, _ := e.Progress(string(owner), o.Digest())
	switch {
	case progress == ledger.Applied:
		t.applied = later(t.applied, e.Since)
	case e.Status != ledger.Applied && (t.lacking.IsZero() || e.Since.Before(t.lacking)):
		t.lacking = e.Since
	}
}

// date has a condition hold since the objects came to be as it says, at the
// earliest since their context is current.
func (t *turns) date(snap query.Snapshot, c intent.StatusCondition) intent.StatusCondition {
	turned := t.lacking
	if c.Status == "True" {
		turned = t.applied
	}
	c.LastTransitionTime = later(later(c.LastTransitionTime, snap.Current), turned)
	return c
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// jointly is since when several of one status are so, as one condition. All are True
// since the last one is, and not all since the first one is not.
func jointly(status string, a, b time.Time) time.Time {
	if (status == "True") == a.Before(b) {
		return b
	}
	return a
}
