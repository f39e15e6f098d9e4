package coredns

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// TestKeysAreListedAsNames: those of external-dns, those that people write, and no others.
func TestKeysAreListedAsNames(t *testing.T) {
	s := begin(t, nil)
	require.NoError(t, s.write("own.lab.example", set("own.lab.example", "A", 60, "192.0.2.1", "192.0.2.2")))
	for key, value := range map[string]string{
		"/skydns/example/lab/www/1234":       `{"host":"192.0.2.3","ttl":30,"targetstrip":1}`,
		"/skydns/example/lab/a-www/5678":     `{"text":"\"heritage=external-dns,external-dns/owner=legacy\"","targetstrip":1}`,
		"/skydns/example/lab/hand":           `{"host":"2001:db8::1"}`,
		"/skydns/example/lab/alias":          `{"host":"else.example"}`,
		"/skydns/example/lab/text/1":         `{"text":"hello","targetstrip":1}`,
		"/skydns/example/lab/text/2":         `{"text":"again","targetstrip":1}`,
		"/skydns/example/lab/broken":         `{`,
		"/skydns/example/lab/stripped/blank": `{"host":"192.0.2.9","targetstrip":9}`,
		"/other/example/lab/www":             `{"host":"192.0.2.9"}`,
	} {
		s.put(key, value)
	}
	sets, err := s.w.List(t.Context(), 100)
	require.NoError(t, err)
	assert.ElementsMatch(t, []publisher.Set{
		{Name: "own.lab.example", Type: "A", Targets: []string{"192.0.2.1", "192.0.2.2"}, TTL: 60, Mark: publisher.Mark{Owner: "signpost-1", Resource: "crd/shop/www"}},
		{Name: "www.lab.example", Type: "A", Targets: []string{"192.0.2.3"}, TTL: 30, Mark: publisher.Mark{Owner: "legacy"}},
		{Name: "hand.lab.example", Type: "AAAA", Targets: []string{"2001:db8::1"}, TTL: 300},
		{Name: "alias.lab.example", Type: "CNAME", Targets: []string{"else.example."}, TTL: 300},
		{Name: "text.lab.example", Type: "TXT", Targets: []string{`"hello"`, `"again"`}, TTL: 300},
	}, sets)
}

// TestAListHasAllPagesOrIsRefused: more keys than one request has, and more than are read.
func TestAListHasAllPagesOrIsRefused(t *testing.T) {
	s := begin(t, nil)
	const names = 2500
	s.fill(names)
	sets, err := s.w.List(t.Context(), names)
	require.NoError(t, err)
	require.Len(t, sets, names)
	_, err = s.w.List(t.Context(), names-1)
	require.Equal(t, publisher.Invalid, fault.Of(err))
	require.ErrorContains(t, err, "more than 2499 keys, or more than 64 MiB, stand below /skydns/")
}

// TestLargeValuesAreReadInSmallPages, and no more of them than their limit in bytes.
func TestLargeValuesAreReadInSmallPages(t *testing.T) {
	s := begin(t, nil)
	value := strings.Repeat("x", 1<<20)
	s.put("/skydns/example/lab/z", `{"host":"192.0.2.1"}`)
	put := func(from, to int) {
		for n := from; n < to; n++ {
			s.put(fmt.Sprintf("/skydns/example/lab/n%d", n), value)
		}
	}
	const fit = publisher.MostListedMiB - 1 // as each has a key, too
	put(0, fit)
	sets, err := s.w.List(t.Context(), 1000)
	require.NoError(t, err)
	require.Len(t, sets, 1, "the last key")
	require.Greater(t, s.count.gets.Load(), int64(fit), "no answer has more than one of them and longestAnswer")
	put(fit, fit+1)
	_, err = s.w.List(t.Context(), 1000)
	require.Equal(t, publisher.Invalid, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "or more than 64 MiB, stand below /skydns/")
}

// changing changes keys behind the first page of a list.
type changing struct {
	clientv3.KV
	change func()
}

func (c *changing) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	got, err := c.KV.Get(ctx, key, opts...)
	if c.change != nil {
		c.change()
		c.change = nil
	}
	return got, err
}

// TestAListIsOfOneTime, although keys change while it is read.
func TestAListIsOfOneTime(t *testing.T) {
	s := begin(t, nil)
	const names = 2500 // more than two pages have
	s.fill(names)
	s.w.client.KV = &changing{KV: s.w.client.KV, change: func() { s.put("/skydns/example/lab/z", `{"host":"192.0.2.1"}`) }}
	sets, err := s.w.List(t.Context(), 2*names)
	require.NoError(t, err)
	require.Len(t, sets, names)
}

// fill puts so many names, by hundreds.
func (s *scene) fill(names int) {
	s.Helper()
	for n := 0; n < names; n += 100 {
		var puts []clientv3.Op
		for m := n; m < n+100; m++ {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("/skydns/example/lab/n%d", m), `{"host":"192.0.2.1"}`))
		}
		_, err := s.etcd.Client.Txn(s.Context()).Then(puts...).Commit()
		require.NoError(s, err)
	}
}
