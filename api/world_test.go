package api_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/apitest"
	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/documents/overlay"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// world is the API over a store of its own, with every response checked
// against openapi.yaml.
type world struct {
	t         *testing.T
	doc       *openapi3.T
	kv        *kvtest.Fake
	store     intent.Store
	lifecycle *lifecycle
	corefiles corefiles
	handler   http.Handler
	token     string // sent when not empty
	tls       *tls.ConnectionState
}

// newWorld makes an empty world; changes alter the options.
func newWorld(t *testing.T, changes ...func(*api.Options)) *world {
	t.Helper()
	doc, err := openapi.Load()
	require.NoError(t, err)
	kv := kvtest.NewFake()
	store := names.New(etcd.New(kv))
	w := &world{t: t, doc: doc, kv: kv, store: store, lifecycle: &lifecycle{store: store, doc: doc}, corefiles: corefiles{store: store, way: corefile.Way{Why: []string{"it is told to"}}}}
	options := api.Options{
		Store:     store,
		Admitter:  admission.New(store, review.Rules{}),
		Sealer:    &sealer{store: store},
		Lifecycle: w.lifecycle,
		Clusters:  w.lifecycle,
		Corefiles: &w.corefiles,
		Readiness: probes.Readiness{Checks: map[string]func(context.Context) error{"store": store.Ping}},
		Build:     probes.Build{Version: "v0.1.0", Commit: "0a1b2c3d", Go: "go1.26"},
		Log:       slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&options)
	}
	handler, err := api.New(options, nil)
	require.NoError(t, err)
	w.handler = apitest.New(t, doc).Wrap(handler)
	return w
}

// answer is what the API said.
type answer struct {
	t *testing.T
	*httptest.ResponseRecorder
	request string
}

// send sends a request. body is nil, text or something to encode; header holds
// names and values in turn.
func (w *world) send(method, path string, body any, header ...string) *answer {
	w.t.Helper()
	var content []byte
	switch b := body.(type) {
	case nil:
	case string:
		content = []byte(b)
	default:
		var err error
		content, err = json.Marshal(b)
		require.NoError(w.t, err)
	}
	request := httptest.NewRequestWithContext(w.t.Context(), method, path, bytes.NewReader(content))
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if w.token != "" {
		request.Header.Set("Authorization", "Bearer "+w.token)
	}
	request.TLS = w.tls
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	w.handler.ServeHTTP(recorder, request)
	return &answer{t: w.t, ResponseRecorder: recorder, request: method + " " + path}
}

// want ends the test unless the answer has the status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	require.Equal(a.t, status, a.Code, "%s: %s", a.request, a.Body)
	return a
}

// json is the answer's body, decoded.
func (a *answer) json() map[string]any {
	a.t.Helper()
	var object map[string]any
	require.NoError(a.t, json.Unmarshal(a.Body.Bytes(), &object), a.request)
	return object
}

// problem is what a problem says, as lines: its detail, then each pointer and
// detail.
func (a *answer) problem() string {
	a.t.Helper()
	var p struct {
		Detail string
		Errors []intent.Field
	}
	require.NoError(a.t, json.Unmarshal(a.Body.Bytes(), &p), a.request)
	lines := []string{p.Detail}
	for _, e := range p.Errors {
		lines = append(lines, e.Pointer+": "+e.Detail)
	}
	return strings.Join(lines, "\n")
}

// row is a resource with an example of it.
type row struct {
	one        string // as in the operation ids
	collection string // path with the examples' names
	item       string
}

