package emco_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const root = "/context/" + first + "/"

func TestAContextIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		dump(t, "context").write(t, store)
		c := read(t, newStore(store), first)
		require.Equal(t, revision(t, store), c.Revision)

		meta := c.Meta
		require.JSONEq(t, `{"kind":"istio"}`, string(meta.Raw[bytes.Index(meta.Raw, []byte(`{"kind"`)):len(meta.Raw)-1]))
		meta.Raw = nil
		require.Equal(t, emco.Meta{Project: "shop", CompositeApp: "store", Version: "v1", Release: "r1", DeploymentIntentGroup: "prod", Namespace: "shop", Level: "0", LogicalCloud: "eu"}, meta)
		require.Equal(t, emco.State{StatusContext: first}, c.State)

		require.Len(t, c.Apps, 2)
		web, api := c.Apps[0], c.Apps[1]
		require.Equal(t, "web", web.Name, "in apporder, not by name")
		require.JSONEq(t, `[{"app":"web","opStatus":"Ready","wait":2}]`, api.Dependency)
		require.Equal(t, []string{berlin, paris}, []string{web.Clusters[0].Name, web.Clusters[1].Name})
		require.Equal(t, "2", web.Clusters[0].Group)
		require.Equal(t, "{}\nno newline at its end", textOf(t, &web.Clusters[0].Resources[0]))

		here := web.Cluster(paris)
		require.Equal(t, []string{"web+Service"}, here.Order)
		require.Equal(t, map[string][]string{"crd-install": {"things+CustomResourceDefinition"}}, here.Hooks)
		require.True(t, here.Lists("things+CustomResourceDefinition"))
		require.False(t, here.Lists("other+ConfigMap"))
		service := here.Resource("web+Service")
		require.Equal(t, "web", service.Name)
		require.Equal(t, "Service", service.Kind)
		require.Equal(t, "# Source: web/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  annotations: {note: \"a < b & c\"}\n", textOf(t, service), "byte for byte")
		object, err := service.Object(paris, "web")
		require.NoError(t, err)
		require.JSONEq(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","annotations":{"note":"a < b & c"}}}`, string(object.JSON))

		none := api.Cluster(paris)
		require.True(t, none.Ordered, "an order of nothing is an order")
		require.Empty(t, none.Order)
		require.Nil(t, c.App("db"))
		require.Nil(t, web.Cluster("edge+rome"))
		require.Nil(t, here.Resource("web+ConfigMap"))
	})
}

func TestAContextIsReadWhileRsyncIsAtWork(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	dump(t, "updated-first").write(t, store)
	dump(t, "updated-second").write(t, store)
	c := read(t, newStore(store), first)
	require.Equal(t, emco.State{Status: "Updated", Current: "Updated", Desired: "Updated", Told: "UpdateDelete", Other: second, StatusContext: first}, c.State)
	later := c.App("web").Cluster(berlin)
	require.False(t, later.Ordered, "rsync has made it for a later context")
	require.Empty(t, later.Resources, "a placeholder is not a resource")
	require.Len(t, c.App("web").Cluster(paris).Resources, 2, "statuses, references and the like are none")
	require.Equal(t, first, read(t, newStore(store), second).State.StatusContext)
}

func TestTextsAreReadAsYAMLOrJSON(t *testing.T) {
	t.Parallel()
	const object = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"}}`
	for name, text := range map[string]string{
		"JSON":                         object,
		"YAML":                         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"leading newlines":             "\n\n" + object,
		"comments":                     "# Source: web/templates/a.yaml\n\n# more\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web # here\n",
		"a separator ahead":            "---\n# Source: a\n" + object,
		"separators around":            "# Source: a\n---\n" + object + "\n---\n# nothing\n",
		"Windows' line ends":           "---\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: web}\r\n",
		"a separator with a comment":   "--- # one\n" + object,
		"an object behind a separator": "--- " + object,
		"an end without newline":       "# a\n---\n" + object + "\n---",
	} {
		got, err := resource(t, text).Object(paris, "web")
		require.NoError(t, err, name)
		require.JSONEq(t, object, string(got.JSON), name)
		require.Equal(t, paris, got.Cluster)
	}
	for _, text := range map[string]string{
		"nothing": "", "comments alone": "# a\n", "no object": "web", "a list": "[]", "two objects": object + "\n---\n" + object,
		"aliases that make it large": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: &a \"" + strings.Repeat("a", 70_000) + "\", b: *a}\n",
		"no kind":                    "apiVersion: v1\nmetadata: {name: web}", "broken": "kind: [", "a key twice": "kind: a\nkind: b\n",
	} {
		_, err := resource(t, text).Object(paris, "web")
		refused(t, err, intent.Invalid, "resource web+Service of app web on "+paris)
	}
}

