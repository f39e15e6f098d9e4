// Package nameindex finds host names over all owners. It keeps an entry in memory for
// each host name that an owner publishes through a provider.
//
// A Feed fills the Index from lifecycles, releases, ledgers and observations, and follows
// their changes. The Index may lag, and says how far it has come; it decides nothing
// (ADR 0051).
package nameindex

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// oldest is how old the Index may be when it answers.
const oldest = 30 * time.Second

// Index finds names. It is safe for concurrent use.
type Index struct {
	now func() time.Time

	mu      sync.RWMutex
	tables  *tables
	reached [sources]intent.AsOf // how far each source has been applied; zero: the Index was never full
	filling bool                 // a Feed reads everything
	read    int                  // owners that it has read so far
}

// sourceKind is what an Index follows.
type sourceKind int

const (
	ofLifecycles sourceKind = iota
	ofLedgers
	ofSightings
	sources // how many there are
)

// New makes an empty Index, which a Feed has to fill.
func New(now func() time.Time) *Index { return &Index{now: now, tables: newTables()} }

// tables are the entries, and what their state follows from.
type tables struct {
	rows  []*row // ordered by key, but for those that are gone
	added []*row // not in rows yet
	left  bool   // rows has some that are gone
	there int    // rows of all owners

	owners    map[intent.Path]*owner
	endpoints map[endpointKey]*endpoint
	programs  map[programKey]*program
	clusters  map[string]*cluster
	lacks     map[address.Service]address.Lack // of Services that give no address to everybody
	rests     map[intent.Path]rest             // of lifecycles that tell of any
	texts     recent.Texts                     // that repeat
	lists     recent.Memory[string, []string]  // of clusters, that repeat
}

func newTables() *tables {
	return &tables{
		owners: map[intent.Path]*owner{}, endpoints: map[endpointKey]*endpoint{},
		programs: map[programKey]*program{}, clusters: map[string]*cluster{}, lacks: map[address.Service]address.Lack{}, rests: map[intent.Path]rest{},
	}
}

// owner is what publishes host names: a name document or a deployment intent group.
type owner struct {
	path    intent.Path
	project string
	state   intent.State
	message string   // what stands in the way of it; else empty
	drained []string // clusters that are drained, of those that give its public names addresses; shared
	foreign []string // clusters whose Services are another project's; shared
	rows    []*row
	written map[writtenIn]address.Lack // of Services in directories that give no address to everybody; nil: there are none
}

// row is an entry: a host name that an owner publishes through a provider in a scope.
type row struct {
	host string
	gone bool
	*common
}

// common is what a row has in common with others: very many rows of one owner differ in their host names only.
type common struct {
	provider string
	scope    intent.Scope
	of       *owner
	alias    string   // of which a fixed target is the host name; else empty
	sources  []string // of its addresses, ordered; shared with other rows
	from     []*endpoint
	first    [1]*endpoint // where from begins, unless it is long
	fixed    bool         // a document gives its addresses, and no Service does
}

// equals tells whether both give the same in the same way.
func (c *common) equals(other *common) bool {
	return c.provider == other.provider && c.scope == other.scope && c.of == other.of && c.alias == other.alias && c.fixed == other.fixed &&
		slices.Equal(c.sources, other.sources) && slices.Equal(c.from, other.from)
}

// compare orders rows by host name, and then by what else tells them apart.
func (r *row) compare(host string, owner intent.Path, provider string, scope intent.Scope) int {
	if c := strings.Compare(r.host, host); c != 0 {
		return c
	}
	if c := strings.Compare(string(r.of.path), string(owner)); c != 0 {
		return c
	}
	if c := strings.Compare(r.provider, provider); c != 0 {
		return c
	}
	return strings.Compare(string(r.scope), string(scope))
}

func compareRows(a, b *row) int { return a.compare(b.host, b.of.path, b.provider, b.scope) }

// endpointKey is where a DNSEndpoint is.
type endpointKey struct{ cluster, namespace, name string }

// endpoint is what is known of a DNSEndpoint.
type endpoint struct {
	at        *cluster
	by        *program
	service   serviceName // that its addresses are of; empty: of none, or not known
	namespace string
	name      string
	users     int32  // rows that it is one of
	here      bool   // it is in its home, or is on its way there
	applied   uint64 // digest of the object that the cluster has as it is wanted; 0: none
	published uint64 // digest of the object that external-dns has put through; 0: none
	observed  int64  // when its last change was observed, in Unix milliseconds; 0: that is not known
	changed   int64  // when it was last changed in its home, likewise
	refused   string // why the cluster does not have it as it is wanted; else empty
	answers   []answer
}

// answer is what the authoritative servers say of a host name, the worst of its types.
type answer struct {
	host     string
	verified string
	at       int64  // True: of the last change of the answers; else when the servers were asked, 0 if not known; in Unix milliseconds
	why      string // it is not True
}

