package kube_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// One server for all, since each takes seconds: the steps build on each other.
func TestServer(t *testing.T) {
	server := start(t)
	t.Run("the user signpost has its rights and no more", func(t *testing.T) { checkRights(t, server) })
	t.Run("load balancers, Ingresses and pods have their addresses", func(t *testing.T) { checkCloud(t, server) })
	t.Run("a terminating namespace goes with its contents", func(t *testing.T) { checkNamespaces(t, server) })
	t.Run("writes are noted by user", func(t *testing.T) { checkWrites(t, server) })
	t.Run("objects and tokens survive a stop", func(t *testing.T) { checkRestart(t, server) })
}

func checkRights(t *testing.T, server *kube.Server) {
	client := asSignpost(t, server)
	for _, c := range []struct {
		verb, group, resource string
		want                  bool
	}{
		{"patch", "apps", "deployments", true},
		{"create", "externaldns.k8s.io", "dnsendpoints", true},
		{"delete", "", "namespaces", true},
		{"delete", "apiextensions.k8s.io", "customresourcedefinitions", false},
		{"create", "rbac.authorization.k8s.io", "clusterroles", true}, // for the DNS of logical clouds
		{"escalate", "rbac.authorization.k8s.io", "clusterroles", false},
		{"escalate", "rbac.authorization.k8s.io", "roles", false},
		{"create", "", "pods", false},
		{"get", "", "nodes", false},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: c.verb, Group: c.group, Resource: c.resource},
		}}
		wait.For(t, time.Minute, "the right to "+c.verb, func() error { // the server hears of what was granted a moment later
			got, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			if err == nil && got.Status.Allowed != c.want {
				err = fmt.Errorf("%s %s.%s: allowed is %t, want %t", c.verb, c.resource, c.group, got.Status.Allowed, c.want)
			}
			return err
		})
	}
}

func checkCloud(t *testing.T, server *kube.Server) {
	if err := server.LoadBalancer(t.Context(), "shop", "web", "203.0.113.10", "2001:db8::1", "lb.example"); err != nil {
		t.Fatal(err)
	}
	service, err := server.Client.CoreV1().Services("shop").Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ingress := service.Status.LoadBalancer.Ingress
	if len(ingress) != 3 || ingress[0].IP != "203.0.113.10" || ingress[1].IP != "2001:db8::1" || ingress[2].Hostname != "lb.example" {
		t.Errorf("load balancer is %v", ingress)
	}
	err = errors.Join(
		server.Ingress(t.Context(), "shop", "front", "web", "203.0.113.11", "lb.example"),
		server.SetPods(t.Context(), "shop", "web", true, "10.1.0.1", "10.1.0.2"),
		server.SetPods(t.Context(), "shop", "web", false, "10.1.0.3"))
	if err != nil {
		t.Fatal(err)
	}
	front, err := server.Client.NetworkingV1().Ingresses("shop").Get(t.Context(), "front", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if points := front.Status.LoadBalancer.Ingress; len(points) != 2 || points[0].IP != "203.0.113.11" || points[1].Hostname != "lb.example" {
		t.Errorf("the Ingress is at %v", points)
	}
	slice, err := server.Client.DiscoveryV1().EndpointSlices("shop").Get(t.Context(), "web-pods", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pods := slice.Endpoints; len(pods) != 1 || pods[0].Addresses[0] != "10.1.0.3" || *pods[0].Conditions.Ready {
		t.Errorf("the pods are %v", pods)
	}
}

func checkNamespaces(t *testing.T, server *kube.Server) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go server.FinishNamespaces(ctx)
	namespace := schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	if err := server.Delete(t.Context(), namespace, "", "shop"); err != nil {
		t.Fatal(err)
	}
	wait.For(t, time.Minute, "the namespace to go", func() error {
		if _, err := server.Get(t.Context(), namespace, "", "shop"); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("it is there"), err)
		}
		return nil
	})
}

func checkWrites(t *testing.T, server *kube.Server) {
	client := asSignpost(t, server)
	_, err := client.CoreV1().Pods("default").Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsForbidden(err) {
		t.Fatalf("patch of a pod: %v", err)
	}
	began := time.Now().Add(-time.Minute)
	want := kube.Write{User: kube.Signpost, Verb: "patch", Resource: "pods", Namespace: "default", Name: "web", Code: 403}
	wait.For(t, time.Minute, "the note of the write", func() error {
		writes, err := server.Writes(kube.Signpost)
		if err != nil {
			return err
		}
		if len(writes) == 0 {
			return errors.New("it is not there")
		}
		last := writes[len(writes)-1]
		want.Agent, want.At = last.Agent, last.At
		if last != want || last.Agent == "" || last.At.Before(began) {
			return fmt.Errorf("the last one is %+v", last)
		}
		return nil
	})
}

func checkRestart(t *testing.T, server *kube.Server) {
	if err := server.Namespace(t.Context(), "kept"); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	if err := server.Namespace(t.Context(), "kept"); err == nil {
		t.Fatal("the server answers after it was stopped")
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := asSignpost(t, server).CoreV1().Namespaces().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// start starts a server on an etcd of its own.
func start(t *testing.T) *kube.Server {
	ports := &process.Ports{}
	dir := t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), ports)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Kill)
	server, err := kube.NewServer(t.Context(), kube.Options{
		Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, Ports: ports,
	})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	t.Logf("the server was ready after %s", time.Since(began).Round(100*time.Millisecond))
	if err := server.GrantSignpost(t.Context()); err != nil {
		t.Fatal(err)
	}
	return server
}

// asSignpost is a client made from the kubeconfig of the user signpost.
func asSignpost(t *testing.T, server *kube.Server) kubernetes.Interface {
	t.Helper()
	kubeconfig, err := server.Kubeconfig(kube.Signpost)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
