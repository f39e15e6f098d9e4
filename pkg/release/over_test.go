package release_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/documents/overlay"
)

// TestAPlanOverDocumentsIsThatOfTheStoredOnes but for its token; nothing is written for it.
func TestAPlanOverDocumentsIsThatOfTheStoredOnes(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		path       intent.Path
		body       string
		references []intent.Path
	}{
		"another name":            {www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"],"ttl":7}`, nil},
		"a name that nobody owns": {www(prod), `{"app":"web","serviceName":"web","hostnames":["www.nobody.example"]}`, nil},
		"one cluster less":        {prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`, []intent.Path{eu}},
		"another provider":        {lab, record("corp.example", ``), nil},
		"nothing":                 {shop, `{"namespace":"shop-dns"}`, nil},
	} {
		w := running(t)
		before := w.keys()
		stored, err := w.documents.Get(t.Context(), c.path)
		require.NoError(t, err)
		over := overlay.New(w.documents)
		_, err = over.Put(t.Context(), intent.Write{Path: c.path, Body: []byte(`{"metadata":{"name":"` + c.path.Name() + `"},"spec":` + c.body + `}`), Refs: stored.Refs})
		require.NoError(t, err)
		draft := w.service.Over(over)
		planned, err := draft.Plan(ann(prod), prod, "", 0)
		require.NoError(t, err, reason)
		record, err := draft.PlanRecord(ann(lab), lab, "")
		require.NoError(t, err, reason)
		require.Equal(t, before, w.keys(), reason)

		w.put(c.path, c.body, c.references...)
		want := w.plan(prod, "")
		wantRecord, err := w.service.PlanRecord(ann(lab), lab, "")
		require.NoError(t, err)
		planned.Token, want.Token, record.Token, wantRecord.Token = "", "", "", ""
		require.Equal(t, want, planned, reason)
		require.Equal(t, wantRecord, record, reason)
	}
}

// TestAPlanOverDocumentsSaysThatItDoesNotKnowAddresses: it asks no cluster for Services that nobody has observed. A name
// without targets is not left without a reason.
func TestAPlanOverDocumentsSaysThatItDoesNotKnowAddresses(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.options.Live = liveState{service: func(address.Service) (*address.Observation, error) {
		t.Error("a cluster is asked")
		return nil, errors.New("no answer")
	}}
	w.restartOn(w.fake)
	draft := w.service.Over(overlay.New(w.documents))
	plan, err := draft.PlanName(t.Context(), bakery, w.request(bakery, `{"service":"shop/other","clusters":["edge/berlin"],"provider":"lab"}`))
	require.NoError(t, err)
	require.Empty(t, plan.Errors)
	require.Contains(t, plan.Warnings, "the addresses of Service shop/other on edge+berlin are not known yet, so the plan does not show them; they are published once Signpost has observed the Service there")
}

// TestAPlanOverDocumentsAsksNoDNSServers: its documents may name any.
func TestAPlanOverDocumentsAsksNoDNSServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.LookupExisting = func(context.Context, string, externaldns.InDNS, []netip.AddrPort) (verify.Holding, error) {
		return verify.Holding{}, errors.New("it was asked")
	}
	require.NotNil(t, release.New(w.options).LookupExisting)
	require.Nil(t, release.New(w.options).Over(w.documents).LookupExisting)
}
