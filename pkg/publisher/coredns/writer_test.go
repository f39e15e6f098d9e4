package coredns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd/etcdtest"
)

func TestMain(m *testing.M) { etcdtest.Main(m) }

// counting counts the requests that a Writer makes, and can crash before or after a write.
type counting struct {
	clientv3.KV
	txns, gets, writes atomic.Int64
	crash              string
}

var errCrash = errors.New("crashed")

func (c *counting) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	c.gets.Add(1)
	return c.KV.Get(ctx, key, opts...)
}

func (c *counting) Txn(ctx context.Context) clientv3.Txn {
	c.txns.Add(1)
	return &countedTxn{Txn: c.KV.Txn(ctx), c: c}
}

type countedTxn struct {
	clientv3.Txn
	c     *counting
	write bool
}

func (t *countedTxn) If(cs ...clientv3.Cmp) clientv3.Txn { t.Txn = t.Txn.If(cs...); return t }

func (t *countedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	for _, op := range ops {
		t.write = t.write || !op.IsGet()
	}
	t.Txn = t.Txn.Then(ops...)
	return t
}

func (t *countedTxn) Commit() (*clientv3.TxnResponse, error) {
	if t.write {
		t.c.writes.Add(1)
	}
	if t.write && t.c.crash == "before" {
		return nil, errCrash
	}
	answer, err := t.Txn.Commit()
	if t.write && t.c.crash == "after" {
		return nil, errCrash
	}
	return answer, err
}

type scene struct {
	*testing.T
	etcd  *etcdtest.Process
	w     *Writer
	count *counting
}

func settings(urls string, parameters externaldns.Parameters) publisher.Settings {
	var dialer net.Dialer
	return publisher.Settings{
		Provider: "coredns", Owner: "signpost-1", Parameters: parameters, Environment: map[string]string{"ETCD_URLS": urls},
		Dial: func(ctx context.Context, network, address, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
	}
}

func begin(t *testing.T, parameters externaldns.Parameters) *scene {
	t.Helper()
	p := etcdtest.Start(t)
	s := &scene{T: t, etcd: p}
	return s.open(parameters)
}

func (s *scene) open(parameters externaldns.Parameters) *scene {
	s.Helper()
	w, err := Open(settings(s.etcd.Client.Endpoints()[0], parameters))
	require.NoError(s, err)
	s.Cleanup(w.Close)
	s.w, s.count = w, &counting{KV: w.client.KV}
	w.client.KV = s.count
	return s
}

func (s *scene) read(name string) publisher.State {
	s.Helper()
	states, err := s.w.Read(s.Context(), []string{name})
	require.NoError(s, err)
	return states[name]
}

func (s *scene) write(name string, after ...publisher.Set) error {
	s.Helper()
	return s.w.Write(s.Context(), publisher.Change{Before: s.read(name), After: after})
}

func (s *scene) put(key, value string) {
	s.Helper()
	_, err := s.etcd.Client.Put(s.Context(), key, value)
	require.NoError(s, err)
}

// all are the keys and values of the whole etcd below /skydns, in order.
func (s *scene) all() map[string]string {
	s.Helper()
	got, err := s.etcd.Client.Get(s.Context(), "/skydns/", clientv3.WithPrefix())
	require.NoError(s, err)
	all := map[string]string{}
	for _, pair := range got.Kvs {
		all[string(pair.Key)] = string(pair.Value)
	}
	return all
}

func set(name, kind string, ttl int64, targets ...string) publisher.Set {
	return publisher.Set{Name: name, Type: kind, TTL: ttl, Targets: targets, Mark: publisher.Mark{Resource: publisher.Resource("shop", "www")}}
}

// TestKeysAndValuesAreThoseOfExternalDNS follows one name from its first address to its removal.
func TestKeysAndValuesAreThoseOfExternalDNS(t *testing.T) {
	s := begin(t, nil)
	const name = "www.lab.example"
	one, two := keyOf("/skydns/", name, "A", "192.0.2.1"), keyOf("/skydns/", name, "A", "192.0.2.2")
	marked := keyOf("/skydns/", "a-www.lab.example", "TXT", "mark")
	assert.Regexp(t, `^/skydns/example/lab/www/[0-7][0-9a-f]{7}$`, one)
	assert.Regexp(t, `^/skydns/example/lab/a-www/[0-7][0-9a-f]{7}$`, marked)
	markValue := `{"text":"\"heritage=external-dns,external-dns/owner=signpost-1,external-dns/resource=crd/shop/www\"","targetstrip":1}`

	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.1")))
	assert.Equal(t, map[string]string{one: `{"host":"192.0.2.1","ttl":60,"targetstrip":1}`, marked: markValue}, s.all())
	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.2", "192.0.2.1")))
	assert.Equal(t, map[string]string{
		one: `{"host":"192.0.2.1","ttl":60,"targetstrip":1}`, two: `{"host":"192.0.2.2","ttl":60,"targetstrip":1}`, marked: markValue,
	}, s.all())
	require.NoError(t, s.write(name, set(name, "A", 30, "192.0.2.2")))
	assert.Equal(t, map[string]string{two: `{"host":"192.0.2.2","ttl":30,"targetstrip":1}`, marked: markValue}, s.all())

	state := s.read(name)
	require.Len(t, state.Sets, 1)
	assert.Equal(t, publisher.Set{
		Name: name, Type: "A", Targets: []string{"192.0.2.2"}, TTL: 30, Mark: publisher.Mark{Owner: "signpost-1", Resource: "crd/shop/www"},
	}, state.Sets[0])
	require.NoError(t, s.write(name))
	assert.Empty(t, s.all())
}

// TestAChangeIsOneWriteAndReadsNoZone counts the requests of a change beside 2,000 other names.
func TestAChangeIsOneWriteAndReadsNoZone(t *testing.T) {
	s := begin(t, nil)
	const name = "www.lab.example"
	for n := range 20 {
		var ops []clientv3.Op
		for i := range 100 {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("/skydns/example/lab/n%d/1", n*100+i), `{"host":"192.0.2.9","targetstrip":1}`))
		}
		_, err := s.etcd.Client.Txn(t.Context()).Then(ops...).Commit()
		require.NoError(t, err)
	}
	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.1")))
	s.count.txns.Store(0)
	s.count.writes.Store(0)
	before := len(s.all())
	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.2")))
	assert.Equal(t, int64(2), s.count.txns.Load(), "one read and one write")
	assert.Equal(t, int64(1), s.count.writes.Load())
	assert.Zero(t, s.count.gets.Load(), "no further page is read")
	assert.Len(t, s.all(), before)
	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.2")))
	assert.Equal(t, int64(1), s.count.writes.Load(), "what is as it should be is not written")
}