// rows lists every resource, parents and what is referred to first.
func rows() []row {
	const (
		project = "/v2/projects/shop"
		cloud   = project + "/logical-clouds/eu"
		cluster = "/v2/cluster-providers/edge/clusters/hub"
		app     = project + "/composite-apps/store/v1"
		group   = app + "/deployment-intent-groups/prod"
		traffic = group + "/traffic-group-intents/front"
	)
	return []row{
		{"Project", "/v2/projects", project},
		{"ClusterProvider", "/v2/cluster-providers", "/v2/cluster-providers/edge"},
		{"Cluster", "/v2/cluster-providers/edge/clusters", cluster},
		{"DNSUpdateRecord", project + "/dns-update-records", project + "/dns-update-records/lab"},
		{"ClusterKVPairs", cluster + "/kv-pairs", cluster + "/kv-pairs/dns-update-record-list"},
		{"LogicalCloud", project + "/logical-clouds", cloud},
		{"ClusterReference", cloud + "/cluster-references", cloud + "/cluster-references/berlin"},
		{"LogicalCloudKVPairs", cloud + "/kv-pairs", cloud + "/kv-pairs/dns-update-record-list"},
		{"CompositeApp", project + "/composite-apps", app},
		{"DeploymentIntentGroup", app + "/deployment-intent-groups", group},
		{"TrafficGroupIntent", group + "/traffic-group-intents", traffic},
		{"DNSIntent", traffic + "/dns-intents", traffic + "/dns-intents/www"},
		{"PodDNSIntent", traffic + "/pod-dns-intents", traffic + "/pod-dns-intents/web"},
		{"DNSCRIntent", cloud + "/dns-cr-intents", cloud + "/dns-cr-intents/resolvers"},
		{"Name", project + "/names", project + "/names/shop.lab.example"},
		{"DocumentSet", project + "/sets", project + "/sets/storefront"},
		{"GroupDNSIntent", group + "/dns-intents", group + "/dns-intents/www"},
	}
}

// stored is where the document is. A path may leave out the default traffic group.
func (r row) stored() string {
	if r.one == "GroupDNSIntent" {
		return strings.Replace(r.item, "/dns-intents/", "/traffic-group-intents/default/dns-intents/", 1)
	}
	return r.item
}

// deleted is what a DELETE answers. A name goes once it is out of DNS.
func (r row) deleted() int {
	if r.one == "Name" {
		return http.StatusAccepted
	}
	return http.StatusNoContent
}

// fill creates the examples of all resources up to but not including one.
func (w *world) fill(until string) *world {
	w.t.Helper()
	for _, r := range rows() {
		if r.one == until {
			return w
		}
		w.send(http.MethodPost, r.collection, w.example(r)).want(http.StatusCreated)
	}
	return w
}

// operations are the document's operations by id.
func operations(doc *openapi3.T) map[string]*openapi3.Operation {
	all := map[string]*openapi3.Operation{}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			all[operation.OperationID] = operation
		}
	}
	return all
}

// example is a copy of the resource's example in the document.
func (w *world) example(r row) map[string]any {
	w.t.Helper()
	examples := operations(w.doc)["create"+r.one].RequestBody.Value.Content.Get("application/json").Examples
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		raw, err := json.Marshal(examples[name].Value.Value)
		require.NoError(w.t, err)
		var object map[string]any
		require.NoError(w.t, json.Unmarshal(raw, &object))
		return object
	}
	w.t.Fatalf("%s has no example", r.one)
	return nil
}

// sealer keeps secret values as documents of the store.
type sealer struct {
	store intent.Store
	count atomic.Int64
	err   error
}

func (s *sealer) Store(ctx context.Context, path intent.Path, field string, _ []byte) (string, error) {
	if s.err != nil {
		return "", s.err
	}
	id := fmt.Sprintf("s%d", s.count.Add(1))
	body, err := json.Marshal(map[string]string{"path": string(path), "field": field})
	if err != nil {
		return "", err
	}
	_, err = s.store.Put(ctx, intent.Write{Path: intent.Join(intent.SecretCollection, id), Body: body})
	return id, err
}

// corefiles finds in each Corefile what it was told to find, and traces every
// query the same way, of intents that exist.
type corefiles struct {
	store    intent.Store
	findings []corefile.Finding
	way      corefile.Way
	err      error
	asked    string
}

func (f *corefiles) Lint(_ context.Context, text string) ([]corefile.Finding, error) {
	f.asked = text
	return f.findings, f.err
}

func (f *corefiles) Trace(ctx context.Context, owner intent.Path, cluster string, query corefile.Query) (corefile.Way, error) {
	f.asked = strings.Join([]string{string(owner), cluster, query.Name, query.Type}, " ")
	if _, err := f.store.Get(ctx, owner); err != nil {
		return corefile.Way{}, err
	}
	return f.way, f.err
}

// lifecycle answers the examples of openapi.yaml for owners that exist, and
// remembers what it was asked.
type lifecycle struct {
	store intent.Store
	doc   *openapi3.T
	err   error
	asked []string

	drained   *intent.Drained   // every cluster, as far as this goes
	abandoned *intent.Abandoned // likewise
	state     intent.State      // of every group, unless it is that of the example
	warnings  []intent.Warning  // of every DNS intent

	query intent.NameQuery   // the last one, without Sees
	found []intent.FoundName // by any query
}

