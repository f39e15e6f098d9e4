package syncer

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// wanting is a context that asks for Services of a cluster.
func wanting(cluster string, services ...string) appcontext.Context {
	return appcontext.Context{Services: map[string][]string{cluster: services}}
}

func (s *scene) offered(cluster, name string) *observed.Service {
	s.t.Helper()
	seen, err := s.observed.Service(s.t.Context(), address.Service{Cluster: cluster, Namespace: "shop", Name: name})
	require.NoError(s.t, err)
	return seen
}

// TestAChangedServiceIsLookedAtAlone: an observer looks at as many Services for one that has changed beside 20 others as
// beside 400.
func TestAChangedServiceIsLookedAtAlone(t *testing.T) {
	t.Parallel()
	looks := map[int]map[string]int{}
	for _, others := range []int{20, 400} {
		looks[others] = map[string]int{}
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t, berlin)
			f := s.clusters[berlin]
			_, stop := s.start("a")
			defer stop()
			var many []string
			for n := range others {
				f.SetService("shop", fmt.Sprint("other", n), offer("203.0.113.9"))
				many = append(many, fmt.Sprint("shop/other", n))
			}
			f.SetService("shop", "web", offer("203.0.113.10"))
			f.SetService("shop", "api", offer("203.0.113.20"))
			s.commitWith("many", wanting(berlin, many...))
			s.commitWith("dig", wanting(berlin, "shop/web"))
			time.Sleep(time.Minute)
			measure := func(what string, do func()) {
				f.Forget()
				do()
				time.Sleep(time.Minute)
				looks[others][what] = f.Sought()
			}
			measure("nothing", func() {})
			measure("another address", func() { f.SetService("shop", "web", offer("203.0.113.11")) })
			require.Equal(t, "203.0.113.11", s.offered(berlin, "web").Candidates[0].Target)
			measure("an owner that asks for one more", func() { s.commitWith("dig", wanting(berlin, "shop/web", "shop/api")) })
			require.NotNil(t, s.offered(berlin, "api"))
			measure("an owner that asks for one less", func() { s.commitWith("dig", wanting(berlin, "shop/api")) })
			require.Nil(t, s.offered(berlin, "web"))
			measure("an owner that goes", func() { s.commit("dig") })
			require.Nil(t, s.offered(berlin, "api"))
		})
	}
	assert.Equal(t, looks[20], looks[400])
	assert.Zero(t, looks[20]["nothing"])
	assert.Equal(t, 1, looks[20]["another address"])
}

// TestAServiceThatNobodyTellsOfIsSeen within half an hour.
func TestAServiceThatNobodyTellsOfIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, berlin)
		f := s.clusters[berlin]
		_, stop := s.start("a")
		defer stop()
		f.SetService("shop", "web", offer("203.0.113.10"))
		s.commitWith("dig", wanting(berlin, "shop/web"))
		time.Sleep(time.Minute)
		f.Move("shop", "web", offer("203.0.113.11"))
		time.Sleep(31 * time.Minute)
		require.Equal(t, "203.0.113.11", s.offered(berlin, "web").Candidates[0].Target)
		require.InDelta(t, 1, s.metric("signpost_sync_resync_found_total"), 0)
		f.SetService("shop", "web", offer("203.0.113.12"))
		time.Sleep(31 * time.Minute)
		require.InDelta(t, 1, s.metric("signpost_sync_resync_found_total"), 0, "what is told of is not counted")
	})
}