func TestWhatLooksLikeASeparatorIsNone(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  key: |\n    ---\n    -----BEGIN-----\n"
	got, err := resource(t, text).Object(paris, "web")
	require.NoError(t, err)
	require.Contains(t, string(got.JSON), `"---\n-----BEGIN-----\n"`)
}

func TestUnknownKindsAndKeysAreNoTrouble(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	at := root + "app/web/cluster/" + paris + "/"
	dump(t, "context").with(keys{
		at + "resource/x+Whatever/":   `"\n\n%%% no YAML at all"`,
		at + "resource/plain/":        `"no kind"`,
		at + "resource/a+b+Kind/":     `"plus"`,
		at + "unknown/":               "not even JSON",
		at + "resource/x+Whatever/y/": "not even JSON",
		root + "app/unknown":          "not even JSON",
		root + "other/thing/":         "not even JSON",
	}).write(t, store)
	here := read(t, newStore(store), first).App("web").Cluster(paris)
	require.Equal(t, "\n\n%%% no YAML at all", textOf(t, here.Resource("x+Whatever")))
	require.Empty(t, here.Resource("plain").Kind)
	require.Equal(t, "a+b", here.Resource("a+b+Kind").Name)
	require.Len(t, here.Resources, 5)
}

func TestNamesThatBeginAlikeAreToldApart(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	k := dump(t, "context")
	for _, name := range []string{"edge+paris-2", "edge+paris.x", "edge+paris2"} {
		k[root+"app/web/cluster/"+name+"/"] = jsonText(t, name)
		k[root+"app/web/cluster/"+name+"/resource/"+name+"+Pod/"] = jsonText(t, name)
	}
	k["/context/"+first+"1/"] = `"another"`
	k.write(t, store)
	web := read(t, newStore(store), first).App("web")
	for _, name := range []string{"edge+paris-2", "edge+paris.x", "edge+paris2"} {
		require.Equal(t, name, textOf(t, &web.Cluster(name).Resources[0]))
	}
	require.Len(t, web.Cluster(paris).Resources, 2)
}

func TestBadContextsAreRefusedWithAClearError(t *testing.T) {
	at := root + "app/web/cluster/" + paris + "/"
	for name, one := range map[string]struct {
		change keys
		code   intent.Code
		words  string
	}{
		"not there":                       {keys{"all": "gone"}, intent.NotFound, "does not exist in the etcd that Signpost uses, which has to be the one"},
		"no key of its own":               {keys{root: "-"}, intent.Conflict, "is half-written"},
		"without meta":                    {keys{root + "meta/": "-"}, intent.Conflict, "has no meta"},
		"without order of apps":           {keys{root + "app/instruction/order/": "-"}, intent.Conflict, "is half-written: it has no order of apps"},
		"without an app of its order":     {keys{root + "app/web/": "-"}, intent.Conflict, `has no app "web", which its order names`},
		"without a listed resource":       {keys{at + "resource/web+Service/": "-"}, intent.Conflict, "has no resource web+Service"},
		"without a hooked resource":       {keys{at + "resource/things+CustomResourceDefinition/": "-"}, intent.Conflict, "hook crd-install"},
		"two resources with one key":      {keys{at + "resource/instruction/order/": `"{\"resorder\":[\"web+Service\",\"web+Service\"]}"`}, intent.Conflict, "has two resources web+Service of app \"web\" on edge+paris"},
		"an app twice":                    {keys{root + "app/instruction/order/": `"{\"apporder\":[\"web\",\"web\"]}"`}, intent.Conflict, `names app "web" twice`},
		"a meta that is a list":           {keys{root + "meta/": `[]`}, intent.Conflict, "not a JSON object"},
		"a meta that is null":             {keys{root + "meta/": `null`}, intent.Conflict, "not a JSON object"},
		"a meta of other types":           {keys{root + "meta/": `{"Project":7}`}, intent.Conflict, "/Project is 7, of another type"},
		"children that are no list":       {keys{root + "meta/": `{"ChildContextIDs":"1"}`}, intent.Conflict, "/ChildContextIDs"},
		"an order that is not a string":   {keys{root + "app/instruction/order/": `{}`}, intent.Conflict, "holds no text at " + root + "app/instruction/order/"},
		"an order that is not JSON":       {keys{root + "app/instruction/order/": `"{"`}, intent.Conflict, "holds no apporder at"},
		"an order of other things":        {keys{at + "resource/instruction/order/": `"{\"resorder\":[1]}"`}, intent.Conflict, "holds no resorder at"},
		"an order of another name":        {keys{at + "resource/instruction/order/": `"{\"order\":[]}"`}, intent.Conflict, "holds no resorder at"},
		"a dependency of other things":    {keys{at + "resource/instruction/dependency/": `"{\"resdependency\":[]}"`}, intent.Conflict, "holds no resdependency at"},
		"a resource that is not a string": {keys{at + "resource/web+Service/": `{"kind":"Service"}`}, intent.Conflict, "holds no text at " + at},
		"a resource that is not JSON":     {keys{at + "resource/web+Service/": `kind: Service`}, intent.Conflict, "holds no text at " + at},
		"a state that is none":            {keys{root + "status/": `"Instantiated"`}, intent.Conflict, "holds no state at"},
		"statuses that are nowhere":       {keys{root + "statusappctxid/": `"x"`}, intent.Conflict, "holds no id of a context at"},
	} {
		t.Run(name, func(t *testing.T) {
			store := kvtest.NewFake()
			if _, nothing := one.change["all"]; !nothing {
				dump(t, "context").with(one.change).write(t, store)
			}
			before := revision(t, store)
			_, err := newStore(store).Read(t.Context(), first)
			refused(t, err, one.code, "app context "+first, one.words)
			require.Equal(t, before, revision(t, store), "reading writes nothing")
		})
	}
}