// programKey is where the Deployment of an external-dns is.
type programKey struct{ cluster, namespace, name string }

// program is what is known of an external-dns.
type program struct {
	known     bool
	available bool
	unread    bool   // it cannot be read what external-dns has synchronized
	why       string // it is not available, or does not synchronize; else empty
}

// cluster is what is known of a cluster.
type cluster struct {
	name      string
	known     bool
	reachable bool
	why       string                // it cannot be reached
	since     time.Time             // it cannot be reached; zero if that is not known
	pending   map[bundle.ID]pending // objects that are not as they are wanted
}

// pending is an object that a cluster does not have as it is wanted.
type pending struct {
	project string      // of an owner; empty: of none
	owner   intent.Path // empty: not of a document that publishes names
	status  ledger.Status
	message string
	since   time.Time
}

func (t *tables) cluster(name string) *cluster {
	c := t.clusters[name]
	if c == nil {
		c = &cluster{name: t.texts.Shared(name), pending: map[bundle.ID]pending{}}
		t.clusters[c.name] = c
	}
	return c
}

func (t *tables) program(key programKey) *program {
	p := t.programs[key]
	if p == nil {
		p = &program{}
		key = programKey{t.texts.Shared(key.cluster), t.texts.Shared(key.namespace), t.texts.Shared(key.name)}
		t.programs[key] = p
	}
	return p
}

func (t *tables) endpoint(key endpointKey) *endpoint {
	e := t.endpoints[key]
	if e == nil {
		e = &endpoint{at: t.cluster(key.cluster), namespace: t.texts.Shared(key.namespace), name: strings.Clone(key.name)}
		t.endpoints[e.key()] = e
	}
	return e
}

func (e *endpoint) key() endpointKey { return endpointKey{e.at.name, e.namespace, e.name} }

// forget drops a DNSEndpoint of which nothing is known and that no row needs.
func (t *tables) forget(e *endpoint) {
	if e.users == 0 && !e.here && e.applied == 0 && e.published == 0 && e.refused == "" && len(e.answers) == 0 {
		delete(t.endpoints, e.key())
	}
}

// settle brings the rows into order.
func (t *tables) settle() {
	if t.left {
		t.rows = slices.DeleteFunc(t.rows, func(r *row) bool { return r.gone })
		t.added = slices.DeleteFunc(t.added, func(r *row) bool { return r.gone })
		t.left = false
	}
	if len(t.added) == 0 {
		return
	}
	slices.SortFunc(t.added, compareRows)
	merged := make([]*row, 0, len(t.rows)+len(t.added))
	old := t.rows
	for _, next := range t.added {
		n, _ := slices.BinarySearchFunc(old, next, compareRows)
		merged = append(append(merged, old[:n]...), next)
		old = old[n:]
	}
	merged = append(merged, old...)
	t.rows, t.added = merged, nil
}

// replace has other tables answer from now on.
func (x *Index) replace(t *tables, revision int64, heard time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tables, x.filling = t, false
	for of := range x.reached {
		x.reached[of] = intent.AsOf{Revision: revision, Time: heard}
	}
}

// fills notes that a Feed reads everything, and has read so many owners.
func (x *Index) fills(read int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.filling, x.read = true, read
}

// Filling tells whether a Feed still reads everything, and how many owners it has read.
func (x *Index) Filling() (read int, filling bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.read, x.filling || x.asOf().Time.IsZero()
}

func (x *Index) change(change func(*tables)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change(x.tables)
	const unordered = 1024 // rows, and a quarter of all, that wait for the next question
	if t := x.tables; len(t.added) > unordered+len(t.rows)/4 {
		t.settle()
	}
}

// reach notes that a source was heard at a time, and that all its changes up to a revision have been applied.
func (x *Index) reach(of sourceKind, revision int64, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reached[of] = intent.AsOf{Revision: max(x.reached[of].Revision, revision), Time: at}
}

// rest notes that the store was at a revision at a time. Of a source that has come so far, nothing is missing.
func (x *Index) rest(revision int64, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for of := range x.reached {
		if x.reached[of].Revision == revision {
			x.reached[of].Time = at
		}
	}
}

// asOf is how far all sources have been applied.
func (x *Index) asOf() intent.AsOf {
	all := x.reached[0]
	for _, one := range x.reached {
		all.Revision = min(all.Revision, one.Revision)
		if one.Time.Before(all.Time) {
			all.Time = one.Time
		}
	}
	all.Time = all.Time.UTC()
	return all
}

// Len is how many entries there are.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.tables.there
}

// Age is how old the Index is; zero before it was filled.
func (x *Index) Age() time.Duration {
	x.mu.RLock()
	defer x.mu.RUnlock()
	heard := x.asOf().Time
	if heard.IsZero() {
		return 0
	}
	return x.now().Sub(heard)
}
