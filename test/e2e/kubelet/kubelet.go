// Package kubelet plays, for one API server, all that makes a Deployment run:
// it starts the real external-dns as a process with exactly the arguments, the
// environment and the files of the Deployment's first container, under a token
// of the Deployment's own ServiceAccount, and writes the status of the
// Deployment and of a Pod. A Deployment of any other image counts as running
// without a process.
//
// A process has neither a file system nor a network of its own. So in arguments
// and environment the paths of mounted files are replaced by where they are,
// and "all addresses" of the metrics by the pod's address; nothing else is.
package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/tools"
)

// interval is how often the kubelet looks at the Deployments.
const interval = 250 * time.Millisecond

// Kubelet runs the Deployments of one API server.
type Kubelet struct {
	server  *kube.Server
	dir     string
	program string       // external-dns
	log     *slog.Logger // what it did and why something does not run
	network [2]byte      // second and third byte of its pods' addresses

	mu   sync.Mutex
	pods map[string]*pod // by namespace/name of the Deployment
	last byte            // fourth byte of the last pod's address
}

// New prepares a kubelet whose files are in dir; Run runs it.
func New(ctx context.Context, server *kube.Server, dir string) (*Kubelet, error) {
	program, err := tools.Path(ctx, tools.ExternalDNSStories)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "kubelet.log"))
	if err != nil {
		return nil, err
	}
	return &Kubelet{
		server: server, dir: dir, program: program,
		log: slog.New(slog.NewTextHandler(file, nil)),
		// Each kubelet has a network of its own, so that pods of several test
		// programs do not meet.
		network: [2]byte{byte(1 + rand.IntN(250)), byte(1 + rand.IntN(250))},
		pods:    map[string]*pod{},
	}, nil
}

// Run runs the Deployments until ctx ends, and then ends their processes.
// While the API server does not answer, what runs goes on.
func (k *Kubelet) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		k.round(ctx)
		select {
		case <-ctx.Done():
			k.stopAll()
			return
		case <-ticker.C:
		}
	}
}

// Log returns the logs of the kubelet and of the pods of a namespace, the last
// lines of each, for a failure's message.
func (k *Kubelet) Log(namespace string, lines int) string {
	paths, err := filepath.Glob(filepath.Join(k.dir, namespace+"_*.log"))
	if err != nil {
		return err.Error()
	}
	sort.Strings(paths)
	var text strings.Builder
	for _, path := range append(paths, filepath.Join(k.dir, "kubelet.log")) {
		fmt.Fprintln(&text, tail(path, lines))
	}
	return text.String()
}

// round looks at all Deployments once.
func (k *Kubelet) round(ctx context.Context) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, err := k.server.Client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return // the server is down: nothing is known, nothing changes
	}
	seen := map[string]bool{}
	for i := range list.Items {
		deployment := &list.Items[i]
		key := deployment.Namespace + "/" + deployment.Name
		seen[key] = true
		ready, err := k.sync(ctx, key, deployment)
		if err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "it does not run", "deployment", key, "error", err)
		}
		if err := k.writeStatus(ctx, deployment, ready); err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "write its status", "deployment", key, "error", err)
		}
	}
	for key := range k.pods {
		if !seen[key] {
			k.stop(ctx, key, "its Deployment is gone")
		}
	}
}

// sync brings what runs for one Deployment in line with it, and tells whether
// it is ready.
func (k *Kubelet) sync(ctx context.Context, key string, deployment *appsv1.Deployment) (bool, error) {
	template, err := templateHash(deployment)
	if err != nil {
		return false, err
	}
	if running := k.pods[key]; running != nil {
		switch {
		case replicas(deployment) == 0:
			k.stop(ctx, key, "it has no replicas")
		case running.template != template || running.owner != deployment.UID:
			k.stop(ctx, key, "its template changed") // strategy Recreate
		}
	}
	if replicas(deployment) == 0 {
		return false, nil
	}
	if !isExternalDNS(deployment) {
		return true, nil
	}
	if k.pods[key] == nil {
		if err := k.create(ctx, key, template, deployment); err != nil {
			return false, err
		}
	}
	return k.pods[key].keepRunning(ctx, k)
}

// create makes the pod of a Deployment; keepRunning starts it.
func (k *Kubelet) create(ctx context.Context, key, template string, deployment *appsv1.Deployment) error {
	k.last++
	p := &pod{
		deployment: deployment, owner: deployment.UID, template: template,
		ip:  fmt.Sprintf("10.%d.%d.%d", k.network[0], k.network[1], k.last),
		dir: filepath.Join(k.dir, fmt.Sprintf("%s_%s_%d", deployment.Namespace, deployment.Name, k.last)),
	}
	if err := p.createObject(ctx, k); err != nil {
		return fmt.Errorf("pod: %w", err)
	}
	k.pods[key] = p
	return nil
}

// stop ends a pod and removes its object.
func (k *Kubelet) stop(ctx context.Context, key, why string) {
	p := k.pods[key]
	delete(k.pods, key)
	p.end()
	k.log.InfoContext(ctx, "stopped a pod", "deployment", key, "pod", p.name(), "because", why)
	if err := p.deleteObject(ctx, k); err != nil && ctx.Err() == nil {
		k.log.WarnContext(ctx, "delete a pod", "deployment", key, "error", err)
	}
}

func (k *Kubelet) stopAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, p := range k.pods {
		delete(k.pods, key)
		p.end()
	}
}

// isExternalDNS tells whether the Deployment's first container is external-dns.
func isExternalDNS(deployment *appsv1.Deployment) bool {
	containers := deployment.Spec.Template.Spec.Containers
	return len(containers) > 0 && strings.Contains(containers[0].Image, "external-dns")
}

// replicas is how many pods the Deployment wants: external-dns has no leader
// election, so more than one counts as one.
func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.DeletionTimestamp != nil || deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
		return 0
	}
	return 1
}

// templateHash changes with anything in the pod template.
func templateHash(deployment *appsv1.Deployment) (string, error) {
	text, err := json.Marshal(deployment.Spec.Template)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:4]), nil
}