func TestMalformedIDsAreInvalid(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	for _, id := range []string{"", "x", "-1", "+1", "01", "1.0", " 1", "1/", "1/../2", "0x1", "9223372036854775808", "99999999999999999999", "١", "<nil>", strings.Repeat("9", 5000)} {
		_, err := newStore(store).Read(t.Context(), id)
		refused(t, err, intent.Invalid, "is not an id of an app context: it is a decimal number of 63 bits")
		require.Less(t, len(err.Error()), 300)
		_, err = newStore(store).State(t.Context(), id)
		refused(t, err, intent.Invalid)
	}
}

// TestAContextWithoutItsEndIsHalfWritten walks through EMCO's order of writing:
// wherever it stopped before the order of apps, the context is refused.
func TestAContextWithoutItsEndIsHalfWritten(t *testing.T) {
	t.Parallel()
	whole := dump(t, "context")
	writing := []string{"", "meta/", "app/web/", "app/web/cluster/" + berlin + "/", "app/web/cluster/" + berlin + "/resource/web+Service/", "app/api/"}
	partial := keys{}
	for _, level := range writing {
		partial[root+level] = whole[root+level]
		store := kvtest.NewFake()
		partial.write(t, store)
		_, err := newStore(store).Read(t.Context(), first)
		refused(t, err, intent.Conflict)
	}
}

// counted counts requests of a kind and the keys that they answered.
type counted struct {
	kv.KV
	ranges, gets, answered int
}

func (c *counted) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	items, revision, err := c.KV.Range(ctx, r)
	c.ranges, c.answered = c.ranges+1, c.answered+len(items)
	return items, revision, err
}

func (c *counted) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	c.gets++
	return c.KV.Get(ctx, key)
}

func TestAContextIsReadInOnePassOfRanges(t *testing.T) {
	t.Parallel()
	store := &counted{KV: kvtest.NewFake()}
	all := large(t, 100, 20, 100)
	all.write(t, store)
	c := read(t, newStore(store), first)
	require.Len(t, c.App("web").Clusters, 100)
	require.Len(t, c.App("web").Cluster(clusterName(99)).Resources, 20)
	require.Equal(t, len(all), store.answered, "each key once")
	require.LessOrEqual(t, store.ranges, len(all)/500+1)
	require.Equal(t, 1, store.gets)
}