// TestASuspendedWriterCannotWriteOverItsSuccessor has a second change that was read before the first one was
// written, for each kind of first change.
func TestASuspendedWriterCannotWriteOverItsSuccessor(t *testing.T) {
	const name = "www.lab.example"
	for reason, first := range map[string][]publisher.Set{
		"another address":  {set(name, "A", 60, "192.0.2.2")},
		"one more address": {set(name, "A", 60, "192.0.2.1", "192.0.2.2")},
		"another TTL":      {set(name, "A", 30, "192.0.2.1")},
		"removed":          nil,
	} {
		t.Run(reason, func(t *testing.T) {
			s := begin(t, nil)
			require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.1")))
			suspended := s.read(name)
			require.NoError(t, s.write(name, first...))
			before := s.all()
			err := s.w.Write(t.Context(), publisher.Change{Before: suspended, After: []publisher.Set{set(name, "A", 60, "192.0.2.1", "192.0.2.3")}})
			require.Equal(t, fault.Stale, fault.Of(err), "%v", err)
			assert.Equal(t, before, s.all())
		})
	}
	t.Run("two that begin", func(t *testing.T) {
		s := begin(t, nil)
		suspended := s.read(name)
		require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.1")))
		err := s.w.Write(t.Context(), publisher.Change{Before: suspended, After: []publisher.Set{set(name, "A", 60, "192.0.2.3")}})
		require.Equal(t, fault.Stale, fault.Of(err), "%v", err)
	})
}

