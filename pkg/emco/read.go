package emco

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// page is how many keys are read at a time. A value has up to 1.5 MiB.
const page = 500

// Read answers a context as it is at one revision, in one pass over its keys. A patch of
// Signpost's that was interrupted in the middle is brought to its end first. Errors have
// the code Invalid for an id that is none, NotFound, and TooLarge beyond the limits. A
// context that is half-written, has no meta, or cannot be understood is a Conflict.
func (s *Store) Read(ctx context.Context, id string) (*Context, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	for {
		journal, revision, err := s.kv.Get(ctx, journalKey(id))
		if err != nil {
			return nil, err
		}
		if journal != nil {
			if _, err := s.walk(ctx, id, journal); err != nil {
				return nil, err
			}
			continue
		}
		c, err := s.readAt(ctx, id, revision)
		if errors.Is(err, kv.ErrCompacted) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

func (s *Store) readAt(ctx context.Context, id string, revision int64) (*Context, error) {
	r := reading{id: id, revision: revision}
	err := s.pages(ctx, kv.Range{Prefix: contextKey(id), Revision: revision}, r.take)
	if err != nil {
		return nil, err
	}
	return r.context()
}

// pages hands over what a range selects, page by page. While one is taken, the
// next is on its way.
func (s *Store) pages(ctx context.Context, r kv.Range, take func([]kv.Item) error) error {
	r.Limit = page
	for next := s.fetch(ctx, r); next != nil; {
		now := <-next
		if now.err != nil {
			return now.err
		}
		next = nil
		if int64(len(now.items)) == r.Limit {
			r.After = now.items[len(now.items)-1].Key
			next = s.fetch(ctx, r)
		}
		if err := take(now.items); err != nil {
			if next != nil {
				<-next
			}
			return err
		}
	}
	return nil
}

type fetched struct {
	items []kv.Item
	err   error
}

func (s *Store) fetch(ctx context.Context, r kv.Range) <-chan fetched {
	found := make(chan fetched, 1)
	go func() {
		items, _, err := s.kv.Range(ctx, r)
		found <- fetched{items, err}
	}()
	return found
}

// reading is a context of which a part has been read.
type reading struct {
	id        string
	revision  int64
	bytes     int
	resources int

	root   *kv.Item
	meta   *kv.Item
	order  *kv.Item
	status map[string]kv.Item // what rsync says of the context, by its level
	apps   map[string]*unordered
}

// unordered is an app that apporder may name or not.
type unordered struct {
	App
	exists bool
}

func (r *reading) take(items []kv.Item) error {
	for _, item := range items {
		r.bytes += len(item.Key) + len(item.Value)
		l := levelOf(strings.TrimPrefix(item.Key, contextKey(r.id)))
		if _, ok := l.resource(); ok {
			r.resources++
		}
		if r.resources > maxResources || r.bytes > MaxBytes {
			const mebibyte = 1 << 20
			return about(r.id, intent.TooLarge, "has more than %d resources or %d MiB, which is more than is taken", maxResources, MaxBytes/mebibyte)
		}
		if err := r.one(l, item); err != nil {
			return err
		}
	}
	return nil
}

// one files a key. They come in order, so that a cluster's own key is before
// all that is below it.
func (r *reading) one(l level, item kv.Item) error {
	switch {
	case l.app == "":
		r.ofContext(l.rest, item)
		return nil
	case l.cluster != "":
		return r.ofCluster(l, item)
	}
	app := r.app(l.app)
	switch l.rest {
	case "":
		app.exists = true
	case "instruction/dependency/":
		return r.text(item, &app.Dependency)
	}
	return nil
}

func (r *reading) ofContext(rest string, item kv.Item) {
	switch rest {
	case "":
		r.root = &item
	case metaLevel:
		r.meta = &item
	case appOrderLevel:
		r.order = &item
	case statusLevel, currentStateLevel, desiredStateLevel, statusContextLevel, queueLevel:
		if r.status == nil {
			r.status = map[string]kv.Item{}
		}
		r.status[rest] = item
	}
}

func (r *reading) app(name string) *unordered {
	if r.apps == nil {
		r.apps = map[string]*unordered{}
	}
	if r.apps[name] == nil {
		r.apps[name] = &unordered{App: App{Name: name}}
	}
	return r.apps[name]
}

func (r *reading) ofCluster(l level, item kv.Item) error {
	app := r.app(l.app)
	if l.rest == "" {
		app.Clusters = append(app.Clusters, Cluster{Name: l.cluster})
		return nil
	}
	last := len(app.Clusters) - 1
	if last < 0 || app.Clusters[last].Name != l.cluster { // nothing of it is to be applied
		return nil
	}
	cluster := &app.Clusters[last]
	switch l.rest {
	case "!@#metaGrp/":
		return r.text(item, &cluster.Group)
	case orderLevel:
		cluster.Ordered, cluster.order = true, item
		return r.instruction(item, "resorder", &cluster.Order)
	case "resource/instruction/dependency/":
		return r.instruction(item, "resdependency", &cluster.Hooks)
	}
	if key, ok := l.resource(); ok {
		return r.resource(cluster, key, item)
	}
	return nil
}

// placeholder stands in a first context for a resource that only later ones
// have, so that rsync finds a place for its status.
const placeholder = `"nil"`

func (r *reading) resource(cluster *Cluster, key string, item kv.Item) error {
	name, kind := key, ""
	if plus := strings.LastIndexByte(key, '+'); plus >= 0 {
		name, kind = key[:plus], key[plus+1:]
	}
	one := Resource{Key: key, Name: name, Kind: kind, raw: item.Value}
	if !bytes.HasPrefix(one.raw, []byte{'"'}) || !bytes.HasSuffix(one.raw, []byte{'"'}) {
		return about(r.id, intent.Conflict, "holds no text at %s", item.Key)
	}
	if string(one.raw) != placeholder {
		cluster.Resources = append(cluster.Resources, one)
	}
	return nil
}
