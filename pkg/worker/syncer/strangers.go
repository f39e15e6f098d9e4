package syncer

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// A namespace that is somebody else's is used if its owners may. What is to run in
// one that they may not use, or under a ServiceAccount that is somebody else's,
// waits.

// stranger notes that somebody else's object has the name. A namespace that was
// used before stays used, whoever may use it now.
func (p *performer) stranger(ctx context.Context, o outcome, live cluster.Live) outcome {
	if !cluster.IsNamespace(cluster.KindOf(o.action.id)) || live.Deleting || foreign(o.entry) || p.mayUse == nil {
		return o.strange(live)
	}
	why, err := p.mayUse(ctx, o.action.id.Cluster, o.action.id.Name, o.action.want.owners)
	if err != nil {
		return o.failed(&cluster.Error{Fault: cluster.Stale, Message: "the owner of the namespace is not known", Err: err})
	}
	if why == "" {
		return o.strange(live)
	}
	o.entry.UID, o.entry.ResourceVersion, o.entry.Generation, o.entry.CreatedByUs = "", "", 0, false
	o.entry.Digest, o.entry.Status = "", ledger.Failed
	o.entry.Message, o.conflict = "conflict: the namespace "+why, true
	return o
}

// strangersWay says what of somebody else's is in the way of an object: the
// namespace that it is in, or the ServiceAccount that its pods run as, as long as
// these are not seen to be its owners' to use. Empty: nothing is.
func (t *clusterWorker) strangersWay(a action) string {
	inTheWay := func(id bundle.ID) bool {
		entry, wanted := t.entries[id]
		return wanted && entry.Status != ledger.Applied && !entry.CreatedByUs
	}
	if a.want == nil || a.id.Namespace == "" {
		return ""
	}
	if inTheWay(bundle.ID{Cluster: a.id.Cluster, Kind: "Namespace", Name: a.id.Namespace}) {
		return "waits for namespace " + a.id.Namespace + ", which is not there or not to be used"
	}
	taken := func(account string) bool {
		return inTheWay(bundle.ID{Cluster: a.id.Cluster, Kind: "ServiceAccount", Namespace: a.id.Namespace, Name: account})
	}
	if !slices.ContainsFunc(a.want.owners, isTenant) {
		return "" // Signpost chose what runs
	}
	accounts := accountsOf(a.want.object)
	if at := slices.IndexFunc(accounts, taken); at >= 0 {
		return "waits for ServiceAccount " + accounts[at] + ", which is not there or somebody else's"
	}
	return ""
}

// isTenant tells groups and logical clouds from external-dns.
func isTenant(owner string) bool { return !appcontext.Owner(owner).IsProvider() }

// accountsOf are the ServiceAccounts that the pods of an object run as.
func accountsOf(o bundle.Object) []string {
	var manifest map[string]any
	if json.Unmarshal(o.JSON, &manifest) != nil {
		return nil
	}
	return grant.Accounts(manifest)
}
