package emco_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/emco"
)

// prod is the group of testdata.
func prod() emco.DIG {
	return emco.DIG{Project: "shop", CompositeApp: "store", Version: "v1", Name: "prod"}
}

// scene is a world with two clusters and one controller.
type scene struct {
	*emco.World
	servers

	dns *controller
}

// One pair of API servers for all, since each takes seconds: each step uses a
// world of its own.
func TestLifecycle(t *testing.T) {
	s := startServers(t, "paris", "berlin")
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s scene)
	}{
		{"instantiate, observe, update, roll back, terminate", checkStory},
		{"by emcoctl's actions", checkActions},
		{"a controller that says no ends the instantiation, and its context", checkRefusal},
		{"a controller that takes too long is not waited for", checkDeadline},
		{"not implemented is no error, except for what adapts contexts", checkNotImplemented},
		{"the first controller that fails keeps the event from the others", checkEventOrder},
		{"rsync says no", checkRsyncRefuses},
		{"a cluster that is down is tried until it is there", checkOutage},
		{"a termination ends an installation that waits", checkTerminationOfOutage},
		{"a resource that cannot be applied fails the context", checkFailedResource},
		{"one cluster of a group keeps the app", checkGroups},
		{"a context changes while controllers are called", checkMeanwhile},
		{"rsync installs contexts of controllers", checkChildren},
		{"rsync puts into clusters what Signpost hands over", checkHandover},
		{"the monitor sees addresses come, change and go", checkMonitor},
		{"credentials go by level and namespace", checkCredentials},
		{"logical clouds have to be there", checkLogicalClouds},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newScene(t, s)) })
		for _, server := range s.kubes {
			clean(t, server)
		}
	}
}

// callTimeout is the deadline of the orchestrator's calls here: one step waits
// for it to pass, and no call of the others may meet it on a busy machine.
const callTimeout = 5 * time.Second

// newScene fills a world, registers a controller and instantiates the cloud.
func newScene(t *testing.T, s servers) scene {
	w := startWorld(t, emco.Options{
		Etcd: s.etcd.URL, CallTimeout: callTimeout, RetryInterval: 50 * time.Millisecond,
		ExtraMeta: map[string]any{"Later": true},
	})
	apply(t, w, "sites.yaml", "KUBECONFIG-PARIS", os.DevNull, "KUBECONFIG-BERLIN", os.DevNull)
	for name, server := range s.kubes {
		kubeconfig, err := server.Kubeconfig(kube.Admin)
		require.NoError(t, err)
		w.SetCluster("edge", name, kubeconfig)
	}
	apply(t, w, "shop.yaml", "MANIFESTS-WEB", filepath.Join("testdata", "web.yaml"))
	require.NoError(t, w.InstantiateLogicalCloud(t.Context(), "shop", "eu"))
	dns := startController(t)
	register(t, w, "dns", dns, 2)
	return scene{World: w, servers: s, dns: dns}
}