// reply decodes an example for an owner that exists.
func reply[T any](ctx context.Context, l *lifecycle, owner intent.Path, example string, asked ...string) (T, error) {
	var value T
	l.asked = append(l.asked, strings.Join(append(asked, string(owner)), " "))
	if _, err := l.store.Get(ctx, owner); err != nil {
		return value, err
	}
	if l.err != nil {
		return value, l.err
	}
	if example == "" {
		return value, nil
	}
	raw, err := json.Marshal(l.doc.Components.Examples[example].Value.Value)
	if err != nil {
		return value, err
	}
	err = json.Unmarshal(raw, &value)
	return value, err
}

// told is reply for what is asked of no document.
func told[T any](l *lifecycle, example string, asked ...string) (value T, err error) {
	l.asked = append(l.asked, strings.Join(asked, " "))
	if l.err != nil || example == "" {
		return value, l.err
	}
	raw, err := json.Marshal(l.doc.Components.Examples[example].Value.Value)
	if err != nil {
		return value, err
	}
	err = json.Unmarshal(raw, &value)
	return value, err
}

func (l *lifecycle) Draft() service.Draft {
	over := overlay.New(l.store)
	return service.Draft{Store: over, Admitter: admission.New(over, review.Rules{}), Planner: &lifecycle{store: over, doc: l.doc}}
}

func (l *lifecycle) Plan(ctx context.Context, owner intent.Path, action intent.Action, to int64) (intent.Plan, error) {
	return reply[intent.Plan](ctx, l, owner, "plan", "plan", string(action), fmt.Sprint(to))
}

func (l *lifecycle) PlanTakeover(ctx context.Context, owner intent.Path, action intent.Action, from string) (intent.Plan, error) {
	return reply[intent.Plan](ctx, l, owner, "plan", "plan takeover", string(action), from)
}

func (l *lifecycle) TakeOver(ctx context.Context, owner intent.Path, action intent.Action, from, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, owner, "accepted", "takeover", string(action), from, confirm, actor)
}

func (l *lifecycle) Rollback(ctx context.Context, owner intent.Path, to int64, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, owner, "accepted", "rollback", fmt.Sprint(to), confirm, actor)
}

func (l *lifecycle) Instantiate(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, owner, "accepted", "instantiate", confirm, actor)
}

func (l *lifecycle) Update(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, owner, "accepted", "update", confirm, actor)
}

func (l *lifecycle) Deploy(ctx context.Context, owner intent.Path, r intent.DeployRequest) (intent.Deployed, error) {
	return reply[intent.Deployed](ctx, l, owner, "deployed", "deploy", r.Takeover, r.Confirm, r.Actor)
}

func (l *lifecycle) DeployRecord(ctx context.Context, record intent.Path, r intent.DeployRequest) (intent.Deployed, error) {
	return reply[intent.Deployed](ctx, l, record, "deployed", "deploy record", r.Adopt, r.Confirm, r.Actor)
}

func (l *lifecycle) Terminate(ctx context.Context, owner intent.Path, force bool, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, owner, "accepted", "terminate", fmt.Sprint(force), confirm, actor)
}

func (l *lifecycle) Record(ctx context.Context) (context.Context, service.Reads) { return ctx, nil }

func (l *lifecycle) Status(ctx context.Context, owner intent.Path) (intent.Status, error) {
	status, err := reply[intent.Status](ctx, l, owner, "status", "status")
	status.State = cmp.Or(l.state, status.State)
	return status, err
}

func (l *lifecycle) Events(ctx context.Context, owner intent.Path) ([]intent.Event, error) {
	list, err := reply[struct{ Items []intent.Event }](ctx, l, owner, "eventList", "events")
	return list.Items, err
}

func (l *lifecycle) PlanRecord(ctx context.Context, record intent.Path, adopt string) (intent.Plan, error) {
	return reply[intent.Plan](ctx, l, record, "", "plan record", adopt)
}

func (l *lifecycle) UpdateRecord(ctx context.Context, record intent.Path, adopt, confirm, actor string) (intent.Accepted, error) {
	return reply[intent.Accepted](ctx, l, record, "accepted", "update record", adopt, confirm, actor)
}

func (l *lifecycle) RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error) {
	return reply[intent.RecordStatus](ctx, l, record, "recordStatus", "record status")
}

