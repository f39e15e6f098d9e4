package ledger_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

const berlin = "edge+berlin"

// site is a ledger with hub known as cluster a at https://a, where an object
// of ours is.
type site struct {
	*ledger.Ledger
	t     *testing.T
	store *kvtest.Fake
	fence kv.Compare
}

func newSite(t *testing.T) *site {
	store := kvtest.NewFake()
	s := &site{Ledger: ledger.New(store), t: t, store: store, fence: own(t, store, hub)}
	require.NoError(t, s.claim(hub, "a", "https://a"))
	require.NoError(t, s.Adopt(t.Context(), s.fence, hub, "a"))
	require.NoError(t, s.Write(t.Context(), s.fence, []ledger.Entry{entry(object())}, nil))
	return s
}

func object() bundle.ID {
	return bundle.ID{Cluster: hub, Kind: "ConfigMap", Namespace: "shop", Name: "a"}
}

func (s *site) claim(cluster, uid, source string) error {
	return s.Claim(s.t.Context(), ledger.Claim{Cluster: cluster, UID: uid, Source: source})
}

func (s *site) empty() {
	require.NoError(s.t, s.Write(s.t.Context(), s.fence, nil, []bundle.ID{object()}))
}

// refused expects a refusal whose message has these parts.
func refused(t *testing.T, err error, double bool, parts ...string) {
	t.Helper()
	var refusal *ledger.Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, double, refusal.Double())
	for _, part := range parts {
		assert.Contains(t, err.Error(), part)
	}
}

func TestSameClusterAtAnotherAddressIsFine(t *testing.T) {
	s := newSite(t)
	require.NoError(t, s.claim(hub, "a", "https://new"))
	refused(t, s.claim(hub, "b", "https://a"), false, "cluster a at https://new")
}

func TestTwoRegistrationsOfOneClusterAreRefused(t *testing.T) {
	s := newSite(t)
	refused(t, s.claim(berlin, "a", "https://alias"), true, "https://alias", "registered as edge+hub already, at https://a")
	require.NoError(t, s.claim(berlin, "b", "https://b"))
}

func TestKubeconfigThatPointsToAnotherClusterIsRefused(t *testing.T) {
	s := newSite(t)
	refused(t, s.claim(hub, "b", "https://b"), false, "https://b answers as cluster b", "edge+hub is cluster a at https://a")
	require.NoError(t, s.claim(berlin, "b", "https://b"), "the refused name has claimed nothing")
	require.NoError(t, s.claim(hub, "a", "https://a"), "and may go back")
}

// TestKubeconfigMayMoveOnWhenNothingIsLeft: and then the cluster that was left
// may be registered under another name.
func TestKubeconfigMayMoveOnWhenNothingIsLeft(t *testing.T) {
	s := newSite(t)
	s.empty()
	require.NoError(t, s.claim(hub, "b", "https://b"))
	require.NoError(t, s.claim(berlin, "a", "https://a"))
	require.NoError(t, s.Reset(t.Context(), s.fence, hub, "b"))
	refused(t, s.claim(hub, "a", "https://a"), true, berlin)
}

// TestWhatComesIntoTheOldClusterMeanwhileHoldsTheName: a worker may still serve
// it for some seconds after the kubeconfig was changed.
func TestWhatComesIntoTheOldClusterMeanwhileHoldsTheName(t *testing.T) {
	s := newSite(t)
	s.empty()
	require.NoError(t, s.claim(hub, "b", "https://b"))
	require.NoError(t, s.Write(t.Context(), s.fence, []ledger.Entry{entry(object())}, nil))
	refused(t, s.claim(hub, "b", "https://b"), false, "edge+hub is cluster a")
}

func TestIntentsAndStrangersHoldNoName(t *testing.T) {
	s := newSite(t)
	s.empty()
	stranger := entry(object())
	stranger.CreatedByUs = false
	require.NoError(t, s.Write(t.Context(), s.fence, []ledger.Entry{stranger}, nil))
	require.NoError(t, s.claim(hub, "b", "https://b"))
}

