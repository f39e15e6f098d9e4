package emco

import (
	"context"
	"net/http"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
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
	users      map[string][]byte  // kubeconfigs of the users of logical clouds, by cluster and namespace
	targets    map[string]*target // by kubeconfig
	eventError error
	meanwhile  func(ctx context.Context, id string)
}

// Start starts a world. The caller closes it, also after an error.
func Start(options Options) (*World, error) {
	w := &World{
		docs: newDocuments(), callTimeout: CallTimeout, extraMeta: options.ExtraMeta,
		lives: map[DIG]life{}, clouds: map[string]bool{}, children: map[string]error{}, targets: map[string]*target{},
		users: map[string][]byte{},
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

// SetCluster makes a cluster known to CLM, or gives it another kubeconfig. Its
// provider is made if need be.
func (w *World) SetCluster(provider, name string, kubeconfig []byte) {
	path := "cluster-providers/" + provider
	if _, exists := w.docs.get(path); !exists {
		w.docs.put(path, document{value: &named{Metadata: metadata{Name: provider}}})
	}
	w.docs.put(path+"/clusters/"+name, document{value: &cluster{Metadata: metadata{Name: name}}, file: kubeconfig})
}

// SetApp gives a group's composite app an app, or other manifests for one.
func (w *World) SetApp(dig DIG, name, manifests string) {
	w.docs.put(dig.app()+"/apps/"+name, document{value: &named{Metadata: metadata{Name: name}}, file: []byte(manifests)})
}
