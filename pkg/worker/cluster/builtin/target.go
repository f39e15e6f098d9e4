// Package builtin has the built-in publisher of a provider stand for a cluster. The
// objects of that cluster are keys of Signpost's own etcd: the DNSEndpoints of the
// provider, and one object with its settings. A goroutine brings the names of the
// DNSEndpoints to the DNS servers at once, as an external-dns in a cluster would later.
package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Prefix is below which the objects of all built-in publishers are kept, by cluster.
const Prefix = "/signpost/publisher/"

// Settings are what a Target needs beside its name.
type Settings struct {
	KV      kv.KV
	Options cluster.Options
	Open    Open             // makes the writer of a provider
	Now     func() time.Time // default: the wall's
}

// Target is the built-in publisher of one provider. An object's resource version is the
// revision that wrote its key, and its UID the revision that made the key.
type Target struct {
	Settings
	name  string // "provider+cluster"
	view  *view
	loops sync.WaitGroup // of the watches, which give the fence back at their end
}

var _ cluster.Target = (*Target)(nil)

// New makes a Target. It reads and writes nothing until it is asked.
func New(name string, settings Settings) *Target {
	if settings.Now == nil {
		settings.Now = time.Now
	}
	t := &Target{Settings: settings, name: name}
	t.view = newView(t)
	return t
}

// stored is an object as its key holds it.
type stored struct {
	Generation int64           `json:"generation"`
	Object     json.RawMessage `json:"object"` // with the installation's labels
}

func (t *Target) prefix() string { return Prefix + t.name + "/object/" }

// key is where an object is kept.
func (t *Target) key(id bundle.ID) string {
	return t.prefix() + strings.Join([]string{id.Kind, id.Namespace, id.Name}, "/")
}

// publisher is the object that has the settings of the publisher.
func (t *Target) publisher(namespace, name string) bundle.ID {
	return bundle.ID{Cluster: t.name, Group: bundle.PublisherGroup, Kind: bundle.PublisherKind, Namespace: namespace, Name: name}
}

// Identity implements cluster.Target: the name alone tells a publisher from all others.
// The answer comes from etcd, which all publishers need.
func (t *Target) Identity(ctx context.Context) (string, error) {
	if err := t.KV.Ping(ctx); err != nil {
		return "", unreachable(err)
	}
	return "publisher:" + t.name, nil
}

// unreachable is a failed request to etcd.
func unreachable(err error) error {
	return &fault.Error{Fault: fault.Unreachable, Message: err.Error(), Err: err}
}

func conflict(kind fault.Kind, message string) error {
	return &fault.Error{Fault: kind, Code: http.StatusConflict, Message: message}
}

// Get implements cluster.Target.
func (t *Target) Get(ctx context.Context, id bundle.ID) (*cluster.Live, error) {
	item, _, err := t.KV.Get(ctx, t.key(id))
	if err != nil {
		return nil, unreachable(err)
	}
	if item == nil {
		return nil, nil
	}
	held, err := t.read(*item)
	if err != nil {
		return nil, err
	}
	return &held.live, nil
}

// read takes an object out of its key.
func (t *Target) read(item kv.Item) (held, error) {
	var s stored
	if err := json.Unmarshal(item.Value, &s); err != nil {
		return held{}, cluster.Refuse("key " + item.Key + " cannot be read: " + err.Error())
	}
	object, err := bundle.Stored(t.name, "", s.Object)
	if err != nil {
		return held{}, cluster.Refuse("key " + item.Key + " holds no object: " + err.Error())
	}
	head, err := object.Head()
	if err != nil {
		return held{}, cluster.Refuse("key " + item.Key + " holds no object: " + err.Error())
	}
	live := cluster.Live{
		Version:    cluster.Version{UID: strconv.FormatInt(item.CreateRevision, 10), ResourceVersion: strconv.FormatInt(item.ModRevision, 10)},
		Generation: s.Generation, Labels: head.Labels, Annotations: head.Annotations,
	}
	return held{object: object.Short(), live: live, revision: item.ModRevision}, nil
}

// Create implements cluster.Target.
func (t *Target) Create(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	return t.put(ctx, o, nil)
}