func (l *lifecycle) NameWarnings(ctx context.Context, dnsIntent intent.Path) ([]intent.Warning, error) {
	if _, err := reply[struct{}](ctx, l, dnsIntent, "", "name warnings", intent.By(ctx).Subject); err != nil {
		return nil, err
	}
	return l.warnings, nil
}

func (l *lifecycle) Users(ctx context.Context, record intent.Path, limit int, after string) (intent.UsePage, error) {
	return reply[intent.UsePage](ctx, l, record, "useList", "users", fmt.Sprint(limit), after)
}

func (l *lifecycle) Unmanaged(ctx context.Context, record intent.Path, limit int, after string) (intent.UnmanagedPage, error) {
	return reply[intent.UnmanagedPage](ctx, l, record, "unmanagedList", "unmanaged", fmt.Sprint(limit), after)
}

func (l *lifecycle) Groups(ctx context.Context, project intent.Path, limit int, after string) (intent.GroupSummaryPage, error) {
	return reply[intent.GroupSummaryPage](ctx, l, project, "groupSummaryPage", "groups", fmt.Sprint(limit), after)
}

func (l *lifecycle) Preflight(ctx context.Context, cluster intent.Path) (intent.Preflight, error) {
	return reply[intent.Preflight](ctx, l, cluster, "preflight", "preflight")
}

func (l *lifecycle) Services(ctx context.Context, cluster intent.Path, q intent.ServiceQuery) (intent.ServicePage, error) {
	return reply[intent.ServicePage](ctx, l, cluster, "servicePage", "services", q.Namespace, fmt.Sprint(q.Limit), q.After)
}

func (l *lifecycle) Drain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error {
	_, err := reply[struct{}](ctx, l, cluster, "", "drain", fmt.Sprint(o.Force), o.Actor)
	if err == nil {
		l.drained = &intent.Drained{Since: time.Date(2026, 11, 2, 9, 31, 7, 0, time.UTC), Actor: o.Actor, Reason: o.Reason}
	}
	return err
}

func (l *lifecycle) Undrain(ctx context.Context, cluster intent.Path, o intent.DrainOptions) error {
	_, err := reply[struct{}](ctx, l, cluster, "", "undrain", o.Actor)
	if err == nil {
		l.drained = nil
	}
	return err
}

func (l *lifecycle) Abandon(ctx context.Context, cluster intent.Path, force bool, actor string) ([]intent.LeftBehind, error) {
	answer, err := reply[struct{ LeftBehind []intent.LeftBehind }](ctx, l, cluster, "clusterAbandoned", "abandon", fmt.Sprint(force), actor)
	if err == nil {
		l.abandoned = &intent.Abandoned{Since: time.Date(2026, 11, 2, 9, 31, 7, 0, time.UTC), Actor: actor}
	}
	return answer.LeftBehind, err
}

func (l *lifecycle) Abandoned(context.Context, intent.Path) (*intent.Abandoned, error) {
	return l.abandoned, nil
}

func (l *lifecycle) Drained(context.Context, intent.Path) (*intent.Drained, error) {
	return l.drained, nil
}

func (l *lifecycle) PreviewFailover(_ context.Context, _ intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverPreview, error) {
	return told[intent.FailoverPreview](l, "failoverPreview", "preview", fmt.Sprint(o))
}

func (l *lifecycle) FailOver(_ context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverRecord, error) {
	return told[intent.FailoverRecord](l, "failover", "failover", fmt.Sprint(spec, o))
}

func (l *lifecycle) PreviewRevert(_ context.Context, id string, o intent.FailoverOptions) (intent.FailoverPreview, error) {
	return told[intent.FailoverPreview](l, "failoverPreview", "preview revert", id, fmt.Sprint(o))
}

func (l *lifecycle) Revert(_ context.Context, id string, o intent.FailoverOptions) (intent.FailoverRecord, error) {
	return told[intent.FailoverRecord](l, "failover", "revert", id, fmt.Sprint(o))
}

func (l *lifecycle) Failover(_ context.Context, id string) (intent.FailoverRecord, error) {
	return told[intent.FailoverRecord](l, "failover", "record", id)
}

func (l *lifecycle) Failovers(_ context.Context, limit int, after string) (intent.FailoverPage, error) {
	return told[intent.FailoverPage](l, "failoverPage", "records", fmt.Sprint(limit), after)
}

