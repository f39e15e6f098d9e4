package api_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// released are real releases over the stores of a world, as far as names go.
type released struct {
	service.Lifecycle

	releases *release.Service
}

func (r released) Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error) {
	return r.releases.Plan(ctx, owner, action, to)
}

func (r released) ReadAhead(ctx context.Context, name intent.Path) (context.Context, func(), error) {
	return r.releases.ReadAhead(ctx, name)
}

func (r released) PlanName(ctx context.Context, name intent.Path, request intent.NameRequest) (intent.Plan, error) {
	return r.releases.PlanName(ctx, name, request)
}

func (r released) PublishName(ctx context.Context, name intent.Path, request intent.NameRequest) (intent.NamePublished, error) {
	return r.releases.PublishName(ctx, name, request)
}

func (r released) UnpublishName(ctx context.Context, name intent.Path, request intent.NameRequest) (intent.Accepted, error) {
	return r.releases.UnpublishName(ctx, name, request)
}

func releaseNames(t *testing.T, store intent.Store, kv *kvtest.Fake) released {
	doc, err := openapi.Load()
	require.NoError(t, err)
	releases := release.New(release.Options{
		NamespaceHolder: admission.New(store, review.Rules{}).NamespaceHolder, Documents: store, KV: kv, Contexts: appcontext.NewStore(kv, time.Now), Ledger: ledger.New(kv), Observed: observed.New(kv),
		Installation: "k7wq2m9xhdr4", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	return released{Lifecycle: &lifecycle{store: store, doc: doc}, releases: releases}
}

func (r released) NameReport(ctx context.Context, name intent.Path) (intent.NameReport, error) {
	snapshot, err := r.releases.Snapshot(ctx, name)
	return status.OfName(snapshot), err
}

const (
	wwwShop  = "/v2/projects/shop/names/www.lab.example"
	wwwFixed = `{"metadata":{"name":"www.lab.example"},"spec":{"addresses":["203.0.113.7"]}}`
	wwwAlias = `{"metadata":{"name":"www.lab.example"},"spec":{"cname":"www.elsewhere.example","ttl":60}}`
)

// newNames is a world with what a name needs: a project, a cluster and a provider.
func newNames(t *testing.T, options ...func(*api.Options)) *world {
	kv := kvtest.NewFake()
	store := names.New(etcd.New(kv))
	w := newWorld(t, func(o *api.Options) {
		o.Store, o.Admitter, o.Sealer, o.Lifecycle = store, admission.New(store, review.Rules{}), &sealer{store: store}, releaseNames(t, store, kv)
		for _, option := range options {
			option(o)
		}
	})
	for _, document := range [][2]string{
		{"projects", `{"metadata":{"name":"shop"},"spec":{}}`},
		{"cluster-providers", `{"metadata":{"name":"edge"},"spec":{}}`},
		{"cluster-providers/edge/clusters", `{"metadata":{"name":"hub"},"spec":{"directory":"hub"}}`},
		{"projects/shop/dns-update-records", `{"metadata":{"name":"lab"},"spec":{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"]},
			"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}}`},
	} {
		w.send(http.MethodPost, "/v2/"+document[0], document[1]).want(http.StatusCreated)
	}
	return w
}

// TestTheLifeOfANameByHTTP from the first PUT until it is deleted, with entity tags as
// everywhere.
func TestTheLifeOfANameByHTTP(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	made := w.send(http.MethodPut, wwwShop, wwwFixed).want(http.StatusCreated)
	require.Equal(t, wwwShop, made.Header().Get("Location"))
	require.Equal(t, "lab", made.json()["spec"].(map[string]any)["provider"], "the only provider that serves the name")
	changes := made.json()["status"].(map[string]any)["changes"].([]any)
	require.Equal(t, "create", changes[0].(map[string]any)["action"])
	tag := made.Header().Get("ETag")

	again := w.send(http.MethodPut, wwwShop, wwwFixed).want(http.StatusOK)
	require.Equal(t, tag, again.Header().Get("ETag"), "the same document is the same revision")
	require.NotContains(t, again.json()["status"], "changes")
	w.send(http.MethodPost, "/v2/projects/shop/names", wwwFixed).want(http.StatusConflict)
	read := w.send(http.MethodGet, wwwShop, nil).want(http.StatusOK)
	require.Equal(t, tag, read.Header().Get("ETag"))
	require.Equal(t, "Instantiating", read.json()["status"].(map[string]any)["state"])
	list := w.send(http.MethodGet, "/v2/projects/shop/names?namePrefix=www", nil).want(http.StatusOK)
	require.Len(t, list.json()["items"], 1)
	require.Empty(t, w.send(http.MethodGet, "/v2/projects/shop/names?namePrefix=x", nil).want(http.StatusOK).json()["items"])

	w.send(http.MethodPut, wwwShop, wwwAlias, "If-Match", `"7"`).want(http.StatusPreconditionFailed)
	w.send(http.MethodPut, wwwShop, wwwAlias, "If-None-Match", "*").want(http.StatusPreconditionFailed)
	changed := w.send(http.MethodPut, wwwShop, wwwAlias, "If-Match", tag).want(http.StatusOK)
	require.NotEqual(t, tag, changed.Header().Get("ETag"))
	w.send(http.MethodDelete, wwwShop, nil, "If-Match", tag).want(http.StatusPreconditionFailed)
	w.send(http.MethodDelete, "/v2/projects/shop", nil).want(http.StatusConflict)
	gone := w.send(http.MethodDelete, wwwShop, nil).want(http.StatusAccepted)
	require.Equal(t, "Terminating", gone.json()["status"].(map[string]any)["state"])
	w.send(http.MethodDelete, "/v2/projects/shop/names/other.lab.example", nil).want(http.StatusNotFound)
}

// TestARestoredReleaseIsOneOfTheName, in a plan as well.
func TestARestoredReleaseIsOneOfTheName(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	w.send(http.MethodPut, wwwShop, wwwFixed).want(http.StatusCreated)
	w.send(http.MethodPut, wwwShop, wwwAlias).want(http.StatusOK)
	for _, query := range []string{"restores=3", "restores=3&dryRun=true", "restores=9223372036854775807", "restores=0", "restores=-1", "restores=x"} {
		refused := w.send(http.MethodPut, wwwShop+"?"+query, wwwFixed).want(http.StatusBadRequest).json()
		require.Contains(t, refused["detail"], "query parameter restores must be", query)
	}
	require.Equal(t, "query parameter restores must be a release of the name, from 1 to 2", w.send(http.MethodPut, wwwShop+"?restores=3", wwwFixed).json()["detail"])
	require.Contains(t, w.send(http.MethodGet, wwwShop, nil).json()["spec"], "cname", "nothing has changed")
	w.send(http.MethodPut, wwwShop+"?restores=1", wwwFixed).want(http.StatusOK)
}

// TestAPlanOfANameIsConfirmed where the project requires it, and changes nothing.
func TestAPlanOfANameIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	plan := w.send(http.MethodPut, wwwShop+"?dryRun=true", wwwFixed).want(http.StatusOK).json()
	require.NotEmpty(t, plan["token"])
	require.Len(t, plan["names"], 1)
	w.send(http.MethodGet, wwwShop, nil).want(http.StatusNotFound)

	w.send(http.MethodPut, "/v2/projects/shop", `{"metadata":{"name":"shop"},"spec":{"names":{"requirePlan":true}}}`).want(http.StatusOK)
	refused := w.send(http.MethodPut, wwwShop, wwwFixed).want(http.StatusConflict).json()
	token := refused["plan"].(map[string]any)["token"].(string)
	require.Contains(t, refused["detail"], "?confirm="+token)
	w.send(http.MethodPut, wwwShop+"?confirm="+token, wwwAlias).want(http.StatusPreconditionFailed)
	w.send(http.MethodPut, wwwShop+"?confirm="+token, wwwFixed).want(http.StatusCreated)
}

// TestEverythingWrongWithANameIsTold at once, with what would be right.
func TestEverythingWrongWithANameIsTold(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	for _, c := range []struct{ body, want string }{
		{
			`{"metadata":{"name":"WWW.lab.example"},"spec":{"service":"frontend","addresses":["192.0.2.300","192.0.2.1","192.0.2.1"],"clusters":["edge/hub","edge/none"],"recordTypes":["A","A"],"scope":"cluster","provider":"none"}}`,
			`projects/shop/names/www.lab.example is not valid
/metadata/name: "WWW.lab.example" is not canonical; write "www.lab.example"
/spec: gives more than one of service, addresses and cname; give one of them
/spec/addresses/0: "192.0.2.300" is not an IP address; give one as in 192.0.2.7 or 2001:db8::7, or give a host name as cname
/spec/addresses/2: 192.0.2.1 is given twice; leave one out
/spec/service: "frontend" is not a Service; give its namespace and name, as in web/frontend
/spec/recordTypes/1: A is given twice; leave one out
/spec/clusters/1: projects/shop/names/www.lab.example refers to cluster-providers/edge/clusters/none, which does not exist; create it first
/spec/provider: projects/shop/names/www.lab.example refers to projects/shop/dns-update-records/none, which does not exist; create it first`,
		},
		{`{"metadata":{"name":"www.lab.example"},"spec":{"service":"web/frontend"}}`, `projects/shop/names/www.lab.example is not valid
/spec/clusters: is missing; give the clusters in which the Service is, as in ["dc/one"], or {"selector":{"region":"eu"}}`},
		{`{"metadata":{"name":"www.lab.example"},"spec":{"cname":"www.lab.example","routing":{"policy":"failover"}}}`, `projects/shop/names/www.lab.example is not valid
/spec/cname: leads to the name itself; give another host name
/spec/routing: is for a service in several clusters; leave it out`},
	} {
		require.Equal(t, c.want, w.send(http.MethodPut, wwwShop, c.body).want(http.StatusBadRequest).problem())
	}
	other := `{"metadata":{"name":"www.corp.example"},"spec":{"addresses":["192.0.2.7"]}}`
	require.Contains(t, w.send(http.MethodPut, "/v2/projects/shop/names/www.corp.example", other).want(http.StatusConflict).problem(), "/metadata/name: no provider of project \"shop\" serves www.corp.example: ")
	require.Contains(t, w.send(http.MethodPut, "/v2/projects/shop/names/www.lab.example?timeout=5s", wwwFixed).want(http.StatusBadRequest).problem(), "timeout is for wait")
}

// TestTwoPutsOfANameAtOnce are one after the other: each answer is true of its own
// document.
func TestTwoPutsOfANameAtOnce(t *testing.T) {
	t.Parallel()
	w := newNames(t)
	answers := make(chan int, 8)
	for n := range cap(answers) {
		go func() {
			body := fmt.Sprintf(`{"metadata":{"name":"www.lab.example"},"spec":{"addresses":["203.0.113.%d"]}}`, n+1)
			answers <- w.send(http.MethodPut, wwwShop, body).Code
		}()
	}
	created := 0
	for range cap(answers) {
		switch code := <-answers; code {
		case http.StatusCreated:
			created++
		case http.StatusOK, http.StatusConflict, http.StatusServiceUnavailable:
		default:
			t.Errorf("status %d", code)
		}
	}
	require.Equal(t, 1, created)
}

// TestWaitingForANameEnds with 202 and what is missing.
func TestWaitingForANameEnds(t *testing.T) {
	t.Parallel()
	for _, until := range []string{"instantiated", "published", "verified"} {
		t.Run(until, func(t *testing.T) {
			t.Parallel()
			w := newNames(t) // in which no worker brings anything to a cluster
			began := time.Now()
			late := w.send(http.MethodPut, wwwShop+"?wait="+until+"&timeout=1s", wwwFixed).want(http.StatusAccepted).json()
			require.GreaterOrEqual(t, time.Since(began), time.Second)
			is := late["status"].(map[string]any)
			require.Equal(t, []any{"Instantiating", "Unknown", "Unknown"}, []any{is["state"], is["published"], is["verified"]})
			require.NotEmpty(t, is["message"])
		})
	}
}

// TestARequestThatWaitsKeepsNoMemoryFromOthers of its subject.
func TestARequestThatWaitsKeepsNoMemoryFromOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNames(t, func(o *api.Options) { o.MaxBytes = 20 << 20 }) // two requests of one subject, nearly
		late := make(chan int, 1)
		go func() { late <- w.send(http.MethodPut, wwwShop+"?wait=published", wwwFixed).Code }()
		time.Sleep(time.Second)
		synctest.Wait()
		w.send(http.MethodGet, wwwShop, nil).want(http.StatusOK)
		require.Equal(t, http.StatusAccepted, <-late)
	})
}

// meanwhile does something between the reading of a name and its deletion.
type meanwhile struct {
	service.Lifecycle
	do func()
}

// UnpublishName implements service.Lifecycle.
func (l meanwhile) UnpublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.Accepted, error) {
	l.do()
	return l.Lifecycle.UnpublishName(ctx, name, r)
}

// TestANameThatChangesMeanwhileIsNotDeleted by a caller who has read it as it was before.
func TestANameThatChangesMeanwhileIsNotDeleted(t *testing.T) {
	t.Parallel()
	var w *world
	w = newNames(t, func(o *api.Options) {
		o.Lifecycle = meanwhile{o.Lifecycle, func() { w.send(http.MethodPut, wwwShop, wwwAlias).want(http.StatusOK) }}
	})
	tag := w.send(http.MethodPut, wwwShop, wwwFixed).want(http.StatusCreated).Header().Get("ETag")
	w.send(http.MethodDelete, wwwShop, nil, "If-Match", tag).want(http.StatusConflict)
	require.Equal(t, "Updating", w.send(http.MethodGet, wwwShop, nil).want(http.StatusOK).json()["status"].(map[string]any)["state"])
}
