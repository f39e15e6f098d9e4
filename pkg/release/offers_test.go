package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
)

const (
	autopathWeb = `{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`

	// atNode are the settings of autopath with the node's cache.
	atNode = `None {"nameservers":["169.254.20.10"],"options":[{"name":"ndots","value":"5"}],"searches":["search.shop.cluster.local.ap.k8s.io"]}`
)

// offering has eu's DNS CR intent ask for autopath; more is further JSON fields.
func (w *world) offering(autopath, more string) {
	w.Helper()
	w.resolve(`[]`, `,"autopath":`+autopath+more)
}

// walks instantiates eu with autopath.
func (w *world) walks(autopath, more string) {
	w.Helper()
	w.serves(`,"autopath":` + autopath + more)
}

// serves instantiates eu with a DNS CR intent; more is further JSON fields.
func (w *world) serves(more string) {
	w.Helper()
	w.resolve(`[]`, more)
	w.nodes = map[string][]placement.Node{berlin: {linux("b1")}, paris: {linux("p1")}}
	w.do(intent.Instantiate, eu)
	w.settle(eu)
}

// newWalkers is a shop whose DNS walks search paths, and whose group prod has a
// pod DNS intent that asks for that.
func newWalkers(t testing.TB) *world {
	w := newPods(t, autopathWeb)
	w.walks(`{}`, ``)
	return w
}

// walking is prod of newWalkers, instantiated.
func walking(t testing.TB) *world {
	w := newWalkers(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	return w
}

// offers are the offers that are stored, without their ids.
func (w *world) offers() []string {
	w.Helper()
	page, err := w.documents.List(context.Background(), intent.ListOptions{Collection: intent.OfferCollection})
	require.NoError(w, err)
	out := []string{}
	for _, doc := range page.Items {
		out = append(out, string(doc.Path[:strings.LastIndexByte(string(doc.Path), '/')]))
	}
	return out
}

// offerIDs are the ids of the offers that are stored, each with a name for it.
func (w *world) offerIDs() map[string]string {
	w.Helper()
	page, err := w.documents.List(context.Background(), intent.ListOptions{Collection: intent.OfferCollection})
	require.NoError(w, err)
	out := map[string]string{}
	for _, doc := range page.Items {
		out[doc.Path.Name()[strings.LastIndexByte(doc.Path.Name(), '/')+1:]] = "offer"
	}
	return out
}

// observeDNS has a cluster give an address to the Service of its DNS.
func (w *world) observeDNS(cluster, ip string) {
	w.Helper()
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetService(context.Background(), "signpost-dns", "dns-default", address.Observation{Found: true, ClusterIPs: []string{ip}}))
}

// TestAutopathIsWhatTheDNSOfEachClusterOffers: with the node's cache its
// address, without it the address of the Service; each cluster has its domain.
func TestAutopathIsWhatTheDNSOfEachClusterOffers(t *testing.T) {
	t.Parallel()
	w := newPods(t, autopathWeb)
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","dns":{"domain":"Paris.example"}}`)
	w.put(eu+"/dns-cr-intents/others", `{"clusters":[{"clusterProvider":"edge","cluster":"paris"}],"autopath":{"mode":"static"}}`)
	w.observeDNS(paris, "10.96.0.53")
	w.walks(`{}`, `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`)

	plan := w.plan(prod, "")
	require.Empty(t, plan.Errors)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, atNode, w.podsDNS(berlin))
	require.Equal(t, `None {"nameservers":["10.96.0.53"],"options":[{"name":"ndots","value":"5"}],"searches":["search.shop.paris.example.ap.k8s.io"]}`, w.podsDNS(paris))
	require.Equal(t, []string{"autopath-offers/" + string(eu) + "/" + berlin, "autopath-offers/" + string(eu) + "/" + paris}, w.offers())
}

