package observed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

func answersOf(names int, message string) *observed.Answers {
	a := &observed.Answers{Project: "shop", Record: "lab", Scope: "public"}
	for i := range names {
		a.Names = append(a.Names, observed.NameAnswer{
			Name: fmt.Sprintf("n%d.lab.example", i), Type: "A", Targets: []string{"203.0.113.10"}, Verdict: "Matches", Since: time.Unix(1000, 0).UTC(),
			Answers: []intent.Answer{{Server: "192.0.2.53:53", At: time.Unix(1000, 0).UTC(), Rcode: "NOERROR", Message: message}},
		})
	}
	return a
}

func TestAnswersAreKeptByDNSEndpoint(t *testing.T) {
	fake := kvtest.NewFake()
	w, s := writer(t, fake, hub), observed.New(fake)
	web, other := answersOf(1, ""), answersOf(2, "")
	require.NoError(t, w.SetAnswers(t.Context(), map[string]*observed.Answers{"shop/web": web, "bank/web": other}))

	shop, err := s.Answers(t.Context(), hub, "shop", "web", "other")
	require.NoError(t, err)
	require.Len(t, shop, 1)
	written := shop["web"]
	require.Positive(t, written.Revision, "a reader can tell what was written later")
	written.Revision = 0
	require.Equal(t, *web, written)
	all, err := s.AllAnswers(t.Context(), hub)
	require.NoError(t, err)
	require.Len(t, all, 2)

	before := fake.Revision()
	require.NoError(t, w.SetAnswers(t.Context(), map[string]*observed.Answers{"shop/web": web, "bank/web": answersOf(2, "")}))
	require.Equal(t, before, fake.Revision(), "nothing is written twice")
	require.NoError(t, w.SetAnswers(t.Context(), map[string]*observed.Answers{"bank/web": other}))
	shop, err = s.Answers(t.Context(), hub, "shop", "web")
	require.NoError(t, err)
	require.Empty(t, shop, "what is no longer asked for is forgotten")
}

// TestAnswersFitIntoTheStore: a DNSEndpoint may have many names, and a cluster
// many of them.
func TestAnswersFitIntoTheStore(t *testing.T) {
	fake := kvtest.NewFake()
	w, s := writer(t, fake, hub), observed.New(fake)
	all := map[string]*observed.Answers{"shop/large": answersOf(1000, strings.Repeat("x", 300))}
	for i := range 250 {
		all[fmt.Sprintf("shop/e%d", i)] = answersOf(20, strings.Repeat("x", 300))
	}
	require.NoError(t, w.SetAnswers(t.Context(), all))
	names := []string{"large"}
	for i := range 250 {
		names = append(names, fmt.Sprintf("e%d", i))
	}
	stored, err := s.Answers(t.Context(), hub, "shop", names...)
	require.NoError(t, err)
	require.Len(t, stored, 251)
	require.Len(t, stored["large"].Names, 1000)
	require.Empty(t, stored["large"].Names[0].Answers, "of very many names the verdicts alone are kept")
	require.Len(t, stored["e1"].Names[0].Answers, 1)
}

// TestAnswersThatDoNotFitAreNotKnown: what one group has too much of does not keep
// a cluster's other observations from being written.
func TestAnswersThatDoNotFitAreNotKnown(t *testing.T) {
	fake := kvtest.NewFake()
	w, s := writer(t, fake, hub), observed.New(fake)
	require.NoError(t, w.SetAnswers(t.Context(), map[string]*observed.Answers{"shop/vast": answersOf(12_000, ""), "shop/web": answersOf(1, "")}))
	stored, err := s.Answers(t.Context(), hub, "shop", "vast", "web")
	require.NoError(t, err)
	require.Contains(t, stored, "web")
	require.NotContains(t, stored, "vast")
}
