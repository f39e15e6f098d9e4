// Package replicas knows which processes of an installation live. Each has a key
// of its own under a lease, so that a dead one is known as such within seconds.
package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// The roles of a process.
const (
	All    = "all"    // all of it
	API    = "api"    // accepts requests
	Worker = "worker" // works on what was accepted, and serves clusters
)

// prefix is followed by a replica's id.
const prefix = "/signpost/replicas/"

// Replica is one process of an installation.
type Replica struct {
	ID      string    `json:"-"`       // unique; the name of its worker, too
	Role    string    `json:"role"`    // All, API or Worker
	Version string    `json:"version"` // of the program
	Host    string    `json:"host"`    // of the machine, or the pod
	Since   time.Time `json:"since"`   // when it was started, by its own clock
	Key     string    `json:"key"`     // the id of the one that it seals secret values with
}

// Works tells whether a replica serves clusters.
func (r Replica) Works() bool { return r.Role != API }

// Live lists the replicas that live, or died only just now, ordered by id.
// Programs from before there were roles are not among them.
func Live(ctx context.Context, store kv.KV) ([]Replica, error) {
	items, _, err := store.Range(ctx, kv.Range{Prefix: prefix})
	if err != nil {
		return nil, err
	}
	all := make([]Replica, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item.Value, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		all[i].ID = strings.TrimPrefix(item.Key, prefix)
	}
	return all, nil
}
