package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The policy of the embedded server. Left to its defaults etcd keeps 10,000
// and more raft entries in memory, whole requests among them.
const (
	snapshotCount   = 200     // requests between two snapshots
	catchUpEntries  = 50      // entries kept in memory behind a snapshot
	defaultQuota    = 8 << 30 // bytes of the database file
	defaultKeep     = 5 * time.Minute
	defaultMaintain = time.Minute
	startTimeout    = 30 * time.Second
	memberName      = "signpost"
	memberURL       = "http://127.0.0.1:2380" // names the only member; nothing listens there
)

// EmbeddedOptions say where and how the embedded server runs.
type EmbeddedOptions struct {
	Dir           string        // the data directory, etcd's alone, made with mode 0700 if it is not there; required
	ListenClients bool          // serve clients on a loopback port too, see ClientURL; default: in-process alone
	Quota         int64         // bytes of the database, default 8 GiB
	Keep          time.Duration // how long history is kept for watches, default 5 minutes
	Maintain      time.Duration // interval of looking after the database file, default 1 minute
	Logger        *slog.Logger  // warnings and errors of the server, default slog.Default()
}

// Embedded is an etcd server inside this process, its only member. It listens
// nowhere, unless ListenClients is set.
type Embedded struct {
	server    *embed.Etcd
	client    *clientv3.Client
	lock      *flock.Flock
	dir       string
	quota     int64
	log       *slog.Logger
	closing   *atomic.Bool
	death     *death
	stop      context.CancelFunc
	maintains sync.WaitGroup
	close     func() error
}

// StartEmbedded starts the server and waits until it answers, which takes
// well under a second. Leases of an earlier life are revoked: their holders
// died with it. A data directory that another process uses, and one that
// cannot be read, are errors that say so. Close it at the end.
func StartEmbedded(ctx context.Context, options EmbeddedOptions) (*Embedded, error) {
	options = options.withDefaults()
	lock, err := lockDir(options.Dir)
	if err != nil {
		return nil, err
	}
	if err := checkLog(options.Dir); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	awaitLog(options.Dir)
	closing, death := &atomic.Bool{}, newDeath()
	server, err := launch(ctx, options, closing, death)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	e := &Embedded{
		server:  server,
		client:  v3client.New(server.Server),
		lock:    lock,
		dir:     options.Dir,
		quota:   options.Quota,
		log:     options.Logger,
		closing: closing,
		death:   death,
	}
	maintaining, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.close = sync.OnceValue(e.shutdown)
	if err := e.revokeOldLeases(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.maintains.Go(func() { e.maintain(maintaining, options.Maintain) })
	return e, nil
}

// KV is the in-process edge to the server. It must not be used after Close.
func (e *Embedded) KV() *KV { return New(e.client) }

// ClientURL is the loopback URL that serves clients, empty without
// ListenClients.
func (e *Embedded) ClientURL() string {
	if len(e.server.Clients) == 0 {
		return ""
	}
	return "http://" + e.server.Clients[0].Addr().String()
}

// Run waits until ctx ends, and answers nil, or until the server cannot go on,
// as when the disk is full: then it answers why. Requests fail from then on,
// and the process should end.
func (e *Embedded) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-e.death.done:
		return e.death.err
	}
}

// Close stops the server and releases the data directory. Stop all users of the KV
// before. Further calls change nothing.
func (e *Embedded) Close() error { return e.close() }

func (e *Embedded) shutdown() error {
	e.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.maintains.Wait()
		e.closing.Store(true)
		// The in-process client answers context.Canceled when it is closed.
		_ = e.client.Close()
		e.server.Close()
	}()
	select {
	case <-ended:
	case <-e.death.done: // what is dead may never end
	}
	if err := e.lock.Unlock(); err != nil {
		return fmt.Errorf("unlock the data directory: %w", err)
	}
	return nil
}

func (o EmbeddedOptions) withDefaults() EmbeddedOptions {
	o.Quota = cmp.Or(o.Quota, defaultQuota)
	o.Keep = cmp.Or(o.Keep, defaultKeep)
	o.Maintain = cmp.Or(o.Maintain, defaultMaintain)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

func lockDir(dir string) (*flock.Flock, error) {
	if dir == "" {
		return nil, &intent.Error{Code: intent.Invalid, Detail: "no data directory is given"}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "LOCK"))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if !locked {
		return nil, &intent.Error{Code: intent.Conflict, Detail: "the data directory " + dir + " is in use by another server: stop that one, or give this one a directory of its own"}
	}
	return lock, nil
}

// launch starts the server and waits until it is elected. If etcd dies or panics because
// it cannot read or write data, launch returns an error.
func launch(ctx context.Context, options EmbeddedOptions, closing *atomic.Bool, death *death) (*embed.Etcd, error) {
	config, err := configOf(options, closing, death)
	if err != nil {
		return nil, err
	}
	type result struct {
		server *embed.Etcd
		err    error
	}
	elected := make(chan result, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				elected <- result{err: unusable(options.Dir, cause)}
			}
		}()
		server, err := elect(ctx, config)
		elected <- result{server, err}
	}()
	select {
	case r := <-elected:
		return r.server, r.err
	case <-death.done:
		return nil, unusable(options.Dir, death.err)
	}
}

func unusable(dir string, cause any) error {
	return fmt.Errorf("the data directory %s cannot be used: %v; put it back from a backup, if its disk is neither full nor read-only", dir, cause)
}

func elect(ctx context.Context, config *embed.Config) (*embed.Etcd, error) {
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start the embedded etcd: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err = <-server.Err():
	case <-server.Server.StopNotify():
		err = errors.New("the server stopped")
	case <-ctx.Done():
		err = ctx.Err()
	}
	server.Close()
	return nil, fmt.Errorf("start the embedded etcd: %w", err)
}

func configOf(options EmbeddedOptions, closing *atomic.Bool, death *death) (*embed.Config, error) {
	member, err := url.Parse(memberURL)
	if err != nil {
		return nil, err
	}
	config := embed.NewConfig()
	config.Name = memberName
	config.Dir = options.Dir
	config.AdvertisePeerUrls = []url.URL{*member}
	config.AdvertiseClientUrls = []url.URL{*member}
	config.InitialCluster = memberName + "=" + memberURL
	config.ListenPeerUrls = nil
	config.ListenClientUrls = nil
	if options.ListenClients {
		config.ListenClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	}
	config.SnapshotCount = snapshotCount
	config.SnapshotCatchUpEntries = catchUpEntries
	config.QuotaBackendBytes = options.Quota
	config.AutoCompactionMode = embed.CompactorModePeriodic
	config.AutoCompactionRetention = options.Keep.String()
	// The only member needs no patience to elect itself.
	config.TickMs = 50
	config.ElectionMs = 500
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapTo(options.Logger, closing, death))
	return config, nil
}

func (e *Embedded) revokeOldLeases(ctx context.Context) error {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	old, err := e.client.Leases(ctx)
	if err != nil {
		return failure("list leases", err)
	}
	for _, one := range old.Leases {
		if _, err := e.client.Revoke(ctx, one.ID); err != nil {
			return failure("revoke a lease of an earlier life", err)
		}
	}
	return nil
}