func TestNamesOfOthersStay(t *testing.T) {
	const name = "www.lab.example"
	for reason, keys := range map[string]map[string]string{
		"without a mark":             {"/skydns/example/lab/www/1": `{"host":"192.0.2.9","targetstrip":1}`},
		"without a mark, and nested": {"/skydns/example/lab/www": `{"host":"192.0.2.9"}`},
		"of another owner": {
			"/skydns/example/lab/www/1":   `{"host":"192.0.2.9","targetstrip":1}`,
			"/skydns/example/lab/a-www/1": `{"text":"heritage=external-dns,external-dns/owner=other","targetstrip":1}`,
		},
		"of another type":         {"/skydns/example/lab/www/1": `{"host":"else.example","targetstrip":1}`},
		"a mark of another owner": {"/skydns/example/lab/a-www/1": `{"text":"heritage=external-dns,external-dns/owner=other","targetstrip":1}`},
	} {
		t.Run(reason, func(t *testing.T) {
			s := begin(t, nil)
			for key, value := range keys {
				s.put(key, value)
			}
			err := s.write(name, set(name, "A", 60, "192.0.2.1"))
			require.Equal(t, publisher.Foreign, fault.Of(err), "%v", err)
			assert.Equal(t, keys, s.all())
			require.NoError(t, s.write(name), "removing what was never ours removes nothing")
			assert.Equal(t, keys, s.all())
		})
	}
}

// TestSiblingsAndNamesBelowAreNeverTouched removes a name whose key is the beginning of others.
func TestSiblingsAndNamesBelowAreNeverTouched(t *testing.T) {
	s := begin(t, nil)
	const name = "www.lab.example"
	require.NoError(t, s.write(name, set(name, "A", 60, "192.0.2.1")))
	others := map[string]string{
		"/skydns/example/lab/www2/1":            `{"host":"192.0.2.8","targetstrip":1}`,
		"/skydns/example/lab/www/below/1":       `{"host":"192.0.2.7","targetstrip":1}`,
		keyOf("/skydns/", name, "A", "x") + "9": `{"host":"192.0.2.6"}`,
	}
	for key, value := range others {
		s.put(key, value)
	}
	require.Len(t, s.read(name).Sets, 1)
	assert.Equal(t, []string{"192.0.2.1"}, s.read(name).Sets[0].Targets, "a key below is of another name")
	require.NoError(t, s.write(name))
	assert.Equal(t, others, s.all())
}

// TestANameWithManyBelowItIsReadInPages has more names directly below than one page holds.
func TestANameWithManyBelowItIsReadInPages(t *testing.T) {
	s := begin(t, nil)
	const name = "lab.example"
	for n := range 150 {
		s.put(fmt.Sprintf("/skydns/example/lab/n%03d/1", n), `{"host":"192.0.2.9","targetstrip":1}`)
	}
	s.put("/skydns/example/lab/zzzzzzzz", `{"host":"192.0.2.1","targetstrip":1}`)
	require.Equal(t, []string{"192.0.2.1"}, s.read(name).Sets[0].Targets)
	assert.Positive(t, s.count.gets.Load())
}

// TestANameWithTooManyBelowItIsTold, and the others of the read are read.
func TestANameWithTooManyBelowItIsTold(t *testing.T) {
	s := begin(t, nil)
	require.NoError(t, s.write("www.lab.example", set("www.lab.example", "A", 60, "192.0.2.1")))
	var ops []clientv3.Op
	for n := range page*pages + 1 {
		ops = append(ops, clientv3.OpPut(fmt.Sprintf("/skydns/example/crowd/n%04d", n), `{"host":"192.0.2.9","targetstrip":1}`))
	}
	for part := range slices.Chunk(ops, mostKeys) {
		_, err := s.etcd.Client.Txn(t.Context()).Then(part...).Commit()
		require.NoError(t, err)
	}
	states, err := s.w.Read(t.Context(), []string{"crowd.example", "www.lab.example"})
	require.Len(t, states, 1)
	require.Len(t, states["www.lab.example"].Sets, 1)
	var unread publisher.Unread
	require.ErrorAs(t, err, &unread)
	require.Len(t, unread, 1)
	require.ErrorContains(t, unread["crowd.example"], "more than 2048 keys stand below /skydns/example/crowd")
	require.Equal(t, publisher.Invalid, fault.Of(err))
}