func TestTooLargeAContextIsRefusedBeforeAllOfItIsRead(t *testing.T) {
	t.Run("100,000 resources", func(t *testing.T) {
		store := &counted{KV: kvtest.NewFake()}
		large(t, 50, 2000, 10).write(t, store)
		_, err := newStore(store).Read(t.Context(), first)
		refused(t, err, intent.TooLarge, "has more than 20000 resources or 64 MiB")
		require.Less(t, store.answered, 25_000)
	})
	t.Run("large texts", func(t *testing.T) {
		store := &counted{KV: kvtest.NewFake()}
		large(t, 10, 10, 1<<20).write(t, store)
		_, err := newStore(store).Read(t.Context(), first)
		refused(t, err, intent.TooLarge)
	})
}

// behind is a store that somebody else writes into between two of our reads.
func behind(store *kvtest.Fake, read int, do func()) {
	reads := 0
	store.Before = func(op, _ string) error {
		if op != "get" && op != "range" {
			return nil
		}
		reads++
		if reads == read {
			do()
		}
		return nil
	}
}

func TestAContextIsReadAtOneRevision(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 4; n++ {
		store := kvtest.NewFake()
		large(t, 60, 20, 10).write(t, store)
		was := revision(t, store)
		s := newStore(store)
		behind(store, n, func() {
			put(t, store, root+"app/web/cluster/"+clusterName(0)+"/resource/web-0+Deployment/", `"new"`)
			put(t, store, root+"app/web/cluster/"+clusterName(9)+"/resource/web-0+Deployment/", `"new"`)
		})
		c := read(t, s, first)
		require.Equal(t, was, c.Revision)
		for _, on := range c.App("web").Clusters {
			require.NotEqual(t, "new", textOf(t, on.Resource("web-0+Deployment")))
		}
	}
}

func TestAContextIsReadAgainWhereHistoryIsLost(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	large(t, 60, 20, 10).write(t, store)
	behind(store, 3, func() {
		put(t, store, root+"app/web/cluster/"+clusterName(0)+"/resource/web-0+Deployment/", `"new"`)
		require.NoError(t, store.Compact(t.Context()))
	})
	c := read(t, newStore(store), first)
	require.Equal(t, "new", textOf(t, c.App("web").Cluster(clusterName(0)).Resource("web-0+Deployment")))
}

func TestAStoreThatFailsIsSaidSo(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 5; n++ {
		store := kvtest.NewFake()
		large(t, 60, 20, 10).write(t, store)
		reads := 0
		store.Before = func(string, string) error {
			reads++
			if reads == n {
				return &intent.Error{Code: intent.Unavailable, Detail: fmt.Sprintf("no leader at read %d", n)}
			}
			return nil
		}
		_, err := newStore(store).Read(t.Context(), first)
		if n <= 4 {
			refused(t, err, intent.Unavailable, "no leader")
		}
	}
}

// FuzzRead: whatever is in a context, reading answers a context or says what
// is wrong, and a context that was read is as it is to be already.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "meta/", "app/web/", "app/instruction/order/", "app/web/cluster/edge+paris/resource/instruction/order/", "app/web/cluster/edge+paris/resource/web+Service/", "status/", "statusappctxid/", "app//cluster///", "app/instruction/"} {
		f.Add(seed, `"{\"resorder\":[\"web+Service\"]}"`)
		f.Add(seed, `{"a":null}`)
	}
	whole := dump(f, "context")
	f.Fuzz(func(t *testing.T, below, value string) {
		store := kvtest.NewFake()
		whole.with(keys{root + below: value}).write(t, store)
		before := revision(t, store)
		s := newStore(store)
		c, err := s.Read(t.Context(), first)
		if err != nil {
			var known *intent.Error
			require.ErrorAs(t, err, &known)
			return
		}
		var same emco.Patch
		for _, app := range c.Apps {
			for _, on := range app.Clusters {
				for _, r := range on.Resources {
					_, _ = r.Object(on.Name, app.Name)
					text, err := r.Text()
					if err != nil {
						continue
					}
					same.Resources = append(same.Resources, emco.Edit{App: app.Name, Cluster: on.Name, Key: r.Key, Text: text})
				}
			}
		}
		done, err := s.Apply(t.Context(), c, emco.Patch{AddChildren: c.Meta.ChildContextIDs})
		if err == nil {
			require.False(t, done)
		}
		done, err = s.Apply(t.Context(), c, same)
		if err == nil {
			require.False(t, done)
		}
		require.Equal(t, before, revision(t, store))
	})
}
