package publishers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// TestAProviderHasOnePlace of those that read zones, so another finds one free.
func TestAProviderHasOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := NewPlaces()
		leave, err := places.enter(t.Context(), bundle.Publisher{OwnerID: "one"})
		require.NoError(t, err)
		waiting, cancel := context.WithTimeout(t.Context(), listWithin)
		defer cancel()
		_, err = places.enter(waiting, bundle.Publisher{OwnerID: "one", Interval: time.Minute})
		require.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
		require.ErrorContains(t, err, "try again soon")
		_, err = places.enter(t.Context(), bundle.Publisher{OwnerID: "two"})
		require.NoError(t, err)
		third, cancel := context.WithTimeout(t.Context(), listWithin)
		defer cancel()
		_, err = places.enter(third, bundle.Publisher{OwnerID: "three"})
		require.Equal(t, fault.Unreachable, fault.Of(err), "no more zones are read at once")
		leave()
		_, err = places.enter(t.Context(), bundle.Publisher{OwnerID: "one"})
		require.NoError(t, err)
	})
}

// silent is a Writer whose server never sends its zone.
type silent struct {
	publisher.Writer
	asked int
}

func (s *silent) Owned(ctx context.Context) ([]publisher.Set, error) {
	s.asked++
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAProjectHasOnePlaceForItsRequests, however many of its providers are silent.
func TestAProjectHasOnePlaceForItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := NewPlaces()
		leave, err := places.request(t.Context(), "shop", bundle.Publisher{OwnerID: "one"})
		require.NoError(t, err)
		waiting, cancel := context.WithTimeout(t.Context(), listWithin)
		defer cancel()
		_, err = places.request(waiting, "shop", bundle.Publisher{OwnerID: "two"})
		require.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
		other, err := places.request(t.Context(), "bank", bundle.Publisher{OwnerID: "three"})
		require.NoError(t, err, "the other place is another project's")
		late, end := context.WithTimeout(t.Context(), listWithin)
		defer end()
		_, err = places.request(late, "farm", bundle.Publisher{OwnerID: "four"})
		require.Equal(t, fault.Unreachable, fault.Of(err), "no more zones are read at once")
		leave()
		leave, err = places.request(t.Context(), "shop", bundle.Publisher{OwnerID: "two"})
		require.NoError(t, err, "what failed has given its share back")
		leave()
		other()
	})
}

// TestChecksLeaveAPlaceToRequests, however many providers are checked.
func TestChecksLeaveAPlaceToRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places, server := NewPlaces(), &silent{}
		ctx, cancel := context.WithCancel(t.Context())
		for _, owner := range []string{"one", "two"} {
			go func() { _, _ = checked{server, bundle.Publisher{OwnerID: owner}, places}.Owned(ctx) }()
		}
		synctest.Wait()
		require.Equal(t, 1, server.asked)
		leave, err := places.enter(t.Context(), bundle.Publisher{OwnerID: "three"})
		require.NoError(t, err)
		late, end := context.WithTimeout(t.Context(), listWithin)
		defer end()
		_, err = places.enter(late, bundle.Publisher{OwnerID: "four"})
		require.Equal(t, fault.Unreachable, fault.Of(err), "the check has the other place")
		leave()
		cancel()
		synctest.Wait()
		require.Equal(t, 1, server.asked, "the second was given up while it waited")
	})
}
