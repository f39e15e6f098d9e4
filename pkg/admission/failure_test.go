package admission_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// A judgement that could not be made is no judgement: whichever request to the
// store fails, the answer is Unavailable, neither a refusal nor an admission.
func TestAStoreThatDoesNotAnswerIsNoRefusal(t *testing.T) {
	const cluster = `{"clusterProvider":"edge","cluster":"hub"}`
	for path, spec := range map[intent.Path]string{
		shop:                                     `{"namespace":"moved"}`,
		newProject:                               `{}`,
		newRecord:                                coredns(`,"deployOn":` + cluster),
		newCluster:                               `{"directory":"new","projects":["shop"]}`,
		"cluster-providers/edge/clusters/hub":    `{"projects":["shop"]}`,
		eu:                                       `{"namespace":"moved","controllerCluster":` + cluster + `}`,
		eu.Child("cluster-references", "berlin"): cluster,
		eu.Child("kv-pairs", intent.AssociationName):  `{"kv":[{"a":"lab"}]}`,
		hub.Child("kv-pairs", intent.AssociationName): `{"kv":[{"a":"shop/lab"}]}`,
		prod: group(`{"name":"api","namespace":"shop","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]}`),
		www:  names(`["www.lab.example"]`, `,"namespace":"shop","records":["lab"]`),
	} {
		t.Run(string(path), func(t *testing.T) {
			fake := kvtest.NewFake()
			w := newShopOn(t, etcd.New(fake))
			old := w.old(path)
			for failing := 0; ; failing++ {
				var requests atomic.Int64 // several come at once
				fake.Before = func(string, string) error {
					if requests.Add(1) == int64(failing+1) {
						return &intent.Error{Code: intent.Unavailable, Detail: "gone"}
					}
					return nil
				}
				_, err := w.admitter.Admit(t.Context(), path, body(path, spec), old)
				fake.Before = nil
				if requests.Load() <= int64(failing) {
					require.NoError(t, err)
					assert.Positive(t, failing)
					return
				}
				require.Equal(t, intent.Unavailable, intent.CodeOf(err), "request %d of %s: %v", failing+1, path, err)
			}
		})
	}
}

func TestANamespaceTakenMeanwhileIsAConflict(t *testing.T) {
	fake := kvtest.NewFake()
	w := newWorldOn(t, etcd.New(fake))
	write, err := w.admit("projects/slow", `{"namespace":"dns"}`)
	require.NoError(t, err)
	fake.Before = func(op, key string) error {
		if op == "txn" && strings.Contains(key, "/projects//slow") { // it has its reservation, and is about to store itself
			fake.Before = nil
			w.must("projects/quick", `{"namespace":"dns"}`)
		}
		return nil
	}
	_, err = w.admitter.Put(t.Context(), write)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": "taken by another project meanwhile"})
	assert.Nil(t, w.old("projects/slow"))
	holder, err := w.admitter.NamespaceHolder(t.Context(), "dns")
	require.NoError(t, err)
	assert.Equal(t, "quick", holder)
}

func TestAProjectWithoutAReservationGetsOneWithItsNextWrite(t *testing.T) {
	w := newWorld(t)
	_, err := w.store.Put(t.Context(), intent.Write{Path: shop, Body: body(shop, `{"namespace":"dns"}`)})
	require.NoError(t, err)
	w.must(shop, `{}`)
	holder, err := w.admitter.NamespaceHolder(t.Context(), "dns")
	require.NoError(t, err)
	assert.Equal(t, "shop", holder)
}

func TestAnnotationsAreBounded(t *testing.T) {
	w := newShop(t)
	_, err := w.admit(newRecord, coredns(`,"serviceAccountAnnotations":{"a":"`+strings.Repeat("x", 257<<10)+`"}`))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/serviceAccountAnnotations": "at most 262144"})
}

func TestDefaultImages(t *testing.T) {
	assert.Equal(t, []string{"registry.k8s.io/external-dns/", "registry.k8s.io/dns/", "docker.io/coredns/", "docker.io/signpost-dns/"}, review.DefaultImages(""))
	assert.Equal(t, []string{"reg.example/external-dns/", "reg.example/dns/", "reg.example/coredns/", "reg.example/signpost-dns/"}, review.DefaultImages("reg.example/")[4:])
}