// TestACrashAtTheWriteLeavesTheNameWholeAndOwn crashes before and after the write of each kind of change. The
// next writer completes it, and nothing of a half is ever there.
func TestACrashAtTheWriteLeavesTheNameWholeAndOwn(t *testing.T) {
	const name = "www.lab.example"
	changes := [][]publisher.Set{
		{set(name, "A", 60, "192.0.2.1")}, {set(name, "A", 60, "192.0.2.2")}, {set(name, "CNAME", 60, "else.example")},
		{set(name, "A", 60, "192.0.2.1"), set(name, "AAAA", 60, "2001:db8::1")}, nil,
	}
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			s := begin(t, nil)
			for n, change := range changes {
				held := s.all()
				s.count.crash = when
				err := s.write(name, change...)
				require.ErrorIs(t, err, errCrash)
				var failed *fault.Error
				require.ErrorAs(t, err, &failed)
				assert.Equal(t, fault.Unreachable, failed.Fault, "nobody knows yet whether it was written")
				if when == "before" {
					require.Equal(t, held, s.all())
				}
				s.open(nil)
				require.NoError(t, s.write(name, change...))
				require.Equal(t, when == "after", s.count.writes.Load() == 0, "change %d: what was written before the crash is known as own", n)
			}
			assert.Empty(t, s.all())
		})
	}
}

// TestAnIntendedNameWithoutItsMarkIsOwn has a record whose mark is missing: own if its intent was recorded, else
// a stranger's.
func TestAnIntendedNameWithoutItsMarkIsOwn(t *testing.T) {
	s := begin(t, nil)
	const name = "www.lab.example"
	intended := set(name, "A", 60, "192.0.2.1")
	s.put("/skydns/example/lab/www/1", `{"host":"192.0.2.1","ttl":60,"targetstrip":1}`)
	change := publisher.Change{Before: s.read(name), After: []publisher.Set{set(name, "A", 60, "192.0.2.2")}}
	require.Equal(t, publisher.Foreign, fault.Of(s.w.Write(t.Context(), change)))
	change.Intended = []publisher.Set{set(name, "A", 60, "192.0.2.7")}
	require.Equal(t, publisher.Foreign, fault.Of(s.w.Write(t.Context(), change)), "another intent says nothing")
	change.Intended = []publisher.Set{intended}
	require.NoError(t, s.w.Write(t.Context(), change))
	assert.Equal(t, "signpost-1", s.read(name).Sets[0].Mark.Owner)
	assert.Equal(t, []string{"192.0.2.2"}, s.read(name).Sets[0].Targets)
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for reason, c := range map[string]struct {
		change func(*publisher.Settings)
		fault  fault.Kind
		says   string
	}{
		"no server":        {func(s *publisher.Settings) { s.Environment = nil }, publisher.Invalid, "ETCD_URLS is missing"},
		"another scheme":   {func(s *publisher.Settings) { s.Environment["ETCD_URLS"] = "ftp://x" }, publisher.Invalid, "has to begin with"},
		"no owner":         {func(s *publisher.Settings) { s.Owner = "" }, publisher.Invalid, "owner id"},
		"another registry": {func(s *publisher.Settings) { s.Parameters = externaldns.Parameters{"registry": "noop"} }, publisher.Invalid, "registry txt"},
		"a missing file": {func(s *publisher.Settings) {
			s.Environment["ETCD_URLS"], s.Environment["ETCD_CA_FILE"] = "https://etcd.example:2379", "/etc/hostname"
		}, publisher.Invalid, "/etc/hostname"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := settings("http://192.0.2.1:2379", nil)
			c.change(&s)
			_, err := Open(s)
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			assert.ErrorContains(t, err, c.says)
		})
	}
	t.Run("a forbidden address", func(t *testing.T) {
		s := settings("http://127.0.0.1:1", nil)
		s.Dial = func(context.Context, string, string, string) (net.Conn, error) {
			return nil, fault.Errorf(publisher.Forbidden, "127.0.0.1:1 is a loopback address")
		}
		w, err := Open(s)
		require.NoError(t, err)
		t.Cleanup(w.Close)
		ctx, cancel := context.WithCancelCause(t.Context())
		w.dialed.told = func(error) { cancel(nil) }
		_, err = w.Read(ctx, []string{"www.lab.example"})
		require.Equal(t, publisher.Forbidden, fault.Of(err), "%v", err)
		assert.ErrorContains(t, err, "loopback address")
	})
}
