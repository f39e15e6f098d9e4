package emco_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// webService is an edit of a Service that all golden contexts have in Paris.
func webService(text string) emco.Edit {
	return emco.Edit{App: "web", Cluster: paris, Key: "web+Service", Text: text}
}

const parisKey = root + "app/web/cluster/" + paris + "/"

func TestAPatchChangesWhatItNamesAndNothingElse(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		whole := dump(t, "context").with(keys{
			root + "meta/":                           ` {"Project" : "shop", "ChildContextIDs" :null, "Later":{"b":1e400,"a":"\u003c"}} `,
			parisKey + "resource/instruction/order/": `"{ \"resorder\" : [\"web+Service\"], \"later\":1.0}"`,
		})
		whole.write(t, store)
		s := newStore(store)
		patch := emco.Patch{
			Resources: []emco.Edit{
				webService("\n# ours\nkind: Service # <&>\n"),
				{App: "web", Cluster: paris, Key: "b+DNSEndpoint", Text: "{}", List: true},
				{App: "web", Cluster: paris, Key: "a+DNSEndpoint", Text: "{}", List: true},
				{App: "web", Cluster: paris, Key: "things+CustomResourceDefinition", Text: "kind: CustomResourceDefinition", List: true},
				{App: "api", Cluster: paris, Key: "x+ConfigMap", Text: "x", List: true},
			},
			AddChildren: []string{"12", "7"},
		}
		done, err := s.Apply(t.Context(), read(t, s, first), patch)
		require.NoError(t, err)
		require.True(t, done)
		want := whole.with(keys{
			root + "meta/":                                                     ` {"Project" : "shop", "ChildContextIDs" :["12","7"], "Later":{"b":1e400,"a":"\u003c"}} `,
			parisKey + "resource/web+Service/":                                 jsonText(t, "\n# ours\nkind: Service # <&>\n"),
			parisKey + "resource/b+DNSEndpoint/":                               `"{}"`,
			parisKey + "resource/a+DNSEndpoint/":                               `"{}"`,
			parisKey + "resource/instruction/order/":                           `"{ \"resorder\" : [\"web+Service\",\"b+DNSEndpoint\",\"a+DNSEndpoint\"], \"later\":1.0}"`,
			root + "app/api/cluster/" + paris + "/resource/x+ConfigMap/":       `"x"`,
			root + "app/api/cluster/" + paris + "/resource/instruction/order/": `"{\"resorder\":[\"x+ConfigMap\"]}"`,
		})
		require.Equal(t, want, held(t, store))

		before := revision(t, store)
		done, err = s.Apply(t.Context(), read(t, s, first), patch)
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, before, revision(t, store), "a second identical patch writes nothing")
	})
}

