package kubeapi

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// A feed's rhythm.
const (
	feedPage      = 500
	feedSmaller   = 8                // by which a page is divided that is too large
	feedListing   = 30 * time.Second // deadline of one page
	feedRelisting = 2 * time.Minute  // deadline of all pages
	feedWatching  = 5 * time.Minute  // after which a watch is opened anew
	feedRetry     = 100 * time.Millisecond
	feedRetryMost = 5 * time.Second
	feedDenied    = 30 * time.Second // what is not served or not allowed, of kinds that can be done without
)

// entry is all that is kept of a watched object.
type entry struct {
	live         cluster.Live
	availability *cluster.Availability
	pod          *cluster.Pod
	node         *node
	service      *source.Service
	slice        *source.Slice
	lead         *source.Lead
}

// leads names the Services, as "namespace/name", that an entry leads to, or tells
// the endpoints of.
func (e entry) leads() []string {
	switch {
	case e.slice != nil:
		return []string{e.slice.Service}
	case e.lead != nil:
		return e.lead.Services
	}
	return nil
}

// change is of an entry; the zero one may be of any, or of whether they are known.
type change struct {
	key           string
	before, after entry // the zero one if there is none
}

// named is the Service that the entry is of.
func (c change) named() []string { return []string{c.key} }

// led are the Services that the entry has led to, or leads to.
func (c change) led() []string {
	services := slices.Concat(c.before.leads(), c.after.leads())
	slices.Sort(services)
	return slices.Compact(services)
}

// feed keeps a picture of one list of an API server: it lists, then watches,
// and lists again when the watch breaks. While it can do neither it knows
// nothing.
type feed struct {
	list   func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error)
	watch  func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	keep   func(object runtime.Object) (entry, error) // takes what matters out of an object
	notify func(change)
	spare  bool // it can be done without
	budget *bounded.Budget
	fields string // a field selector of its lists; empty: none
	paged  int64  // how many objects a page has had that was not too large; 0: feedPage

	mu        sync.Mutex
	kept      int64               // of the budget
	entries   map[string]entry    // by "namespace/name"
	leading   map[string][]string // by Service, the keys of what leads to it, ordered
	version   string              // how far the picture goes
	synced    bool
	trouble   error
	unwatched bool // it may be listed, but was not let watch
}

// listed is a client of client-go's for one kind of objects.
type listed[L runtime.Object] interface {
	List(ctx context.Context, options metav1.ListOptions) (L, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// feedOf makes a feed over what a label selector selects.
func feedOf[L runtime.Object](api listed[L], selector string, notify func(change), keep func(object runtime.Object) (entry, error)) *feed {
	return &feed{
		notify: notify, keep: keep,
		list: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = selector
			return api.List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return api.Watch(ctx, options)
		},
	}
}

// run keeps the picture until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.forget()
	wait := feedRetry
	for ctx.Err() == nil {
		err := f.relist(ctx)
		if err == nil {
			began := time.Now()
			err = f.follow(ctx)
			if time.Since(began) > feedRetryMost {
				wait = feedRetry
			}
		}
		if ctx.Err() != nil {
			return
		}
		f.fail(err)
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, feedRetryMost)
		if f.spare && denied(err) || cluster.Beyond(err) {
			wait = feedDenied
		}
	}
}

// denied tells whether asking again will not help soon.
func denied(err error) bool {
	kind := fault.Of(err)
	return kind == cluster.NotServed || kind == fault.Refused
}

// relist replaces the picture by a complete one.
func (f *feed) relist(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, feedRelisting)
	defer cancel()
	d := drawing{feed: f, entries: map[string]entry{}}
	if err := d.read(ctx); err != nil {
		d.giveBack()
		return err
	}
	return nil
}

// drawing is a picture that is being drawn.
type drawing struct {
	feed    *feed
	entries map[string]entry
	kept    int64 // of the budget
}

// read reads all pages. A page that is too large is asked for in smaller ones.
func (d *drawing) read(ctx context.Context) error {
	f := d.feed
	options := metav1.ListOptions{Limit: cmp.Or(f.paged, feedPage), FieldSelector: f.fields}
	for {
		list, next, err := f.page(ctx, options)
		if cluster.Beyond(err) && options.Limit > 1 {
			options.Limit = max(1, options.Limit/feedSmaller)
			f.paged = options.Limit
			continue
		}
		if err != nil {
			return err
		}
		if err := meta.EachListItem(list, d.add); err != nil {
			return err
		}
		if next.GetContinue() == "" {
			f.replace(d.entries, d.kept, next.GetResourceVersion())
			return nil
		}
		options.Continue = next.GetContinue()
	}
}

