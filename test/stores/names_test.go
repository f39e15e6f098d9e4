package stores

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
)

var errCrashed = errors.New("the process is dead")

// TestACrashAtAnyStepOfANameOverMongoLosesNothing: before each step that the store takes
// to publish a name, to change it and to delete it, the process dies. The document and its
// release are there together or not at all, and the request can be made again.
func TestACrashAtAnyStepOfANameOverMongoLosesNothing(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	var step func() error
	open := func(options ...mongo.Option) intent.Store {
		store, err := mongo.New(t.Context(), "mongodb://"+server.address+"/names", options...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return names.New(store)
	}
	s := newShop(t, open(mongo.WithSweepAge(0)))
	s.put("projects/shop/dns-update-records/lab", `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},
		"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},"deployOn":{"clusterProvider":"edge","cluster":"berlin"}}`)
	dying := s.over(open(mongo.WithHook(func(string) error { return step() })))
	for n, c := range []struct {
		reason  string
		before  string // spec; empty: there is no name
		request func(on *release.Service, name intent.Path) error
		after   string // spec; empty: it is being deleted
	}{
		{"a new name", "", func(on *release.Service, name intent.Path) error { return s.publish(on, name, first) }, first},
		{"a changed name", first, func(on *release.Service, name intent.Path) error { return s.publish(on, name, second) }, second},
		{"a deleted name", first, func(on *release.Service, name intent.Path) error {
			_, err := on.UnpublishName(t.Context(), name, intent.NameRequest{Confirm: s.token(name), Actor: "ann"})
			return err
		}, ""},
	} {
		last, died := 0, true
		for ; died; last++ {
			name := intent.Path(fmt.Sprintf("projects/shop/names/n%d-%d.lab.example", n, last))
			step = func() error { return nil }
			if c.before != "" {
				require.NoError(t, s.publish(s.service, name, c.before))
			}
			taken := 0
			died = false
			step = func() error {
				taken++
				if died = died || taken > last; died {
					return errCrashed
				}
				return nil
			}
			err := c.request(dying, name)
			require.True(t, died || err == nil, "%s: %v", c.reason, err)
			require.NoError(t, s.documents.Sweep(t.Context()))
			is := s.whole(name)
			require.Contains(t, []string{c.before, c.after}, is, "%s: step %d", c.reason, last)
			require.True(t, err != nil || is == c.after, "%s: step %d was acknowledged", c.reason, last)
			if is != c.after {
				require.NoError(t, c.request(s.service, name), "%s: step %d", c.reason, last)
			}
			require.Equal(t, c.after, s.whole(name))
		}
		require.Greater(t, last, 2, "%s: it takes several steps", c.reason)
	}
}

const (
	first  = `{"addresses":["203.0.113.7"],"provider":"lab"}`
	second = `{"addresses":["203.0.113.8"],"provider":"lab"}`
)

// publish asks for a name as the API does.
func (s *shop) publish(on *release.Service, name intent.Path, spec string) error {
	s.Helper()
	body := json.RawMessage(fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name.Name(), spec))
	r := intent.NameRequest{Next: intent.NameDocument{UID: "uid-of-" + name.Name(), Revision: 1, CreatedAt: time.Now(), UpdatedAt: time.Now(), Body: body}, Actor: "ann"}
	was, err := s.documents.Get(s.Context(), name)
	if intent.CodeOf(err) != intent.NotFound {
		require.NoError(s, err)
		r.Was, r.Next.Revision = &was, was.Revision+1
	}
	_, err = on.PublishName(s.Context(), name, r)
	return err
}

// token confirms that a name is deleted.
func (s *shop) token(name intent.Path) string {
	s.Helper()
	p, err := s.service.Plan(s.Context(), name, intent.Terminate, 0)
	require.NoError(s, err)
	return p.Token
}

// whole is the spec that a name has and that its release was made of, empty if it has none
// or is being deleted.
func (s *shop) whole(name intent.Path) string {
	s.Helper()
	l := s.lifecycle(name)
	doc, err := s.documents.Get(s.Context(), name)
	if !l.Deployed() {
		require.True(s, l.Seq > 0 || intent.CodeOf(err) == intent.NotFound)
		return ""
	}
	require.NoError(s, err)
	var stored struct{ Spec json.RawMessage }
	require.NoError(s, json.Unmarshal(doc.Body, &stored))
	made, err := s.service.Store.LoadRelease(s.Context(), l.ContextID)
	require.NoError(s, err)
	var spec intent.Name
	require.NoError(s, json.Unmarshal(stored.Spec, &spec))
	require.Equal(s, spec.Addresses, made.Group.Bindings[0].Hosts[0].Targets)
	return string(stored.Spec)
}
