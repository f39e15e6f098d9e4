package apply

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// A namespace that is somebody else's is used if its owners may. Pods wait that are to
// run in a namespace that they may not use, or under a ServiceAccount that is somebody
// else's.

// existing notes that somebody else's object has the name. A namespace that was used
// before stays used, even if its owners may not use it now.
func (p *performer) existing(ctx context.Context, o outcome, live cluster.Live) outcome {
	if !cluster.IsNamespace(cluster.KindOf(o.action.id)) || live.Deleting || state.IsForeign(o.entry) || p.mayUse == nil {
		return o.strange(live)
	}
	why, err := p.mayUse(ctx, o.action.id.Cluster, o.action.id.Name, o.action.want.Owners)
	if err != nil {
		return o.failed(&fault.Error{Fault: fault.Stale, Message: "the owner of the namespace is not known", Err: err})
	}
	if why == "" {
		return o.strange(live)
	}
	o.entry.UID, o.entry.ResourceVersion, o.entry.Generation, o.entry.CreatedByUs = "", "", 0, false
	o.entry.Digest, o.entry.Status = "", ledger.Failed
	o.entry.Message, o.conflict = "conflict: the namespace "+why, true
	return o
}

// existingInTheWay says what of somebody else's is in the way of an object: its
// namespace, or the ServiceAccount of its pods. They are in the way until the owners are
// seen to have the right to use them. Empty: nothing is.
func (t *Applier) existingInTheWay(a action) string {
	inTheWay := func(id bundle.ID) bool {
		entry, wanted := t.Ledger.Entries()[id]
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
	if !slices.ContainsFunc(a.want.Owners, isTenant) {
		return "" // Signpost chose what runs
	}
	accounts := accountsOf(a.want.Object)
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
