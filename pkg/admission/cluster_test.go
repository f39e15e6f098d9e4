package admission_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const newCluster intent.Path = "cluster-providers/edge/clusters/new"

const kubeconfig = "YXBpVmVyc2lvbjogdjEK" // "apiVersion: v1\n" in base64

func TestClustersAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "a kubeconfig and a directory", path: newCluster, spec: `{"kubeconfig":"` + kubeconfig + `","directory":"d"}`,
			errors: map[string]string{"/spec/kubeconfig": "cannot stand beside directory"}},
		{reason: "not in base64", path: newCluster, spec: `{"kubeconfig":"apiVersion: v1"}`, errors: map[string]string{"/spec/kubeconfig": "base64"}},
		{reason: "a broken kubeconfig", path: newCluster, spec: `{"kubeconfig":"eA=="}`, errors: map[string]string{"/spec/kubeconfig": "is not a Config"}},
		{reason: "labels", path: newCluster, spec: `{"labels":{"a b":"x","region":"e u"}}`,
			errors: map[string]string{"/spec/labels/a b": "not a key", "/spec/labels/region": "not a value"}},
		{reason: "its DNS", path: newCluster, spec: `{"dns":{"domain":"a..b","address":"dns.example"}}`,
			errors: map[string]string{"/spec/dns/domain": "not a DNS domain", "/spec/dns/address": "not an IP address"}},
		{reason: "a long label in its domain", path: newCluster, spec: `{"dns":{"domain":"` + strings.Repeat("a", 64) + `.local"}}`,
			errors: map[string]string{"/spec/dns/domain": "has a label longer than 63 characters"}},
		{reason: "granted namespaces", path: newCluster, spec: `{"namespaces":["shop","team-*","*","A","a/b","shop"]}`,
			errors: map[string]string{"/spec/namespaces/3": "is not a namespace", "/spec/namespaces/4": "is not a namespace", "/spec/namespaces/5": "twice"}},
		{reason: "granted kinds", path: newCluster, spec: `{"kinds":["cert-manager.io/Certificate","argoproj.io/*","Certificate","/Pod","a.b/","*/*","rbac.authorization.k8s.io/Role","storage.k8s.io/StorageClass","argoproj.io/*","core/Namespace"]}`,
			errors: map[string]string{
				"/spec/kinds/2": "is not a kind", "/spec/kinds/3": "is not a kind", "/spec/kinds/4": "is not a kind", "/spec/kinds/5": "is not a kind",
				"/spec/kinds/6": "cannot be granted", "/spec/kinds/7": "cannot be granted", "/spec/kinds/8": "twice", "/spec/kinds/9": "cannot be granted",
			}},
		{reason: "uses", path: newCluster, spec: `{"uses":["home","names","addresses","home"]}`,
			errors: map[string]string{"/spec/uses/1": "give addresses, home, apps or dns", "/spec/uses/3": "twice"}},
		{reason: "projects", path: newCluster, spec: `{"projects":["shop","a b","shop"]}`,
			errors: map[string]string{"/spec/projects/1": "not a name", "/spec/projects/2": "twice"}},
		{reason: "a project that does not exist", path: newCluster, code: intent.Conflict, spec: `{"projects":["none"]}`,
			errors: map[string]string{"/spec/projects/0": "projects/none, which does not exist"}},
		{reason: "a project that uses it is shut out", path: "cluster-providers/edge/clusters/berlin", code: intent.Conflict, spec: `{"projects":["other"]}`,
			errors: map[string]string{"/spec/projects": "projects/shop/logical-clouds/eu/cluster-references/berlin"}},
	})
}