// Apply implements cluster.Target.
func (t *Target) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	item, _, err := t.KV.Get(ctx, t.key(o.ID))
	if err != nil {
		return cluster.Live{}, unreachable(err)
	}
	if item == nil {
		return cluster.Live{}, conflict(fault.Stale, "the object is gone")
	}
	held, err := t.read(*item)
	if err != nil {
		return cluster.Live{}, err
	}
	if held.live.Version != at {
		return cluster.Live{}, conflict(fault.Stale, "the object has changed")
	}
	return t.put(ctx, o, &held)
}

// Restore implements cluster.Target: nobody adds to these objects.
func (t *Target) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	return t.Apply(ctx, o, at)
}

// put writes an object in the place of the one that was read; nil: of none.
func (t *Target) put(ctx context.Context, o bundle.Object, before *held) (cluster.Live, error) {
	if !o.IsEndpoint() && !o.IsPublisher() {
		return cluster.Live{}, cluster.Refuse(o.ID.String() + ": a built-in publisher has DNSEndpoints and its settings only")
	}
	content, err := cluster.Parse(o, t.Options.Installation)
	if err != nil {
		return cluster.Live{}, err
	}
	raw, err := content.JSON()
	if err != nil {
		return cluster.Live{}, err
	}
	next, when := stored{Generation: 1, Object: raw}, kv.Compare{Key: t.key(o.ID)}
	if before != nil {
		if bytes.Equal(before.object.JSON, raw) {
			return before.live, nil
		}
		next.Generation = before.live.Generation + 1
		when.ModRevision = before.revision
	}
	value, err := json.Marshal(next)
	if err != nil {
		return cluster.Live{}, cluster.Refuse(o.ID.String() + " cannot be written as JSON")
	}
	done, revision, err := t.KV.Txn(ctx, []kv.Compare{when}, kv.Put(when.Key, value))
	switch {
	case err != nil:
		return cluster.Live{}, unreachable(err)
	case !done && before == nil:
		return cluster.Live{}, conflict(cluster.Exists, "there is an object of this name already")
	case !done:
		return cluster.Live{}, conflict(fault.Stale, "the object has changed")
	}
	item := kv.Item{Key: when.Key, Value: value, CreateRevision: revision, ModRevision: revision}
	if before != nil {
		item.CreateRevision, _ = strconv.ParseInt(before.live.UID, 10, 64) // as it was written
	}
	now, err := t.read(item)
	if err == nil {
		t.view.set(now)
	}
	return now.live, err
}

// Delete implements cluster.Target.
func (t *Target) Delete(ctx context.Context, id bundle.ID, at cluster.Version) error {
	live, err := t.Get(ctx, id)
	switch {
	case err != nil:
		return err
	case live == nil:
		return nil
	case live.Version != at:
		return conflict(fault.Stale, "the object has changed")
	}
	revision, err := strconv.ParseInt(at.ResourceVersion, 10, 64)
	if err != nil {
		return conflict(fault.Stale, "the object has changed")
	}
	key := t.key(id)
	done, now, err := t.KV.Txn(ctx, []kv.Compare{{Key: key, ModRevision: revision}}, kv.Delete(key))
	switch {
	case err != nil:
		return unreachable(err)
	case !done:
		return conflict(fault.Stale, "the object has changed")
	}
	t.view.drop(id, now)
	return nil
}

// Share implements cluster.Target: there is nobody to share with.
func (t *Target) Share(_ context.Context, o bundle.Object) (cluster.Live, error) {
	return cluster.Live{}, cluster.Refuse(o.ID.String() + ": a built-in publisher has no objects of others")
}

// Unshare implements cluster.Target: nothing was ever shared.
func (t *Target) Unshare(context.Context, bundle.ID) error { return nil }

// Established implements cluster.Target.
func (t *Target) Established(_ context.Context, kind cluster.Kind) (bool, error) {
	id := bundle.ID{Group: kind.Group, Kind: kind.Kind}
	return id.IsEndpoint() || id.IsPublisher(), nil
}

// Occupant implements cluster.Target: there are no namespaces.
func (t *Target) Occupant(context.Context, string) (string, error) { return "", nil }

// Close implements cluster.Target. It waits until the publisher has given the fence back, so
// that the next one need not wait. Stop the watches before.
func (t *Target) Close() { t.loops.Wait() }