// TestClusterRebuiltUnderItsOldName: at the same place, another cluster starts
// over, also when its worker ends before it has noted that.
func TestClusterRebuiltUnderItsOldName(t *testing.T) {
	s := newSite(t)
	require.NoError(t, s.claim(hub, "a2", "https://a"))
	require.NoError(t, s.claim(hub, "a2", "https://a"))
	require.NoError(t, s.Reset(t.Context(), s.fence, hub, "a2"))
	require.NoError(t, s.claim(hub, "a2", "https://a"))
	refused(t, s.claim(berlin, "a2", "https://b"), true, hub)
}

func TestNameIsReleasedWhenNothingIsLeft(t *testing.T) {
	s := newSite(t)
	done, err := s.Release(t.Context(), hub)
	require.NoError(t, err)
	require.False(t, done, "an object is left")
	s.empty()
	done, err = s.Release(t.Context(), hub)
	require.NoError(t, err)
	require.True(t, done)
	names, err := s.Claimants(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)
	uid, err := s.Identity(t.Context(), hub)
	require.NoError(t, err)
	require.Empty(t, uid)
	require.NoError(t, s.claim(berlin, "a", "https://a"))
}

func TestOneOfManyNamesGetsACluster(t *testing.T) {
	s := newSite(t)
	names := []string{"edge+c1", "edge+c2", "edge+c3", "edge+c4", "edge+c5", "edge+c6", "edge+c7", "edge+c8"}
	results := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { results[i] = s.claim(name, "b", "https://b") })
	}
	all.Wait()
	won := 0
	for _, err := range results {
		var refusal *ledger.Refusal
		if err == nil {
			won++
		} else {
			require.ErrorAs(t, err, &refusal)
		}
	}
	require.Equal(t, 1, won)
}

// TestTheFirstToClaimHasIt: also when it does so while another is judged.
func TestTheFirstToClaimHasIt(t *testing.T) {
	s := newSite(t)
	once := sync.OnceValue(func() error { return s.claim("edge+first", "b", "https://b") })
	nested := false
	s.store.Before = func(op, _ string) error {
		if op != "txn" || nested {
			return nil
		}
		nested = true
		return once()
	}
	refused(t, s.claim(berlin, "b", "https://b"), true, "registered as edge+first already")
}

func TestClaimThatCannotBeStoredIsNone(t *testing.T) {
	s := newSite(t)
	down := errors.New("no leader")
	for _, operation := range []string{"get", "range", "txn"} {
		s.store.Before = func(op, _ string) error {
			if op == operation {
				return down
			}
			return nil
		}
		require.ErrorIs(t, s.claim(berlin, "b", "https://b"), down, operation)
	}
	s.store.Before = nil
	names, err := s.Claimants(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{hub}, names)
}

// TestClaimBeginsAgainWhenOthersComeInBetween: it is judged anew each time, and
// not for ever.
func TestClaimBeginsAgainWhenOthersComeInBetween(t *testing.T) {
	s := newSite(t)
	meddling := false
	s.store.Before = func(op, _ string) error {
		if op != "txn" || meddling {
			return nil
		}
		meddling = true
		defer func() { meddling = false }()
		return s.Adopt(t.Context(), s.fence, hub, "a")
	}
	require.Equal(t, intent.Unavailable, intent.CodeOf(s.claim(hub, "a", "https://new")))
}

// TestAClaimReadsEntriesOnlyOfAClusterThatWasAnother: there may be very many, and a plan asks.
func TestAClaimReadsEntriesOnlyOfAClusterThatWasAnother(t *testing.T) {
	s := newSite(t)
	read := 0
	s.store.Before = func(_, key string) error {
		if strings.HasPrefix(key, "/signpost/ledger/"+hub+"/") {
			read++
		}
		return nil
	}
	require.NoError(t, s.Judge(t.Context(), ledger.Claim{Cluster: hub, UID: "a", Source: "https://new"}))
	require.NoError(t, s.Judge(t.Context(), ledger.Claim{Cluster: berlin, UID: "b", Source: "https://b"}))
	require.NoError(t, s.claim(hub, "a", "https://a"))
	require.Zero(t, read)
	refused(t, s.Judge(t.Context(), ledger.Claim{Cluster: hub, UID: "b", Source: "https://b"}), false)
	require.Equal(t, 1, read)
}