// TestAutopathThatIsNotOfferedIsAnErrorOfPlan: it names the cluster, the DNS CR
// intent, and what to change. When that is done, it works.
func TestAutopathThatIsNotOfferedIsAnErrorOfPlan(t *testing.T) {
	t.Parallel()
	const berlinAlone = `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`
	for _, c := range []struct {
		reason string
		cloud  func(w *world) // what the logical cloud has
		detail []string
		mend   func(w *world)
	}{
		{
			"no DNS CR intent", func(*world) {},
			[]string{"clusterFirstWithAutopath is not offered on cluster " + berlin, "on cluster " + paris, `logical cloud "eu" has no DNS CR intent; post one with autopath, and instantiate the logical cloud`},
			func(w *world) { w.walks(`{}`, ``) },
		},
		{
			"a logical cloud that is not instantiated", func(w *world) { w.offering(`{}`, ``) },
			[]string{`logical cloud "eu" is Created; instantiate it`},
			func(w *world) { w.walks(`{}`, ``) },
		},
		{
			"one that is not instantiated, without autopath", func(w *world) { w.resolve(`[]`, ``) },
			[]string{`logical cloud "eu" is Created; set autopath of DNS CR intent "resolvers", and instantiate the logical cloud`},
			func(w *world) { w.walks(`{}`, ``) },
		},
		{
			"a logical cloud that was terminated", func(w *world) { w.walks(`{}`, ``); w.do(intent.Terminate, eu); w.settle(eu) },
			[]string{`logical cloud "eu" is Terminated`},
			func(w *world) { w.walks(`{}`, ``) },
		},
		{
			"a DNS CR intent without autopath", func(w *world) { w.serves(``) },
			[]string{berlin, `DNS CR intent "resolvers" does not ask for it; set its autopath, and update logical cloud "eu"`},
			func(w *world) { w.offering(`{}`, ``); w.do(intent.Update, eu) },
		},
		{
			"a DNS CR intent that has not been released", func(w *world) { w.serves(``); w.offering(`{}`, ``) },
			[]string{`DNS CR intent "resolvers" asks for it since it was released; update logical cloud "eu"`},
			func(w *world) { w.do(intent.Update, eu) },
		},
		{
			"mode import", func(w *world) { w.serves(`,"mode":"import"`) },
			[]string{`DNS CR intent "resolvers" has mode import, which has no autopath`},
			func(w *world) { w.offering(`{}`, ``); w.do(intent.Update, eu) },
		},
		{
			"a cluster without a DNS CR intent", func(w *world) { w.walks(`{}`, berlinAlone) },
			[]string{paris, `no DNS CR intent of logical cloud "eu" configures it; post one with autopath, and update the logical cloud`},
			func(w *world) { w.offering(`{}`, ``); w.do(intent.Update, eu) },
		},
		{
			"pods in another namespace since", func(w *world) {
				w.walks(`{}`, ``)
				w.put(eu, `{"namespace":"elsewhere","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
			},
			[]string{`DNS CR intent "resolvers" offers it to pods of another namespace than "elsewhere"; update logical cloud "eu"`},
			func(w *world) { w.do(intent.Update, eu) },
		},
		{
			"static, with a Service whose address is not known yet", func(w *world) { w.walks(`{"mode":"static"}`, berlinAlone); w.onlyIn("berlin") },
			[]string{"the address of Service signpost-dns/dns-default", "which is not known yet", "enable nodeLocalDNS"},
			func(w *world) { w.observeDNS(berlin, "10.96.0.53") },
		},
		{
			"static, in a directory", func(w *world) {
				w.put("cluster-providers/edge/clusters/berlin", `{"directory":"berlin"}`)
				w.walks(`{"mode":"static"}`, berlinAlone)
				w.onlyIn("berlin")
			},
			[]string{"which cannot be observed in a directory: enable nodeLocalDNS in the DNS CR intent"},
			func(w *world) {
				w.offering(`{"mode":"static"}`, berlinAlone+`,"nodeLocalDNS":{"enabled":true}`)
				w.do(intent.Update, eu)
			},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newPods(t, autopathWeb)
			c.cloud(w)
			w.refuses(intent.Instantiate, prod, c.detail...)
			for _, e := range w.plan(prod, "").Errors {
				require.Equal(t, string(webPods)+"#/spec/dnsPolicy", e.Pointer)
			}
			c.mend(w)
			w.do(intent.Instantiate, prod)
			w.settle(prod)
			require.NotEmpty(t, w.podsDNS(berlin))
		})
	}
}

// onlyIn has prod run in one cluster.
func (w *world) onlyIn(cluster string) {
	w.Helper()
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"`+cluster+`"}],"manifests":[`+deploymentOf("web", ``)+`]}]}`, eu)
}

// TestAnOfferThatIsNotThereYetIsTold: it is released, and not applied yet.
func TestAnOfferThatIsNotThereYetIsTold(t *testing.T) {
	t.Parallel()
	w := newPods(t, autopathWeb)
	w.offering(`{}`, ``)
	w.do(intent.Instantiate, eu)
	plan := w.plan(prod, "")
	assert.Empty(t, plan.Errors)
	assert.Contains(t, fmt.Sprint(plan.Warnings), `logical cloud "eu" is Instantiating: pods with clusterFirstWithAutopath may not resolve names until its DNS is deployed`)
}

// TestTakingAutopathAwayIsRefused while pods rely on it, naming their groups and
// what would take it away; other changes of the DNS are not.
func TestTakingAutopathAwayIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason  string
		change  func(w *world)
		action  intent.Action
		at      intent.Path
		pointer string
		detail  string
	}{
		{"terminate", func(*world) {}, intent.Terminate, eu, "/dns-cr-intents", "there would be no DNS"},
		{"without autopath", func(w *world) { w.resolve(`[]`, ``) }, intent.Update, resolvers, "/spec/autopath", "it would no longer be offered"},
		{"import", func(w *world) { w.resolve(`[]`, `,"mode":"import"`) }, intent.Update, resolvers, "/spec/autopath", "it would no longer be offered"},
		{
			"another localIP", func(w *world) { w.offering(`{}`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.99.1"}`) }, intent.Update,
			resolvers, "/spec/nodeLocalDNS/localIP", "the nameserver would change",
		},
		{
			"static at the Service", func(w *world) { w.offering(`{"mode":"static"}`, ``) }, intent.Update,
			resolvers, "/spec/nodeLocalDNS", "the nameserver would change, unless nodeLocalDNS keeps it: {enabled: true}",
		},
		{
			"fewer clusters", func(w *world) { w.offering(`{}`, `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`) }, intent.Update,
			eu, "/dns-cr-intents", "on cluster " + paris + ", and there would be no DNS",
		},
		{
			"another domain", func(w *world) {
				w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","dns":{"domain":"paris.example"}}`)
			}, intent.Update,
			"cluster-providers/edge/clusters/paris", "/spec/dns/domain", "the cluster's domain would change",
		},
		{
			"static for another namespace", func(w *world) {
				w.put(eu, `{"namespace":"elsewhere","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
				w.offering(`{"mode":"static"}`, `,"nodeLocalDNS":{"enabled":true}`)
			}, intent.Update,
			resolvers, "/spec/autopath/namespaces", `it would no longer serve namespace "shop"`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := walking(t)
			c.change(w)
			w.refuses(c.action, eu, c.detail, "pods of "+string(prod)+" have clusterFirstWithAutopath on cluster")
			errors := w.plan(eu, c.action).Errors
			require.Equal(t, string(c.at)+"#"+c.pointer, errors[len(errors)-1].Pointer)

			w.do(intent.Terminate, prod)
			w.refuses(c.action, eu, string(prod))
			w.outlive()
			w.settle(prod)
			w.do(c.action, eu)
			w.settle(eu)
		})
	}
}

// TestWhatKeepsANameserverOfOnesOwnIsNamedWithIt: the easy way out is one that
// works.
func TestWhatKeepsANameserverOfOnesOwnIsNamedWithIt(t *testing.T) {
	t.Parallel()
	w := newPods(t, autopathWeb)
	w.walks(`{}`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.9.9"}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.offering(`{"mode":"static"}`, ``)
	w.refuses(intent.Update, eu, `unless nodeLocalDNS keeps it: {enabled: true, localIP: "169.254.9.9"}`)
	w.offering(`{"mode":"static"}`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.9.9"}`)
	w.do(intent.Update, eu)
}

// TestASuspendedGroupIsResumedFirst: what it is told to do would wait.
func TestASuspendedGroupIsResumedFirst(t *testing.T) {
	t.Parallel()
	w := walking(t)
	require.NotContains(t, fmt.Sprint(w.plan(eu, intent.Terminate).Errors), "suspend")
	w.put(prod, `{"logicalCloud":"eu","suspend":true,"apps":[{"name":"web","manifests":[`+deploymentOf("web", ``)+`]}]}`, eu)
	w.refuses(intent.Terminate, eu, "pods of "+string(prod), "set suspend of "+string(prod)+" to false")
	w.deploys(deploymentOf("web", ``))
	w.put(webPods, ndots1)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.do(intent.Terminate, eu)
}

// TestASearchDomainThatKubernetesDoesNotTakeIsAnErrorOfPlan: that of a long
// cluster domain.
func TestASearchDomainThatKubernetesDoesNotTakeIsAnErrorOfPlan(t *testing.T) {
	t.Parallel()
	for extra, fits := range map[int]bool{0: true, 1: false} {
		w := newPods(t, autopathWeb)
		domain := strings.Repeat(strings.Repeat("d", 55)+".", 4) + strings.Repeat("d", 253-len("search.shop..ap.k8s.io")-4*56+extra)
		w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","dns":{"domain":"`+domain+`"}}`)
		w.walks(`{}`, ``)
		if fits {
			require.Empty(t, w.plan(prod, "").Errors)
			continue
		}
		w.refuses(intent.Instantiate, prod, "on cluster "+berlin, "would have 254 characters, but Kubernetes allows at most")
		require.Equal(t, string(webPods)+"#/spec/dnsPolicy", w.plan(prod, "").Errors[0].Pointer)
	}
}

// TestAutopathInAClusterWhoseDomainIsWhereSearchDomainsAreIsAnErrorOfPlan: no
// DNS pod would start there.
func TestAutopathInAClusterWhoseDomainIsWhereSearchDomainsAreIsAnErrorOfPlan(t *testing.T) {
	t.Parallel()
	for _, domain := range []string{"ap.k8s.io", "x.ap.k8s.io"} {
		w := newPods(t, autopathWeb)
		w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","dns":{"domain":"`+domain+`"}}`)
		w.offering(`{}`, ``)
		w.refuses(intent.Instantiate, eu, "on "+berlin+": the cluster's own domain "+domain+" lies in ap.k8s.io", "give the cluster another dns.domain")
		require.Equal(t, string(resolvers)+"#/spec/autopath", w.plan(eu, "").Errors[0].Pointer)
		_, err := w.trace(berlin, "a.example")
		require.ErrorContains(t, err, "lies in ap.k8s.io")
		w.resolve(`[]`, ``)
		require.Empty(t, w.plan(eu, "").Errors)
	}
}

func TestChangesThatKeepAnOfferAreAccepted(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(w *world){
		"another option":          func(w *world) { w.offering(`{"option":65002,"searches":["corp.example"]}`, ``) },
		"static behind the cache": func(w *world) { w.offering(`{"mode":"static"}`, `,"nodeLocalDNS":{"enabled":true}`) },
		"a cache by name":         func(w *world) { w.offering(`{}`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.20.10"}`) },
		"another namespace":       func(w *world) { w.offering(`{}`, `,"namespace":"eu-dns"`) },
		"another intent": func(w *world) {
			require.NoError(w, w.delete(resolvers))
			w.put(eu+"/dns-cr-intents/other", `{"autopath":{}}`)
		},
		"pods in another namespace, edns0": func(w *world) {
			w.put(eu, `{"namespace":"elsewhere","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
		},
		"pods in another namespace, static and named": func(w *world) {
			w.put(eu, `{"namespace":"elsewhere","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
			w.offering(`{"mode":"static","namespaces":["shop"]}`, `,"nodeLocalDNS":{"enabled":true}`)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := walking(t)
			change(w)
			require.Empty(t, w.plan(eu, "").Errors)
			w.do(intent.Update, eu)
			w.settle(eu, prod)
			require.Equal(t, atNode, w.podsDNS(berlin))
		})
	}
}

// TestStaticTakesTheSearchDomainsOfNodesAway: only the nodes' caches know them, so
// a plan warns and names the groups whose pods lose them.
func TestStaticTakesTheSearchDomainsOfNodesAway(t *testing.T) {
	t.Parallel()
	const lost = "lose the search domains of their nodes on cluster "
	w := walking(t)
	w.offering(`{"searches":["corp.example"]}`, ``)
	require.NotContains(t, fmt.Sprint(w.plan(eu, "").Warnings), lost)
	w.offering(`{"mode":"static"}`, `,"nodeLocalDNS":{"enabled":true}`)
	warnings := fmt.Sprint(w.plan(eu, "").Warnings)
	require.Contains(t, warnings, "pods of "+string(prod)+" "+lost+berlin)
	require.Contains(t, warnings, lost+paris)
	w.do(intent.Update, eu)
	w.settle(eu, prod)
	require.NotContains(t, fmt.Sprint(w.plan(eu, "").Warnings), lost, "they have lost them")
}

// TestLocalIPIsNotTheDNSServiceOfACluster: the address may have been said after
// the intent.
func TestLocalIPIsNotTheDNSServiceOfACluster(t *testing.T) {
	t.Parallel()
	w := newWalkers(t)
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","dns":{"address":"169.254.20.10"}}`)
	errors := w.plan(eu, "").Errors
	require.Len(t, errors, 1)
	require.Equal(t, string(resolvers)+"#/spec/nodeLocalDNS/localIP", errors[0].Pointer)
	require.Contains(t, errors[0].Detail, "on "+paris+": 169.254.20.10 is the address of the DNS service of the cluster")
}

// TestARollbackThatTakesAutopathAwayIsRefused as an update is.
func TestARollbackThatTakesAutopathAwayIsRefused(t *testing.T) {
	t.Parallel()
	w := newPods(t, autopathWeb)
	w.serves(``)
	w.offering(`{}`, ``)
	w.do(intent.Update, eu)
	w.do(intent.Instantiate, prod)
	w.settle(eu, prod)
	before := w.keys()
	_, err := w.service.Rollback(context.Background(), eu, 1, "", "ann")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, string(prod))
	require.Equal(t, before, w.keys(), "a refusal leaves no trace")
}

// TestAnOfferIsKeptUntilThePodsAreGone: of a group's update, too, and where a
// cluster that it leaves does not answer.
func TestAnOfferIsKeptUntilThePodsAreGone(t *testing.T) {
	t.Parallel()
	for reason, leave := range map[string]func(w *world){
		"another policy":  func(w *world) { w.put(webPods, ndots1) },
		"no intent":       func(w *world) { require.NoError(w, w.delete(webPods)) },
		"another cluster": func(w *world) { w.onlyIn("berlin") },
		"twice in a row": func(w *world) {
			w.put(webPods, ndots1)
			w.do(intent.Update, prod)
			require.NoError(w, w.delete(webPods))
		},
		"back and forward": func(w *world) {
			w.onlyIn("berlin")
			w.do(intent.Update, prod)
			w.deploys(deploymentOf("web", ``))
			w.put(webPods, ndots1)
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := walking(t)
			w.down[paris] = true
			leave(w)
			require.NoError(t, w.delete(www(prod)))
			w.do(intent.Update, prod)
			w.outlive() // its names go, and its external-dns
			require.NotContains(t, w.inClusters(), hub+" Deployment external-dns-lab")
			w.offering(`{}`, `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`)
			w.refuses(intent.Update, eu, "on cluster "+paris)

			w.down[paris] = false
			w.settle(prod)
			w.do(intent.Update, eu)
			w.settle(eu, prod)
		})
	}
}

// TestARollbackOfAGroupGetsWhatIsOfferedNow: the DNS is not the group's.
func TestARollbackOfAGroupGetsWhatIsOfferedNow(t *testing.T) {
	t.Parallel()
	w := walking(t)
	w.put(webPods, ndots1)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.offering(`{}`, `,"nodeLocalDNS":{"enabled":true,"localIP":"169.254.99.1"}`)
	w.do(intent.Update, eu)
	w.settle(eu)
	_, err := w.service.Rollback(context.Background(), prod, 1, "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	require.Equal(t, strings.Replace(atNode, "169.254.20.10", "169.254.99.1", 1), w.podsDNS(berlin))
	w.refuses(intent.Terminate, eu, string(prod))

	w.put(webPods, ndots1)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.resolve(`[]`, ``)
	w.do(intent.Update, eu)
	w.settle(eu)
	_, err = w.service.Rollback(context.Background(), prod, 1, "", "ann")
	require.ErrorContains(t, err, `DNS CR intent "resolvers" does not ask for it`)
}

// TestAnotherAddressOfTheDNSServiceIsGivenAtTheNextUpdate: the Service may have
// been made anew.
func TestAnotherAddressOfTheDNSServiceIsGivenAtTheNextUpdate(t *testing.T) {
	t.Parallel()
	w := newPods(t, autopathWeb)
	w.observeDNS(berlin, "10.96.0.53")
	w.observeDNS(paris, "10.97.0.53")
	w.walks(`{"mode":"static"}`, ``)
	first := w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, first, w.do(intent.Update, prod), "nothing has changed")
	w.offering(`{"mode":"static"}`, `,"namespace":"eu-dns"`)
	w.refuses(intent.Update, eu, string(resolvers)+"#/spec/namespace", "the nameserver would change")
	w.offering(`{"mode":"static"}`, ``)

	w.observeDNS(berlin, "10.96.0.54")
	w.settle(eu, prod)
	require.Contains(t, w.podsDNS(berlin), "10.96.0.53", "a release is frozen")
	require.NotEqual(t, first, w.do(intent.Update, prod))
	w.settle(prod)
	require.Contains(t, w.podsDNS(berlin), "10.96.0.54")
}

// TestOffersThatNobodyNamesAreSwept, and no others.
func TestOffersThatNobodyNamesAreSwept(t *testing.T) {
	t.Parallel()
	w := walking(t)
	stray := intent.Join(intent.OfferCollection, string(eu), berlin, "stray")
	_, err := w.documents.Put(t.Context(), intent.Write{Path: stray, Body: []byte(`{"cloud":"` + string(eu) + `","id":"stray"}`)})
	require.NoError(t, err)
	require.NoError(t, w.service.Sweep(t.Context(), time.Hour))
	require.Len(t, w.offers(), 3, "it may be about to be named")
	w.clock.pass(2 * time.Hour)
	require.NoError(t, w.service.Sweep(t.Context(), time.Hour))
	require.Len(t, w.offers(), 2)
	w.refuses(intent.Terminate, eu, string(prod))
}