func (d *drawing) add(object runtime.Object) error {
	head, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	kept, err := d.feed.keep(object)
	if err != nil {
		return err
	}
	key := source.Key(head.GetNamespace(), head.GetName())
	size := sizeOf(key, kept)
	if err := d.feed.budget.Keep(size); err != nil {
		return cluster.Classify(err, cluster.Reading)
	}
	d.kept += size
	d.entries[key] = kept
	return nil
}

func (d *drawing) giveBack() { _ = d.feed.budget.Keep(-d.kept) }

// sizeOf is about how much memory an entry takes.
func sizeOf(key string, e entry) int64 { return int64(len(key)) + bounded.Size(e) }

func (f *feed) page(ctx context.Context, options metav1.ListOptions) (runtime.Object, metav1.ListInterface, error) {
	ctx, cancel := context.WithTimeout(ctx, feedListing)
	defer cancel()
	list, err := f.list(ctx, options)
	if err != nil {
		return nil, nil, cluster.Classify(err, cluster.Reading)
	}
	head, err := meta.ListAccessor(list)
	return list, head, err
}

// replace takes up the picture that a drawing has, and what it takes of the
// budget.
func (f *feed) replace(entries map[string]entry, kept int64, version string) {
	f.mu.Lock()
	_ = f.budget.Keep(-f.kept)
	f.entries, f.kept, f.version = entries, kept, version
	if f.synced = !f.unwatched; f.synced {
		f.trouble = nil
	}
	f.leading = map[string][]string{}
	for key, kept := range entries {
		f.index(key, kept)
	}
	f.mu.Unlock()
	f.notify(change{})
}

// forget drops the picture.
func (f *feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.budget.Keep(-f.kept)
	f.entries, f.leading, f.kept, f.synced = nil, nil, 0, false
}

// put takes an entry up, if the budget has room for it. The feed is locked.
func (f *feed) put(key string, kept entry) error {
	f.drop(key)
	size := sizeOf(key, kept)
	if err := f.budget.Keep(size); err != nil {
		return cluster.Classify(err, cluster.Reading)
	}
	f.kept += size
	f.entries[key] = kept
	f.index(key, kept)
	return nil
}

func (f *feed) index(key string, kept entry) {
	for _, service := range kept.leads() {
		if n, has := slices.BinarySearch(f.leading[service], key); !has {
			f.leading[service] = slices.Insert(f.leading[service], n, key)
		}
	}
}

// drop takes an entry away. The feed is locked.
func (f *feed) drop(key string) {
	if before, had := f.entries[key]; had {
		size := sizeOf(key, before)
		_ = f.budget.Keep(-size)
		f.kept -= size
	}
	for _, service := range f.entries[key].leads() {
		if n, has := slices.BinarySearch(f.leading[service], key); has {
			f.leading[service] = slices.Delete(f.leading[service], n, n+1)
		}
		if len(f.leading[service]) == 0 {
			delete(f.leading, service)
		}
	}
	delete(f.entries, key)
}

// follow watches from where the picture ends. It opens one watch after
// another as long as they end in good order, and answers why that ceased.
func (f *feed) follow(ctx context.Context) error {
	for {
		if err := f.once(ctx); err != nil {
			return err
		}
	}
}

// once runs one watch until it ends. The deadline of the context ends the
// watch of a server that has silently gone.
func (f *feed) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, feedWatching+feedListing)
	defer cancel()
	seconds := int64(feedWatching.Seconds())
	watcher, err := f.watch(ctx, metav1.ListOptions{
		ResourceVersion: f.reached(), AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
	})
	if err != nil {
		err = cluster.Classify(err, cluster.Reading)
		f.blind(denied(err))
		return err
	}
	defer watcher.Stop()
	f.see()
	began := time.Now()
	for event := range watcher.ResultChan() {
		if err := f.take(event); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return cluster.Classify(ctx.Err(), cluster.Reading)
	}
	if time.Since(began) < time.Second {
		return &fault.Error{Fault: fault.Unreachable, Message: "the watch ended at once"}
	}
	return nil
}

