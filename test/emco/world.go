package emco

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CallTimeout is the deadline of every call that the orchestrator makes of a
// controller, the connection included.
const CallTimeout = 10 * time.Second

// Options of a world.
type Options struct {
	Etcd string // its URL

	// CallTimeout takes the place of the constant; 0 for that.
	CallTimeout time.Duration
	// RetryInterval is how long rsync waits for a cluster; 0 for two seconds.
	RetryInterval time.Duration
	// ExtraMeta are keys that every context's meta has beside those of today.
	ExtraMeta map[string]any
}

// World is an EMCO installation.
type World struct {
	Orchestrator, DCM, CLM *Service
	Rsync                  *Rsync

	docs        *documents
	db          *contextDB
	callTimeout time.Duration
	extraMeta   map[string]any
	server      *grpc.Server

	mu         sync.Mutex
	lives      map[DIG]life
	clouds     map[string]bool // path of a logical cloud: it is instantiated
	children   map[string]error
	targets    map[string]*target // by kubeconfig
	eventError error
	meanwhile  func(ctx context.Context, id string)
}

// Start starts a world. The caller closes it, also after an error.
func Start(options Options) (*World, error) {
	w := &World{
		docs: newDocuments(), callTimeout: CallTimeout, extraMeta: options.ExtraMeta,
		lives: map[DIG]life{}, clouds: map[string]bool{}, children: map[string]error{}, targets: map[string]*target{},
	}
	if options.CallTimeout > 0 {
		w.callTimeout = options.CallTimeout
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{options.Etcd}, Logger: zap.NewNop()})
	if err != nil {
		return w, err
	}
	w.db = &contextDB{client: client, limit: -1}
	for _, s := range []struct {
		at      **Service
		handler http.Handler
	}{{&w.Orchestrator, w.orchestratorRoutes()}, {&w.DCM, w.dcmRoutes()}, {&w.CLM, w.clmRoutes()}} {
		if *s.at, err = newService(s.handler); err != nil {
			return w, err
		}
	}
	err = w.startRsync(options.RetryInterval)
	return w, err
}

func (w *World) startRsync(retry time.Duration) error {
	w.Rsync = &Rsync{db: w.db, targets: w.target, retry: retryInterval, contexts: map[string]*queue{}}
	if retry > 0 {
		w.Rsync.retry = retry
	}
	w.Rsync.life, w.Rsync.die = context.WithCancel(context.Background())
	server, err := w.Rsync.listen()
	w.server = server
	return err
}

// Close ends all parts.
func (w *World) Close() {
	for _, s := range []*Service{w.Orchestrator, w.DCM, w.CLM} {
		if s != nil {
			s.Down()
		}
	}
	if w.server != nil {
		w.server.Stop()
	}
	if w.Rsync != nil {
		w.Rsync.die()
		w.Rsync.running.Wait()
	}
	if w.db != nil {
		_ = w.db.client.Close()
	}
}

// InstantiateLogicalCloud makes the namespace of a logical cloud on each of its
// clusters; groups can be instantiated there from then on.
func (w *World) InstantiateLogicalCloud(ctx context.Context, project, name string) error {
	path := cloudOf(project, name)
	cloud, exists := read[logicalCloud](w.docs, path)
	if !exists {
		return errors.New("Logical Cloud not found") //nolint:staticcheck // EMCO's words
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cloud.Spec.Namespace}}
	for _, reference := range list[clusterReference](w.docs, path+"/cluster-references") {
		to, err := w.target(reference.Spec.Provider + "+" + reference.Spec.Cluster)
		if err != nil {
			return err
		}
		_, err = to.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clouds[path] = true
	return nil
}

func (w *World) isInstantiated(project, cloud string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clouds[cloudOf(project, cloud)]
}

// target reaches a cluster with the kubeconfig that CLM has of it.
func (w *World) target(name string) (*target, error) {
	provider, cluster, ok := strings.Cut(name, "+")
	found, exists := w.docs.get("cluster-providers/" + provider + "/clusters/" + cluster)
	if !ok || !exists {
		return nil, fmt.Errorf("cluster %q: Get kubeconfig failed", name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.targets[string(found.file)]; known != nil {
		return known, nil
	}
	reached, err := newTarget(found.file)
	if err == nil {
		w.targets[string(found.file)] = reached
	}
	return reached, err
}
