package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: external-dns-lab, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: shop}
stringData: {azure.json: "{}", password: hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-dns-lab, namespace: shop}
spec:
  selector: {matchLabels: {app: external-dns-lab}}
  template:
    metadata: {labels: {app: external-dns-lab}}
    spec:
      serviceAccountName: external-dns-lab
      containers:
        - name: external-dns
          image: registry.k8s.io/external-dns/external-dns:v0.22.0
          args: [--source=fake, --provider=inmemory, --policy=sync, --azure-config-file=/etc/kubernetes/azure.json]
          env:
            - {name: PLAIN, value: text}
            - {name: PASSWORD, valueFrom: {secretKeyRef: {name: credentials, key: password}}}
            - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
          volumeMounts:
            - {name: files, mountPath: /etc/kubernetes/azure.json, subPath: azure.json, readOnly: true}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - {name: files, secret: {secretName: credentials, items: [{key: azure.json, path: azure.json}]}}
        - {name: tmp, emptyDir: {}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "registry.example/web:v1"}]}
`

// One world for all steps, which build on each other.
func TestKubelet(t *testing.T) {
	k := newTestKubelet(t)
	t.Run("a container is resolved", func(t *testing.T) { checkContainer(t, k) })
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx)
	}()
	t.Run("a Deployment becomes available", func(t *testing.T) { checkAvailable(t, k) })
	t.Run("a process that dies is started again", func(t *testing.T) { checkRestart(t, k) })
	t.Run("a crash loop leaves its last words", func(t *testing.T) { checkCrashLoop(t, k) })
	t.Run("a missing Secret keeps a container from being made", func(t *testing.T) { checkMissingSecret(t, k) })
	t.Run("a change of the template replaces the pod", func(t *testing.T) { checkReplace(t, k) })
	t.Run("no replicas, no process", func(t *testing.T) { checkScaleDown(t, k) })
	stop()
	<-done
	if text := k.Log("shop", 5); !strings.Contains(text, "kubelet.log") {
		t.Errorf("the log is %s", text)
	}
}

func newTestKubelet(t *testing.T) *Kubelet {
	ports, dir := &process.Ports{}, t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), ports)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Kill)
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	server, err := kube.NewServer(t.Context(), kube.Options{Name: "hub", Dir: filepath.Join(dir, "hub"), Etcd: store.URL, Ports: ports})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Apply(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	k, err := New(t.Context(), server, filepath.Join(dir, "kubelet"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func checkContainer(t *testing.T, k *Kubelet) {
	p := &pod{deployment: get(t, k, "external-dns-lab"), ip: "10.1.2.3", dir: t.TempDir()}
	resolved, err := p.container(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.dir, "root", "etc", "kubernetes", "azure.json")
	want := []string{"--source=fake", "--provider=inmemory", "--policy=sync", "--azure-config-file=" + file}
	if !slices.Equal(resolved.args, want) {
		t.Errorf("arguments are %q, want %q", resolved.args, want)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "{}" {
		t.Errorf("the file is %q, error %v", text, err)
	}
	for _, variable := range []string{
		"PLAIN=text", "PASSWORD=hunter2", "NAMESPACE=shop", "EXTERNAL_DNS_METRICS_ADDRESS=127.1.2.3:7979",
		"EXTERNAL_DNS_KUBECONFIG=" + filepath.Join(p.dir, "kubeconfig"),
	} {
		if !slices.Contains(resolved.env, variable) {
			t.Errorf("environment %q lacks %s", resolved.env, variable)
		}
	}
	p.deployment.Spec.Template.Spec.Containers[0].Args = []string{"--metrics-address=:8080"}
	resolved, err = p.container(t.Context(), k)
	if err != nil || resolved.args[0] != "--metrics-address=127.1.2.3:8080" || resolved.health != "127.1.2.3:8080" {
		t.Errorf("with all addresses it is %+v, error %v", resolved, err)
	}
	p.deployment.Spec.Template.Spec.Containers[0].Env[1].ValueFrom.SecretKeyRef.Name = "absent"
	if _, err := p.container(t.Context(), k); err == nil || !strings.Contains(err.Error(), `secret "absent" not found`) {
		t.Errorf("without the Secret the error is %v", err)
	}
}

func checkAvailable(t *testing.T, k *Kubelet) {
	for _, name := range []string{"external-dns-lab", "web"} {
		awaitAvailable(t, k, name)
	}
	pods := listPods(t, k)
	if len(pods) != 1 || pods[0].Status.PodIP == "" || pods[0].Labels["app"] != "external-dns-lab" {
		t.Errorf("pods are %+v", pods)
	}
}

func checkRestart(t *testing.T, k *Kubelet) {
	k.mu.Lock()
	running := k.pods["shop/external-dns-lab"].process
	k.mu.Unlock()
	running.Kill()
	wait.For(t, time.Minute, "another process", func() error {
		k.mu.Lock()
		defer k.mu.Unlock()
		if now := k.pods["shop/external-dns-lab"]; now.process == running || !now.told.ContainerStatuses[0].Ready {
			return errors.New("there is none")
		}
		return nil
	})
	awaitAvailable(t, k, "external-dns-lab")
}

func checkCrashLoop(t *testing.T, k *Kubelet) {
	deployment := get(t, k, "external-dns-lab")
	before := deployment.Spec.Template.Spec.Containers[0].Args
	container := &deployment.Spec.Template.Spec.Containers[0]
	container.Args, container.TerminationMessagePolicy = []string{"--no-such-flag"}, corev1.TerminationMessageFallbackToLogsOnError
	update(t, k, deployment)
	wait.For(t, time.Minute, "a crash loop", func() error {
		for _, pod := range listPods(t, k) {
			for _, s := range pod.Status.ContainerStatuses {
				last := s.LastTerminationState.Terminated
				if s.RestartCount > 0 && s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff" &&
					last.ExitCode == 1 && strings.Contains(last.Message, "no-such-flag") {
					return nil
				}
			}
		}
		return errors.New("there is none")
	})
	deployment = get(t, k, "external-dns-lab")
	deployment.Spec.Template.Spec.Containers[0].Args = before
	update(t, k, deployment)
	awaitAvailable(t, k, "external-dns-lab")
}

func checkMissingSecret(t *testing.T, k *Kubelet) {
	secrets := k.server.Client.CoreV1().Secrets("shop")
	secret, err := secrets.Get(t.Context(), "credentials", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployment := get(t, k, "external-dns-lab")
	deployment.Spec.Template.Spec.Containers[0].Env[1].ValueFrom.SecretKeyRef.Name = "late"
	update(t, k, deployment)
	wait.For(t, time.Minute, "the container to wait for its Secret", func() error {
		for _, pod := range listPods(t, k) {
			for _, s := range pod.Status.ContainerStatuses {
				if s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError" && s.State.Waiting.Message == `secret "late" not found` {
					return nil
				}
			}
		}
		return errors.New("it does not")
	})
	secret.ObjectMeta = metav1.ObjectMeta{Name: "late", Namespace: "shop"}
	if _, err := secrets.Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitAvailable(t, k, "external-dns-lab")
}

func checkReplace(t *testing.T, k *Kubelet) {
	before := listPods(t, k)[0].Name
	deployment := get(t, k, "external-dns-lab")
	deployment.Spec.Template.Annotations = map[string]string{"credentials": "changed"}
	update(t, k, deployment)
	wait.For(t, time.Minute, "another pod", func() error {
		pods := listPods(t, k)
		if len(pods) != 1 || pods[0].Name == before || pods[0].Status.PodIP == "" {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
	awaitAvailable(t, k, "external-dns-lab")
}

func checkScaleDown(t *testing.T, k *Kubelet) {
	deployment := get(t, k, "external-dns-lab")
	deployment.Spec.Replicas = new(int32(0))
	update(t, k, deployment)
	wait.For(t, time.Minute, "no pod", func() error {
		if pods := listPods(t, k); len(pods) > 0 {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
	wait.For(t, time.Minute, "the status to follow", func() error {
		if now := get(t, k, "external-dns-lab"); now.Status.Replicas != 0 || now.Status.ObservedGeneration != now.Generation {
			return fmt.Errorf("it is %+v", now.Status)
		}
		return nil
	})
}

// awaitAvailable waits until the status says so of the present generation.
func awaitAvailable(t *testing.T, k *Kubelet, name string) {
	t.Helper()
	wait.For(t, time.Minute, name+" to be available", func() error {
		now := get(t, k, name)
		if now.Status.AvailableReplicas != 1 || now.Status.ObservedGeneration != now.Generation ||
			now.Status.Conditions[0].Status != corev1.ConditionTrue {
			return fmt.Errorf("status is %+v", now.Status)
		}
		return nil
	})
}

func get(t *testing.T, k *Kubelet, name string) *appsv1.Deployment {
	t.Helper()
	deployment, err := k.server.Client.AppsV1().Deployments("shop").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return deployment
}

// update replaces a Deployment that the kubelet may write to meanwhile.
func update(t *testing.T, k *Kubelet, deployment *appsv1.Deployment) {
	t.Helper()
	deployment.ResourceVersion = ""
	_, err := k.server.Client.AppsV1().Deployments("shop").Update(t.Context(), deployment, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func listPods(t *testing.T, k *Kubelet) []corev1.Pod {
	t.Helper()
	list, err := k.server.Client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}