// blind notes that it may not be watched. A kind that may only be listed would be known
// for a moment, from time to time: it is not known at all.
func (f *feed) blind(yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unwatched = f.unwatched || yes
}

// see notes that it may be watched.
func (f *feed) see() {
	f.mu.Lock()
	again := f.unwatched
	if again {
		f.unwatched, f.synced, f.trouble = false, true, nil
	}
	f.mu.Unlock()
	if again {
		f.notify(change{})
	}
}

func (f *feed) reached() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version
}

// take brings the picture up to the event. Nobody is notified of what changes
// nothing that is kept.
func (f *feed) take(event watch.Event) error {
	if event.Type == watch.Error {
		return brokenOff(apierrors.FromObject(event.Object))
	}
	head, err := meta.Accessor(event.Object)
	if err != nil {
		return err
	}
	key := source.Key(head.GetNamespace(), head.GetName())
	f.mu.Lock()
	f.version = head.GetResourceVersion()
	before, had := f.entries[key]
	switch event.Type {
	case watch.Deleted:
		f.drop(key)
	case watch.Added, watch.Modified:
		var kept entry
		if kept, err = f.keep(event.Object); err == nil {
			err = f.put(key, kept)
		}
	}
	after, has := f.entries[key]
	f.mu.Unlock()
	if had != has || !reflect.DeepEqual(before, after) {
		f.notify(change{key, before, after})
	}
	return err
}

// brokenOff is why a watch ended. An answer that client-go could not decode came from the
// cluster, which did not say no to anything.
func brokenOff(err error) error {
	if apierrors.HasStatusCause(err, "ClientWatchDecoding") {
		return &fault.Error{Fault: fault.Unreachable, Message: "a watch sends what is too large or cannot be read: " + err.Error(), Err: cluster.ErrUnreadable}
	}
	return cluster.Classify(err, cluster.Reading)
}

// fail notes that the picture is not known. A picture that there is no room for is
// dropped, too, for others of the cluster.
func (f *feed) fail(err error) {
	if cluster.Beyond(err) {
		f.forget()
	}
	f.mu.Lock()
	changed := f.synced || f.trouble == nil || fault.Of(f.trouble) != fault.Of(err) || cluster.CodeOf(f.trouble) != cluster.CodeOf(err)
	f.synced, f.trouble = false, err
	f.mu.Unlock()
	if changed {
		f.notify(change{})
	}
}

// look answers the entry, nil if there is none. It is known only if the picture is
// complete and goes at least as far as the resource version.
func (f *feed) look(namespace, name, atLeast string) (e *entry, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.synced || older(f.version, atLeast) {
		return nil, false
	}
	if found, ok := f.entries[source.Key(namespace, name)]; ok {
		return &found, true
	}
	return nil, true
}

// all answers every entry, or why they are not known.
func (f *feed) all() ([]entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.unknown(); err != nil {
		return nil, err
	}
	return slices.Collect(maps.Values(f.entries)), nil
}

// keys answers the keys of all entries, in order.
func (f *feed) keys() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.entries)), f.unknown()
}

// unknown says why the picture is not complete, nil if it is. The feed is locked.
func (f *feed) unknown() error {
	switch {
	case f.synced:
		return nil
	case f.trouble != nil:
		return f.trouble
	}
	return errNotListed()
}

// errNotListed is why the picture of a feed is not complete that has not failed.
func errNotListed() error {
	return &fault.Error{Fault: fault.Unreachable, Message: "not listed yet"}
}

// missing is unknown, for those who do not hold the feed.
func (f *feed) missing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unknown()
}

// leadingTo answers what leads to a Service, in the order of names, or why that
// is not known.
func (f *feed) leadingTo(service string) ([]entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.unknown(); err != nil {
		return nil, err
	}
	var found []entry
	for _, key := range f.leading[service] {
		found = append(found, f.entries[key])
	}
	return found, nil
}

// older compares resource versions, which count up within one kind of one
// cluster (a promise since Kubernetes 1.35, a fact before).
func older(version, than string) bool {
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return false
	}
	t, err := strconv.ParseUint(than, 10, 64)
	return err == nil && v < t
}