func (l *lifecycle) SafetyRules(_ context.Context) (intent.SafetyRules, int64, error) {
	rules, err := told[intent.SafetyRules](l, "safetyRules", "rules")
	return rules, 1, err
}

func (l *lifecycle) PutSafetyRules(_ context.Context, rules intent.SafetyRules, actor string) error {
	_, err := told[struct{}](l, "", "put rules", fmt.Sprint(rules.MinClusters), actor)
	return err
}

func (l *lifecycle) PlanName(ctx context.Context, name intent.Path, _ intent.NameRequest) (intent.Plan, error) {
	return reply[intent.Plan](ctx, l, name.Parent(), "plan", "plan", string(name))
}

// PublishName keeps the document of a name as a release does.
func (l *lifecycle) PublishName(ctx context.Context, name intent.Path, r intent.NameRequest) (intent.NamePublished, error) {
	body, err := json.Marshal(map[string]any{"name": r.Next})
	if err != nil {
		return intent.NamePublished{}, err
	}
	refs := []intent.Path{name.Parent()}
	_, err = l.store.Put(ctx, intent.Write{Path: intent.Join(intent.LifecycleCollection, string(name)), Body: body, Refs: refs})
	return intent.NamePublished{Document: r.Next.At(name)}, err
}

func (l *lifecycle) ReadAhead(ctx context.Context, _ intent.Path) (context.Context, func(), error) {
	return ctx, func() {}, nil
}

func (l *lifecycle) UnpublishName(ctx context.Context, name intent.Path, _ intent.NameRequest) (intent.Accepted, error) {
	return intent.Accepted{}, l.store.Delete(ctx, intent.Join(intent.LifecycleCollection, string(name)), intent.Always())
}

func (l *lifecycle) NameReport(ctx context.Context, name intent.Path) (intent.NameReport, error) {
	_, err := l.store.Get(ctx, name)
	return intent.NameReport{State: intent.Instantiated, Published: "True", Verified: "True", Warnings: []string{}}, err
}

func (l *lifecycle) FindNames(q intent.NameQuery) (intent.NamePage, error) {
	sees := q.Sees
	q.Sees = nil
	l.query = q
	page := intent.NamePage{Items: []intent.FoundName{}, Total: len(l.found), Hosts: len(l.found)}
	for _, name := range l.found {
		if sees(name.Project) {
			page.Items = append(page.Items, name)
		}
	}
	return page, l.err
}

func (l *lifecycle) ExplainName(_ context.Context, host string, sees func(project string) bool) (intent.NameExplanation, error) {
	out := intent.NameExplanation{Name: host, Summary: "it is told", Owners: []intent.NameOwner{}}
	for _, name := range l.found {
		switch {
		case name.Name != host:
		case sees(name.Project):
			out.Owners = append(out.Owners, intent.NameOwner{
				Owner: name.Owner, Project: name.Project, State: name.State, Release: 1, Documents: []intent.NameSource{}, ExternalDNS: []intent.ProviderStatus{},
				Records: []intent.NameStatus{{Name: host, Type: "A", Record: "lab", Scope: intent.Public}},
			})
		default:
			out.Others = true
		}
	}
	return out, l.err
}

func (l *lifecycle) Troubles(q intent.TroubleQuery) (intent.TroublePage, error) {
	out := intent.TroublePage{Items: []intent.Trouble{}, Counts: map[string]int{}}
	for _, name := range l.found {
		if q.Sees(name.Project) {
			out.Counts[intent.TroubleLeftover]++
			out.Items = append(out.Items, intent.Trouble{Kind: intent.TroubleLeftover, Project: name.Project, Owner: name.Owner, Cluster: name.Home[0], Name: name.Name, Type: "A", Record: name.Provider})
		}
	}
	return out, l.err
}

func (l *lifecycle) Fleet(_ context.Context, q intent.FleetQuery) (intent.Fleet, error) {
	out := intent.Fleet{Groups: map[intent.State]int{}, Names: map[intent.State]int{}, Items: []intent.FleetItem{}}
	for _, name := range l.found {
		if q.Sees(name.Project) {
			out.Items = append(out.Items, intent.FleetItem{Kind: "externalDNS", Cluster: name.Home[0], Project: name.Project, Record: name.Provider, Scope: name.Scope, Healthy: "True"})
		}
	}
	return out, l.err
}
