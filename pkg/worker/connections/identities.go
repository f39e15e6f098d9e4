package connections

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Identities sees to it that a name stands for one cluster, and that a cluster
// has one name.
type Identities struct {
	Ledger    *ledger.Ledger
	Documents intent.Store
}

// claim has a name stand for a cluster, in place of another name whose
// document is gone.
func (i Identities) claim(ctx context.Context, asked ledger.Claim) error {
	err := i.Ledger.Claim(ctx, asked)
	var refused *ledger.Refusal
	if !errors.As(err, &refused) || !refused.Double() {
		return err
	}
	switch free, releaseErr := i.release(ctx, refused.Against.Cluster); {
	case releaseErr != nil:
		return releaseErr
	case free:
		return i.Ledger.Claim(ctx, asked)
	}
	return err
}

// release gives up what a name stands for if its document is gone and nothing
// is left in the cluster, and tells whether it did.
func (i Identities) release(ctx context.Context, name string) (bool, error) {
	if ref, ok := intent.ParseCluster(name); ok {
		_, err := i.Documents.Get(ctx, ref.Path())
		if intent.CodeOf(err) != intent.NotFound {
			return false, err
		}
	}
	return i.Ledger.Release(ctx, name)
}

// Sweep releases all names whose documents are gone.
func (i Identities) Sweep(ctx context.Context) error {
	names, err := i.Ledger.Claimants(ctx)
	for _, name := range names {
		_, releaseErr := i.release(ctx, name)
		err = errors.Join(err, releaseErr)
	}
	return err
}

// claimed is a target that answers only as the cluster that its name stands
// for: to any other, nothing is ever written.
type claimed struct {
	cluster.Target
	identities Identities
	name       string
	source     string
	uid        atomic.Pointer[string] // that was claimed over this connection
}

func (t *claimed) Identity(ctx context.Context) (string, error) {
	uid, err := t.Target.Identity(ctx)
	if err != nil {
		return "", err
	}
	if was := t.uid.Load(); was != nil && *was == uid {
		return uid, nil
	}
	if err := t.identities.claim(ctx, ledger.Claim{Cluster: t.name, UID: uid, Source: t.source}); err != nil {
		return "", err
	}
	t.uid.Store(&uid)
	return uid, nil
}