// TestAUseThatIsReliedOnStays: others may go, and a cluster without uses has all.
func TestAUseThatIsReliedOnStays(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	const group intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	w.admitter = admission.New(w.store, review.Rules{UsesOf: func(_ context.Context, cluster intent.Path) (map[intent.ClusterUse]intent.Path, error) {
		require.Equal(t, newCluster, cluster)
		return map[intent.ClusterUse]intent.Path{intent.UseHome: group}, nil
	}})
	w.must(newCluster, `{}`)
	_, err := w.admit(newCluster, `{"uses":["addresses"]}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/uses": "leaves out home, which " + string(group) + " needs"})
	w.must(newCluster, `{"uses":["home","addresses"]}`)
	w.must(newCluster, `{"uses":["home"]}`)
	w.must(newCluster, `{}`)
}

func TestClusterDirectoriesAreRefused(t *testing.T) {
	for reason, directory := range map[string]string{
		"absolute": "/etc", "the root": ".", "above the root": "../x", "climbs": "a/../b", "climbs first": "..", "a double slash": "a//b",
		"a slash at the end": "a/", "hidden": ".git", "hidden below": "a/.git", "a backslash": `a\\b`, "a space": "a b", "like a flag": "-a",
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := newShop(t).admit(newCluster, `{"directory":"`+directory+`"}`)
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/directory": "such as clusters/berlin"})
		})
	}
}

func TestADirectoryHasOneWriter(t *testing.T) {
	w := newShop(t)
	w.must(newCluster, `{"directory":"sites/berlin"}`)
	w.must(newCluster, `{"directory":"sites/berlin","labels":{"a":"b"}}`)
	const another = "cluster-providers/edge/clusters/another"
	for reason, directory := range map[string]string{"the same": "sites/berlin", "within": "sites/berlin/x", "around": "sites", "another case": "Sites/Berlin"} {
		t.Run(reason, func(t *testing.T) {
			_, err := w.admit(another, `{"directory":"`+directory+`"}`)
			assertFields(t, err, intent.Conflict, map[string]string{"/spec/directory": string(newCluster)})
		})
	}
	w.must(another, `{"directory":"sites/berlin2"}`)
}

func TestAKubeconfigIsTakenOutAndKept(t *testing.T) {
	w := newShop(t)
	doc := w.must(newCluster, `{"kubeconfig":"`+kubeconfig+`"}`)
	assert.Equal(t, map[string]string{"seal1": "/spec/kubeconfig = apiVersion: v1\n"}, w.sealed)
	assert.Equal(t, []string{"seal1"}, admission.SealedValues(doc))
	assert.NotContains(t, string(doc.Body), kubeconfig)
	assert.NotContains(t, w.shown(newCluster), "seal1")

	doc = w.must(newCluster, `{"labels":{"a":"b"}}`)
	assert.Equal(t, []string{"seal1"}, admission.SealedValues(doc), "a PUT without one keeps it")
	doc = w.must(newCluster, `{"kubeconfigRef":"stolen","labels":{"a":"b"}}`)
	assert.Equal(t, []string{"seal1"}, admission.SealedValues(doc), "a reference is never taken from a body")
	doc = w.must(newCluster, `{"kubeconfig":"`+kubeconfig+`"}`)
	assert.Equal(t, []string{"seal2"}, admission.SealedValues(doc))
	assert.Contains(t, w.shown(newCluster), `"credentialsExpire":"2026-12-02T09:30:00Z"`)
	w.must(newCluster, `{"labels":{"a":"c"},"expires":"2030-01-01T00:00:00Z"}`)
	assert.Contains(t, w.shown(newCluster), `"credentialsExpire":"2026-12-02T09:30:00Z"`, "a PUT without a kubeconfig keeps it, and takes none from a body")
	doc = w.must(newCluster, `{"directory":"new"}`)
	assert.Empty(t, admission.SealedValues(doc), "a directory takes its place")
	assert.NotContains(t, w.shown(newCluster), "credentialsExpire")

	write, err := w.admit("cluster-providers/edge/clusters/thief", `{"kubeconfigRef":"seal1"}`)
	require.NoError(t, err)
	assert.Empty(t, admission.SealedValues(w.put(write)))
}

func TestClustersAreCanonical(t *testing.T) {
	accepted(t, []acceptance{
		{reason: "its DNS", path: newCluster, spec: `{"dns":{"domain":"Cluster.Local.","address":"::ffff:10.96.0.10"}}`,
			stored: `{"dns":{"domain":"cluster.local","address":"10.96.0.10"}}`},
		{reason: "projects are referred to", path: newCluster, spec: `{"projects":["shop"]}`, stored: `{"projects":["shop"]}`, refs: []intent.Path{shop}},
		{reason: "inventory alone", path: newCluster, spec: `{}`, stored: `{}`},
	})
}

func TestLogicalCloudsAreRefused(t *testing.T) {
	const cloud intent.Path = "projects/shop/logical-clouds/new"
	refused(t, []refusal{
		{reason: "Kubernetes' namespace", path: cloud, spec: `{"namespace":"kube-public"}`, errors: map[string]string{"/spec/namespace": "belongs to Kubernetes"}},
		{reason: "Signpost's namespace", path: cloud, spec: `{"namespace":"signpost"}`, errors: map[string]string{"/spec/namespace": "is the namespace of Signpost with its ServiceAccounts"}},
		{reason: "Kubernetes' namespace by its name", path: "projects/shop/logical-clouds/Kube.System", spec: `{}`, errors: map[string]string{"/spec/namespace": "belongs to Kubernetes"}},
		{reason: "the cluster DNS' namespace", path: cloud, spec: `{"namespace":"signpost-dns"}`, errors: map[string]string{"/spec/namespace": "cluster DNS"}},
		{reason: "another project's namespace", path: cloud, code: intent.Conflict, spec: `{"namespace":"other-dns"}`, errors: map[string]string{"/spec/namespace": "the namespace of another project"}},
		{reason: "a controller that does not exist", path: cloud, code: intent.Conflict, spec: `{"controllerCluster":{"clusterProvider":"edge","cluster":"none"}}`,
			errors: map[string]string{"/spec/controllerCluster": "does not exist"}},
		{reason: "a controller for others", path: cloud, code: intent.Conflict, spec: `{"controllerCluster":{"clusterProvider":"edge","cluster":"private"}}`,
			errors: map[string]string{"/spec/controllerCluster": "does not allow project shop"}},
		{reason: "a controller without a name", path: cloud, spec: `{"controllerCluster":{"clusterProvider":"a/b","cluster":""}}`,
			errors: map[string]string{"/spec/controllerCluster/clusterProvider": "", "/spec/controllerCluster/cluster": ""}},
	})
	accepted(t, []acceptance{
		{reason: "its name is its namespace", path: "projects/shop/logical-clouds/North_Sea", spec: `{}`, stored: `{"namespace":"north-sea"}`},
		{reason: "its project's own namespace", path: cloud, spec: `{"namespace":"shop-dns"}`, stored: `{"namespace":"shop-dns"}`},
		{reason: "a namespace shared with another logical cloud", path: "projects/other/logical-clouds/new", spec: `{"namespace":"shop"}`, stored: `{"namespace":"shop"}`},
		{reason: "its controller is referred to", path: cloud, refs: []intent.Path{hub}, spec: `{"controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`,
			stored: `{"namespace":"new","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`},
		{reason: "a PUT without a namespace keeps it", path: eu, spec: `{}`, stored: `{"namespace":"shop"}`},
	})
}