func register(t *testing.T, w *emco.World, name string, c *controller, priority int) {
	body := fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"host":%q,"port":%d,"type":"action","priority":%d}}`, name, c.host, c.port, priority)
	code, text := send(t, http.MethodPut, w.Orchestrator.URL+"/v2/controllers/"+name, body)
	require.Equal(t, http.StatusCreated, code, text)
}

// clean removes what a step left in a cluster.
func clean(t *testing.T, server *kube.Server) {
	core := server.Client.CoreV1()
	require.NoError(t, core.ConfigMaps("shop").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	services, err := core.Services("shop").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, service := range services.Items {
		require.NoError(t, core.Services("shop").Delete(t.Context(), service.Name, metav1.DeleteOptions{}))
	}
}

func (s scene) settle(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, s.Rsync.Settle(ctx))
}

func (s scene) dump(t *testing.T, name, id string, names map[string]string) {
	text, err := s.Dump(t.Context(), id, names)
	require.NoError(t, err)
	golden.Equal(t, name, text)
}

func (s scene) state(t *testing.T, id string) string {
	now, err := s.Rsync.State(t.Context(), id)
	require.NoError(t, err)
	return now
}

func (s scene) service(t *testing.T, cluster string) (*corev1.Service, error) {
	return s.kubes[cluster].Client.CoreV1().Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
}

func (s scene) place(t *testing.T, intent string) {
	code, text := send(t, http.MethodPut,
		s.Orchestrator.URL+"/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/generic-placement-intents/everywhere/app-intents/web",
		`{"metadata":{"name":"web"},"spec":{"app":"web","intent":`+intent+`}}`)
	require.Equal(t, http.StatusCreated, code, text)
}

func checkStory(t *testing.T, s scene) {
	s.dns.then(func(ctx context.Context, c call) (bool, string, error) {
		if c.method != "/contextupdate/UpdateAppContext" {
			return true, "", nil
		}
		keys, err := s.Keys(ctx, c.texts[1])
		return len(keys) == 10 && keys["/context/"+c.texts[1]+"/rsync/state/CurrentState/"] == "", "the whole context, before rsync", err
	})
	first, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.NoError(t, s.EventError())
	s.dns.then(func(context.Context, call) (bool, string, error) { return true, "", nil })
	calls := s.dns.took()
	require.Len(t, calls, 2)
	require.Equal(t, "/contextupdate/UpdateAppContext "+first, calls[0].String())
	require.Equal(t, "front", calls[0].texts[2])
	require.Equal(t, emco.NoContext, calls[0].texts[3])
	require.Equal(t, "/contextupdate/PostEvent "+first, calls[1].String())
	require.Equal(t, uint64(emco.Instantiated), calls[1].event)
	s.settle(t)
	require.Equal(t, "Instantiated", s.state(t, first))

	service, err := s.service(t, "paris")
	require.NoError(t, err)
	require.Equal(t, first+"-web", service.Labels["emco/deployment-id"])
	require.NoError(t, s.kubes["paris"].SetLoadBalancer(t.Context(), "shop", "web", "203.0.113.10"))
	require.NoError(t, s.Observe(t.Context(), first))
	s.dump(t, "instantiated.txt", first, nil)

	second := checkUpdate(t, s, first)
	checkRollback(t, s, first, second)
	checkTermination(t, s, first, second)
}

// The second context has a changed object, one less, and another cluster; its
// statuses are in the first.
func checkUpdate(t *testing.T, s scene, first string) (second string) {
	manifests, err := os.ReadFile(filepath.Join("testdata", "web.yaml"))
	require.NoError(t, err)
	service, _, _ := strings.Cut(string(manifests), "---")
	s.SetApp(prod(), "web", strings.ReplaceAll(service, "port: 443", "port: 8443"))
	s.place(t, `{"allOf":[{"clusterProvider":"edge","clusterLabel":"west"},{"clusterProvider":"edge","cluster":"berlin"}]}`)
	second, err = s.Update(t.Context(), prod())
	require.NoError(t, err)
	calls := s.dns.took()
	require.Len(t, calls, 2)
	require.Equal(t, first, calls[0].texts[3], "the context to update from")
	require.Equal(t, "/contextupdate/PostEvent "+second, calls[1].String())
	require.Equal(t, uint64(emco.Updated), calls[1].event)
	s.settle(t)
	require.Equal(t, "Instantiated", s.state(t, second))
	require.Equal(t, "Updated", s.state(t, first))

	for _, cluster := range []string{"paris", "berlin"} {
		updated, err := s.service(t, cluster)
		require.NoError(t, err)
		require.Equal(t, int32(8443), updated.Spec.Ports[0].Port)
		require.Equal(t, first+"-web", updated.Labels["emco/deployment-id"], "of the context with the statuses")
	}
	_, err = s.kubes["paris"].Client.CoreV1().ConfigMaps("shop").Get(t.Context(), "web", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)
	require.NoError(t, s.kubes["berlin"].SetLoadBalancer(t.Context(), "shop", "web", "203.0.113.20"))
	require.NoError(t, s.Observe(t.Context(), second))
	names := map[string]string{first: "FIRST", second: "SECOND"}
	s.dump(t, "updated-first.txt", first, names)
	s.dump(t, "updated-second.txt", second, names)
	return second
}

func checkRollback(t *testing.T, s scene, first, second string) {
	require.ErrorContains(t, s.Rollback(t.Context(), prod(), 3), "no matching")
	require.NoError(t, s.Rollback(t.Context(), prod(), 1))
	calls := s.dns.took()
	require.Len(t, calls, 1, "no controller adapts anything")
	require.Equal(t, "/contextupdate/PostEvent "+first, calls[0].String())
	require.Equal(t, uint64(emco.Updated), calls[0].event)
	s.settle(t)
	require.Equal(t, "Instantiated", s.state(t, first))
	require.Equal(t, "Updated", s.state(t, second))
	_, err := s.service(t, "berlin")
	require.True(t, apierrors.IsNotFound(err), err)
	require.Equal(t, first, s.Current(prod()))
}

func checkTermination(t *testing.T, s scene, first, second string) {
	require.NoError(t, s.Terminate(t.Context(), prod()))
	calls := s.dns.took()
	require.Len(t, calls, 2)
	require.Equal(t, "/contextupdate/TerminateAppContext "+first, calls[0].String())
	require.Equal(t, uint64(emco.Terminated), calls[1].event)
	s.settle(t)
	require.Equal(t, "Terminated", s.state(t, first))
	_, err := s.service(t, "paris")
	require.True(t, apierrors.IsNotFound(err), err)
	require.ErrorContains(t, s.Terminate(t.Context(), prod()), "not instantiated")
	require.NoError(t, s.DeleteContexts(t.Context(), prod()))
	for _, id := range []string{first, second} {
		keys, err := s.Keys(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, keys)
	}
}

func checkActions(t *testing.T, s scene) {
	action := func(name string) error {
		return s.Emcoctl("").Apply(t.Context(),
			"resourceContext: {anchor: projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/"+name+"}\nspec: {revision: \"1\"}\n")
	}
	told := func() string {
		_, text := send(t, http.MethodGet, s.Orchestrator.URL+"/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status?status=deployed", "")
		return text
	}
	require.ErrorContains(t, action("terminate"), "not instantiated")
	require.NoError(t, action("approve"))
	require.NotContains(t, told(), "deployedStatus")
	require.NoError(t, action("instantiate"))
	require.ErrorContains(t, action("instantiate"), "already been instantiated")
	require.ErrorContains(t, action("approve"), "already been instantiated")
	require.Contains(t, told(), `"state":"Instantiated"`)
	require.NoError(t, action("update"))
	require.NoError(t, action("rollback"))
	require.NoError(t, action("terminate"))
	require.Contains(t, told(), `"state":"Terminated"`)
	require.ErrorContains(t, s.Emcoctl("").Apply(t.Context(), "resourceContext: {anchor: projects/shop/logical-clouds/eu/instantiate}\n"), "already instantiated")
	s.settle(t)
	require.Contains(t, told(), `"deployedStatus":"Terminated"`)
}

func checkRefusal(t *testing.T, s scene) {
	for _, answer := range []func(context.Context, call) (bool, string, error){
		func(context.Context, call) (bool, string, error) { return false, "app web has no Service", nil },
		func(context.Context, call) (bool, string, error) {
			return false, "", status.Error(codes.FailedPrecondition, "app web has no Service")
		},
	} {
		s.dns.then(answer)
		id, err := s.Instantiate(t.Context(), prod())
		require.ErrorContains(t, err, "app web has no Service")
		require.Len(t, s.dns.took(), 1, "there is no event")
		keys, err := s.Keys(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, keys)
	}
	require.Empty(t, s.Rsync.Calls())
}

func checkDeadline(t *testing.T, s scene) {
	s.dns.then(func(ctx context.Context, _ call) (bool, string, error) {
		<-ctx.Done()
		return true, "", nil
	})
	_, err := s.Instantiate(t.Context(), prod())
	require.ErrorContains(t, err, codes.DeadlineExceeded.String())
	left := s.dns.took()[0].left
	require.Positive(t, left)
	require.LessOrEqual(t, left, callTimeout)
	require.Equal(t, 10*time.Second, emco.CallTimeout)
}

func checkNotImplemented(t *testing.T, s scene) {
	missing := func(_ context.Context, c call) (bool, string, error) {
		method := c.method[strings.LastIndex(c.method, "/")+1:]
		return false, "", status.Errorf(codes.Unimplemented, "method %s not implemented", method)
	}
	s.dns.then(missing)
	_, err := s.Instantiate(t.Context(), prod())
	require.ErrorContains(t, err, "UpdateAppContext not implemented")
	s.dns.then(func(context.Context, call) (bool, string, error) { return true, "", nil })
	_, err = s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.dns.then(missing)
	require.NoError(t, s.Terminate(t.Context(), prod()))
	s.settle(t)
}

// Events go round in the order of the intents, updates in that of priorities.
func checkEventOrder(t *testing.T, s scene) {
	sds := startController(t)
	register(t, s.World, "asds", sds, 1)
	require.NoError(t, s.Emcoctl("").Apply(t.Context(),
		"resourceContext: {anchor: projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/intents}\nmetadata: {name: more}\nspec: {intent: {asds: other}}\n"))
	var order []string
	note := func(name string) {
		to := map[string]*controller{"asds": sds, "dns": s.dns}[name]
		to.then(func(_ context.Context, c call) (bool, string, error) {
			order = append(order, name+c.method[len("/contextupdate"):])
			return true, "", nil
		})
	}
	note("asds")
	note("dns")
	_, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.Equal(t, []string{"asds/UpdateAppContext", "dns/UpdateAppContext", "dns/PostEvent", "asds/PostEvent"}, order)
	require.NoError(t, s.Terminate(t.Context(), prod()))
	s.settle(t)

	s.dns.took()
	sds.took()
	s.dns.then(func(_ context.Context, c call) (bool, string, error) {
		return c.method != "/contextupdate/PostEvent", "not now", nil
	})
	sds.then(func(context.Context, call) (bool, string, error) { return true, "", nil })
	_, err = s.Instantiate(t.Context(), prod())
	require.NoError(t, err, "nobody asks what became of events")
	require.ErrorContains(t, s.EventError(), "not now")
	require.Len(t, sds.took(), 1, "the update, and no event")
	s.settle(t)
}

func checkRsyncRefuses(t *testing.T, s scene) {
	s.Rsync.Refuse("rsync is full")
	id, err := s.Instantiate(t.Context(), prod())
	require.ErrorContains(t, err, "rsync is full")
	require.Len(t, s.dns.took(), 1, "nobody is told that the context has gone")
	keys, err := s.Keys(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, keys)
	s.Rsync.Refuse("")
	_, err = s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.settle(t)

	s.Rsync.Refuse("rsync is full")
	s.dns.took()
	second, err := s.Update(t.Context(), prod())
	require.ErrorContains(t, err, "rsync is full")
	require.Len(t, s.dns.took(), 1)
	keys, err = s.Keys(t.Context(), second)
	require.NoError(t, err)
	require.NotEmpty(t, keys, "an update leaves its context behind")
	s.Rsync.Refuse("")
}

func checkOutage(t *testing.T, s scene) {
	paris := s.kubes["paris"]
	paris.Stop()
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.Len(t, s.dns.took(), 2, "the event does not wait for clusters")
	ready := "/context/" + id + "/app/web/cluster/edge+paris/readystatus/"
	wait.For(t, patience, "rsync to retry", func() error {
		keys, err := s.Keys(t.Context(), id)
		if err == nil && keys[ready] != `"Retrying"` {
			err = errors.New(keys[ready])
		}
		return err
	})
	require.Equal(t, "Instantiating", s.state(t, id))
	require.NoError(t, s.Observe(t.Context(), id), "what cannot be seen is left as it is")
	require.NoError(t, paris.Start(t.Context()))
	s.settle(t)
	require.Equal(t, "Instantiated", s.state(t, id))
}

// A termination does not wait for an installation that cannot go on.
func checkTerminationOfOutage(t *testing.T, s scene) {
	paris := s.kubes["paris"]
	paris.Stop()
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	require.NoError(t, s.Terminate(t.Context(), prod()))
	wait.For(t, patience, "the termination to begin", func() error {
		if now := s.state(t, id); now != "Terminating" {
			return errors.New(now)
		}
		return nil
	})
	require.NoError(t, paris.Start(t.Context()))
	s.settle(t)
	require.Equal(t, "Terminated", s.state(t, id))
}

func checkFailedResource(t *testing.T, s scene) {
	s.SetApp(prod(), "web", "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.settle(t)
	require.Equal(t, "InstantiateFailed", s.state(t, id))
	keys, err := s.Keys(t.Context(), id)
	require.NoError(t, err)
	require.JSONEq(t, `{"Status":"Failed"}`, keys["/context/"+id+"/app/web/cluster/edge+paris/resource/a+Thing/status/"])
}

func checkGroups(t *testing.T, s scene) {
	s.place(t, `{"anyOf":[{"clusterProvider":"edge","cluster":"paris"},{"clusterProvider":"edge","cluster":"berlin"}]}`)
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.settle(t)
	keys, err := s.Keys(t.Context(), id)
	require.NoError(t, err)
	require.Contains(t, keys, "/context/"+id+"/app/web/cluster/edge+berlin/", "the first by name")
	require.NotContains(t, keys, "/context/"+id+"/app/web/cluster/edge+paris/")
}

func checkMeanwhile(t *testing.T, s scene) {
	s.Meanwhile(func(ctx context.Context, id string) { _ = s.AddChild(ctx, id, "99") })
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.settle(t)
	require.NoError(t, s.Terminate(t.Context(), prod()))
	asked, said := s.ChildRemoval("99")
	require.True(t, asked)
	require.ErrorContains(t, said, "99")
	s.settle(t)
	require.Equal(t, "Terminated", s.state(t, id))
}

// What a controller of ours may ask of rsync: to install a context that it has
// written, over gRPC.
func checkChildren(t *testing.T, s scene) {
	child := emco.AppContext{ID: emco.NewID(), Meta: emco.Meta{Namespace: "shop", Level: "1"}, Apps: []emco.App{{
		Name: "names", Clusters: []emco.Cluster{{Name: "edge+berlin", Resources: []emco.Resource{
			{Name: "name+ConfigMap", Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: name}\n"},
		}}},
	}}}
	require.NoError(t, s.WriteContext(t.Context(), child))
	ask := func(call string) error { return emco.AskRsync(t.Context(), s.Rsync.Address, call, child.ID) }
	require.NoError(t, ask("InstallApp"))
	s.settle(t)
	maps := s.kubes["berlin"].Client.CoreV1().ConfigMaps("shop")
	_, err := maps.Get(t.Context(), "name", metav1.GetOptions{})
	require.NoError(t, err)
	require.NoError(t, ask("UninstallApp"))
	s.settle(t)
	_, err = maps.Get(t.Context(), "name", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), err)

	s.Rsync.Refuse("no more")
	require.ErrorContains(t, ask("InstallApp"), "no more")
	s.Rsync.Refuse("")
	require.Equal(t, []string{"InstallApp " + child.ID, "UninstallApp " + child.ID, "InstallApp " + child.ID}, s.Rsync.Calls())
	require.NoError(t, s.DeleteContext(t.Context(), child.ID))
	require.ErrorContains(t, ask("InstallApp"), "error finding the context id")

	empty := emco.AppContext{ID: emco.NewID(), Apps: []emco.App{{Name: "nowhere"}}}
	require.NoError(t, s.WriteContext(t.Context(), empty))
	require.ErrorContains(t, s.Rsync.Install(t.Context(), empty.ID), "Cluster list is empty")
}

func checkMonitor(t *testing.T, s scene) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.Monitor(ctx, 50*time.Millisecond)
	id, err := s.Instantiate(t.Context(), prod())
	require.NoError(t, err)
	s.settle(t)
	cluster := "/context/" + id + "/app/web/cluster/edge+paris/"
	for _, addresses := range [][]string{{"203.0.113.10"}, {"203.0.113.11", "lb.example"}, nil} {
		require.NoError(t, s.kubes["paris"].SetLoadBalancer(t.Context(), "shop", "web", addresses...))
		wait.For(t, patience, fmt.Sprintf("the addresses %v", addresses), func() error {
			keys, err := s.Keys(t.Context(), id)
			status := keys[cluster+"status/"]
			for _, address := range addresses {
				if !strings.Contains(status, address) {
					err = errors.New(status)
				}
			}
			if ready := len(addresses) > 0; keys[cluster+"resourcesready/"] != strconv.FormatBool(ready) || strings.Contains(status, "ingress") != ready {
				err = errors.New(status)
			}
			return err
		})
	}
}

// The user of a logical cloud may do what its permissions say; the cluster's own
// kubeconfig is for the default namespace. What a context asks for goes by its
// meta alone.
func checkCredentials(t *testing.T, s scene) {
	install := func(namespace, level string, objects ...emco.Resource) string {
		c := emco.AppContext{ID: emco.NewID(), Meta: emco.Meta{Namespace: namespace, Level: level}, Apps: []emco.App{{
			Name: "names", Clusters: []emco.Cluster{{Name: "edge+paris", Resources: objects}},
		}}}
		require.NoError(t, s.WriteContext(t.Context(), c))
		if level == "" {
			require.NoError(t, s.Remove(t.Context(), c.ID, "meta/"))
		}
		require.NoError(t, s.Rsync.Install(t.Context(), c.ID))
		s.settle(t)
		return s.state(t, c.ID)
	}
	own := emco.Resource{Name: "a+ConfigMap", Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}
	elsewhere := emco.Resource{Name: "b+ConfigMap", Text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: default}\n"}
	require.Equal(t, "Instantiated", install("shop", "1", own))
	require.Equal(t, "InstantiateFailed", install("shop", "1", own, elsewhere), "the user may not")
	require.Equal(t, "InstantiateFailed", install("default", "1", own), "no such user")
	require.Equal(t, "InstantiateFailed", install("shop", "0", own), "no such kubeconfig")
	require.Equal(t, "Instantiated", install("default", "0", own, elsewhere))
	require.Equal(t, "Instantiated", install("", "", own), "without meta it is the default")
	_, err := s.kubes["paris"].Client.CoreV1().ConfigMaps("shop").Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
}

func checkLogicalClouds(t *testing.T, s scene) {
	cloud := func(name, text string) {
		require.NoError(t, s.Emcoctl("").Apply(t.Context(), "resourceContext: {anchor: projects/shop/logical-clouds"+name+"}\n"+text))
	}
	instantiate := func(name string) error { return s.InstantiateLogicalCloud(t.Context(), "shop", name) }
	require.ErrorContains(t, instantiate("us"), "not found")
	cloud("", "metadata: {name: us}\nspec: {namespace: us}\n")
	require.ErrorContains(t, instantiate("us"), "No Cluster References")
	cloud("/us/cluster-references", "metadata: {name: paris}\nspec: {clusterProvider: edge, cluster: paris}\n")
	require.ErrorContains(t, instantiate("us"), "require a User Permission")
	cloud("/us/user-permissions", "metadata: {name: own}\nspec: {namespace: us, apiGroups: [''], resources: [configmaps], verbs: [get]}\n")
	cloud("/us/user-permissions", "metadata: {name: all}\nspec: {apiGroups: [''], resources: [namespaces], verbs: [get]}\n")
	require.NoError(t, instantiate("us"))
	require.NoError(t, instantiate("us"))

	cloud("", "metadata: {name: admin}\nspec: {namespace: mine, level: '0'}\n")
	cloud("/admin/cluster-references", "metadata: {name: paris}\nspec: {clusterProvider: edge, cluster: paris}\n")
	require.NoError(t, instantiate("admin"))
	_, text := get(t, s.DCM.URL+"/v2/projects/shop/logical-clouds/admin")
	require.Contains(t, text, `"namespace":"default"`)
}