func TestChildrenComeAndGo(t *testing.T) {
	for name, one := range map[string]struct {
		meta        string
		add, remove []string
		want        string
	}{
		"the first one":           {`{"ChildContextIDs":null,"x":1}`, []string{"5"}, nil, `{"ChildContextIDs":["5"],"x":1}`},
		"one more":                {`{"ChildContextIDs": [ "9" ] ,"x":1}`, []string{"5"}, nil, `{"ChildContextIDs": ["9","5"] ,"x":1}`},
		"one that is there":       {`{"ChildContextIDs": [ "9" ] }`, []string{"9"}, nil, `{"ChildContextIDs": [ "9" ] }`},
		"one twice":               {`{"ChildContextIDs":[]}`, []string{"9", "9"}, nil, `{"ChildContextIDs":["9"]}`},
		"one goes, strangers not": {`{"ChildContextIDs":["1","2","3"]}`, nil, []string{"2"}, `{"ChildContextIDs":["1","3"]}`},
		"the last one goes":       {`{"ChildContextIDs":["2"],"ChildContextIDsOld":["2"]}`, nil, []string{"2"}, `{"ChildContextIDs":[],"ChildContextIDsOld":["2"]}`},
		"one that is not there":   {`{"ChildContextIDs":null}`, nil, []string{"2"}, `{"ChildContextIDs":null}`},
		"one for another":         {`{"ChildContextIDs":["1","2"]}`, []string{"3"}, []string{"1"}, `{"ChildContextIDs":["2","3"]}`},
		"no such field":           {`{"x":{"ChildContextIDs":["1"]} }`, []string{"5"}, nil, `{"x":{"ChildContextIDs":["1"]} ,"ChildContextIDs":["5"]}`},
		"nothing at all":          {`{}`, []string{"5"}, nil, `{"ChildContextIDs":["5"]}`},
		"in another letter case":  {`{"childcontextids":["1"]}`, []string{"5"}, nil, `{"childcontextids":["1"],"ChildContextIDs":["5"]}`},
		"the field twice":         {`{"ChildContextIDs":["1"],"ChildContextIDs":["2"]}`, []string{"5"}, nil, `{"ChildContextIDs":["1"],"ChildContextIDs":["2","5"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			store := kvtest.NewFake()
			dump(t, "context").with(keys{root + "meta/": one.meta}).write(t, store)
			s := newStore(store)
			done, err := s.Apply(t.Context(), read(t, s, first), emco.Patch{AddChildren: one.add, RemoveChildren: one.remove})
			require.NoError(t, err)
			require.Equal(t, one.want != one.meta, done)
			require.Equal(t, one.want, held(t, store)[root+"meta/"])
		})
	}
}

func TestPatchesThatDoNotFitAreRefused(t *testing.T) {
	for name, one := range map[string]struct {
		patch emco.Patch
		code  intent.Code
		words string
	}{
		"an app that is not there":        {emco.Patch{Resources: []emco.Edit{{App: "db", Cluster: paris, Key: "a+B", List: true}}}, intent.Conflict, `has no app "db" on edge+paris`},
		"a cluster that is not there":     {emco.Patch{Resources: []emco.Edit{{App: "api", Cluster: berlin, Key: "a+B", List: true}}}, intent.Conflict, `has no app "api" on edge+berlin`},
		"a resource that is not there":    {emco.Patch{Resources: []emco.Edit{webService("x"), {App: "web", Cluster: paris, Key: "a+B"}}}, intent.Conflict, "has no resource a+B"},
		"a resource without a kind":       {emco.Patch{Resources: []emco.Edit{{App: "web", Cluster: paris, Key: "a", List: true}}}, intent.Invalid, "name+Kind"},
		"a key of several levels":         {emco.Patch{Resources: []emco.Edit{{App: "web", Cluster: paris, Key: "a+B/status", List: true}}}, intent.Invalid, "name+Kind"},
		"two texts for one resource":      {emco.Patch{Resources: []emco.Edit{webService("x"), webService("y")}}, intent.Invalid, "is to get two resources web+Service"},
		"a child that is not an id":       {emco.Patch{Resources: []emco.Edit{webService("x")}, AddChildren: []string{"x"}}, intent.Invalid, "is not an id of an app context"},
		"a child to go that is not an id": {emco.Patch{RemoveChildren: []string{""}}, intent.Invalid, "is not an id of an app context"},
		"a text larger than etcd takes":   {emco.Patch{Resources: []emco.Edit{webService(strings.Repeat("x", 2<<20))}}, intent.TooLarge, "transaction"},
	} {
		t.Run(name, func(t *testing.T) {
			store := kvtest.NewFake()
			dump(t, "context").write(t, store)
			s := newStore(store)
			before := held(t, store)
			done, err := s.Apply(t.Context(), read(t, s, first), one.patch)
			refused(t, err, one.code, one.words)
			require.False(t, done)
			require.Equal(t, before, held(t, store))
		})
	}
	store := kvtest.NewFake()
	dump(t, "updated-first").write(t, store)
	s := newStore(store)
	_, err := s.Apply(t.Context(), read(t, s, first), emco.Patch{Resources: []emco.Edit{{App: "web", Cluster: berlin, Key: "web+Service", List: true}}})
	refused(t, err, intent.Conflict, "has no order of resources")
}

// change is what somebody else does between our reading and our patch.
type change func(t *testing.T, store kv.KV)

func puts(key, value string) change {
	return func(t *testing.T, store kv.KV) { put(t, store, key, value) }
}

func deletes(key string) change {
	return func(t *testing.T, store kv.KV) {
		_, _, err := store.Txn(t.Context(), nil, kv.DeletePrefix(key))
		require.NoError(t, err)
	}
}

func TestAContextThatSomebodyElseChangedStaysAsItIs(t *testing.T) {
	stores := map[string]kv.KV{"fake": kvtest.NewFake(), "etcd": realEtcd(t)}
	for name, meddle := range map[string]change{
		"the resource": puts(parisKey+"resource/web+Service/", `"theirs"`),
		"the resource, to the same": func(t *testing.T, store kv.KV) {
			put(t, store, parisKey+"resource/web+Service/", held(t, store)[parisKey+"resource/web+Service/"])
		},
		"another resource":             puts(parisKey+"resource/other+Service/", `"theirs"`),
		"the order":                    puts(parisKey+"resource/instruction/order/", `"{\"resorder\":[\"web+Service\",\"theirs+Pod\"]}"`),
		"another app":                  puts(root+"app/db/", `"db"`),
		"the meta":                     puts(root+"meta/", `{}`),
		"the resource is gone":         deletes(parisKey + "resource/web+Service/"),
		"the cluster is gone":          deletes(parisKey),
		"the app is gone":              deletes(root + "app/web/"),
		"the context is gone":          deletes(root),
		"the context is gone and anew": func(t *testing.T, store kv.KV) { deletes(root)(t, store); dump(t, "context").write(t, store) },
	} {
		for kind, store := range stores {
			t.Run(name+" on "+kind, func(t *testing.T) {
				deletes("/")(t, store)
				dump(t, "context").write(t, store)
				s := newStore(store)
				c := read(t, s, first)
				meddle(t, store)
				before := held(t, store)
				done, err := s.Apply(t.Context(), c, emco.Patch{
					Resources:   []emco.Edit{webService("ours"), {App: "web", Cluster: paris, Key: "new+Pod", Text: "new", List: true}},
					AddChildren: []string{"5"},
				})
				refused(t, err, intent.PreconditionFailed, "app context "+first+" was changed by someone else meanwhile")
				require.False(t, done)
				require.Equal(t, before, held(t, store))
			})
		}
	}
}

func TestChildrenChangeWhileRsyncIsAtWork(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	dump(t, "instantiated").write(t, store)
	s := newStore(store)
	c := read(t, s, first)
	put(t, store, parisKey+"status/", `"{}"`)
	put(t, store, root+"status/", `{"Status":"Updating"}`)
	done, err := s.Apply(t.Context(), c, emco.Patch{AddChildren: []string{"5"}})
	require.NoError(t, err)
	require.True(t, done)
	require.Contains(t, held(t, store)[root+"meta/"], `"ChildContextIDs":["5"]`)

	_, err = s.Apply(t.Context(), c, emco.Patch{AddChildren: []string{"6"}})
	refused(t, err, intent.PreconditionFailed)
	require.Contains(t, held(t, store)[root+"meta/"], `"ChildContextIDs":["5"]`, "no child is lost")
}

// FuzzMeta: other children change nothing else in a meta, whatever it is.
func FuzzMeta(f *testing.F) {
	f.Add(`{"Project":"shop","ChildContextIDs":null}`, "5")
	f.Add(` { } `, "0")
	f.Add(`{"a":[{"ChildContextIDs":["1"]}] , "ChildContextIDs" : [ "1" ] , "z":-0.0}`, second)
	f.Add("{\"ChildContextIDs\":[],\"\\u0043hildContextIDs\":[\"3\"]}", "5")
	whole := dump(f, "context")
	f.Fuzz(func(t *testing.T, meta, child string) {
		store := kvtest.NewFake()
		whole.with(keys{root + "meta/": meta}).write(t, store)
		s := newStore(store)
		c, err := s.Read(t.Context(), first)
		if err != nil || !intent.IsContextID(child) {
			return
		}
		_, err = s.Apply(t.Context(), c, emco.Patch{AddChildren: []string{child}})
		require.NoError(t, err)
		after := read(t, s, first)
		require.Contains(t, after.Meta.ChildContextIDs, child)
		require.Equal(t, others(t, meta), others(t, string(after.Meta.Raw)))
	})
}

// others are the fields of a meta but the children, byte for byte.
func others(t *testing.T, meta string) map[string]string {
	t.Helper()
	fields := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(meta), &fields))
	found := map[string]string{}
	for name, value := range fields {
		if name != "ChildContextIDs" {
			found[name] = string(value)
		}
	}
	return found
}

func TestAnOutcomeThatNobodyKnowsIsSaidAndRepeated(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	dump(t, "context").write(t, store)
	s := newStore(store)
	c := read(t, s, first)
	broken := errors.New("the connection broke")
	store.After = func(op, _ string) error {
		if op == "txn" {
			return broken
		}
		return nil
	}
	patch := emco.Patch{Resources: []emco.Edit{webService("ours")}}
	_, err := s.Apply(t.Context(), c, patch)
	require.ErrorIs(t, err, broken)
	store.After = nil
	done, err := s.Apply(t.Context(), read(t, s, first), patch)
	require.NoError(t, err)
	require.False(t, done, "it had happened")
}