func TestALogicalCloudStaysWhereManifestsAre(t *testing.T) {
	w := newShop(t)
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}}]}]}`)
	_, err := w.admit(eu, `{"namespace":"elsewhere"}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/namespace": string(prod)})
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"}}]}]}`)
	w.must(eu, `{"namespace":"elsewhere"}`)
}

func TestClusterReferencesAreRefused(t *testing.T) {
	reference := eu.Child("cluster-references", "new")
	refused(t, []refusal{
		{reason: "no such cluster", path: reference, code: intent.Conflict, spec: `{"clusterProvider":"edge","cluster":"none"}`,
			errors: map[string]string{"/spec": "cluster-providers/edge/clusters/none, which does not exist"}},
		{reason: "a cluster for others", path: reference, code: intent.Conflict, spec: `{"clusterProvider":"edge","cluster":"private"}`,
			errors: map[string]string{"/spec": "does not allow project shop"}},
		{reason: "the same cluster twice", path: reference, code: intent.Conflict, spec: `{"clusterProvider":"edge","cluster":"berlin"}`,
			errors: map[string]string{"/spec": "cluster-references/berlin already refers to"}},
	})
}

func TestAClusterReferenceStaysWhileAnAppNamesItsCluster(t *testing.T) {
	w := newShop(t)
	berlin := eu.Child("cluster-references", "berlin")
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},{"name":"api"}]}`)
	err := w.admitter.Delete(t.Context(), berlin, intent.Always())
	assert.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, string(prod))
	_, err = w.admit(berlin, `{"clusterProvider":"edge","cluster":"paris"}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec": string(prod)})
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web"},{"name":"api"}]}`)
	w.must(berlin, `{"clusterProvider":"edge","cluster":"paris"}`)
	require.NoError(t, w.admitter.Delete(t.Context(), berlin, intent.Always()))
}

// TestKubeconfigsAreHeldAgainstTheClustersThatAnswer: a refusal stores nothing
// and names the field; what fails without a verdict passes through.
func TestKubeconfigsAreHeldAgainstTheClustersThatAnswer(t *testing.T) {
	documents := etcd.New(kvtest.NewFake())
	w := newWorldOn(t, documents)
	w.must("cluster-providers/edge", `{}`)
	var asked []string
	var answer error
	w.admitter = admission.New(documents, review.Rules{Claim: func(_ context.Context, path intent.Path, yaml []byte) error {
		asked = append(asked, string(path)+" "+string(yaml))
		return answer
	}})
	w.must(newCluster, `{"kubeconfig":"`+kubeconfig+`"}`)
	require.Equal(t, []string{string(newCluster) + " apiVersion: v1\n"}, asked)
	w.must(newCluster, `{"labels":{"region":"eu"}}`)
	w.must("projects/shop", `{}`)
	require.Len(t, asked, 1, "without a new kubeconfig nobody is asked")

	before, err := documents.Get(t.Context(), newCluster)
	require.NoError(t, err)
	try := func() error {
		write, err := w.admit(newCluster, `{"kubeconfig":"`+kubeconfig+`"}`)
		require.NoError(t, err)
		_, err = w.admitter.Put(t.Context(), write)
		return err
	}
	answer = &intent.Error{Code: intent.Conflict, Detail: "it is registered as edge+hub"}
	assertFields(t, try(), intent.Conflict, map[string]string{"/spec/kubeconfig": "it is registered as edge+hub"})
	answer = &intent.Error{Code: intent.Unavailable, Detail: "no leader"}
	require.ErrorIs(t, try(), answer)
	now, err := documents.Get(t.Context(), newCluster)
	require.NoError(t, err)
	require.Equal(t, before, now)
}
