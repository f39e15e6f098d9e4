// Package etcd is the key-value edge over etcd: over a server inside this
// process (StartEmbedded) or an external cluster (Dial).
package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// defaultTimeout is how long the server has for a request, unless the
// context's deadline is nearer. It is long enough for a cluster to elect a new
// leader, and short enough for a user who waits.
const defaultTimeout = 5 * time.Second

// How many keys a request of a long Range reads. Each further one reads morePages times as many.
const (
	rangePage   = 1000 // the first request
	boundedPage = 32   // the first one if the bytes are bounded, as a value may have more than a megabyte
	morePages   = 4
	mostPage    = 4000
)

// KV is a kv.KV over an etcd client. Safe for concurrent use.
type KV struct {
	client *clientv3.Client
	tls    *tls.Config                 // of endpoints of https://; nil: the system's roots
	pages  recent.Memory[string, seen] // that were read lately, by the prefix of the range
}

var _ kv.KV = (*KV)(nil)

// New makes a KV over a client, which stays the caller's to close.
func New(client *clientv3.Client) *KV { return &KV{client: client} }

// DialOptions say how to reach an external etcd cluster.
type DialOptions struct {
	Endpoints []string    // "http://host:2379" or "https://…", at least one
	Username  string      // empty: no authentication
	Password  string      // of Username
	TLS       *tls.Config // nil: plain, or the system's roots for https
	Timeout   time.Duration
}

// Dial makes a KV over an external cluster. It does not wait for the cluster to answer
// (Ping does), except with a Username. That login takes at most Timeout (5
// seconds by default), and as long again to find out why it fails. Close the KV at the end.
func Dial(options DialOptions) (*KV, error) {
	if len(options.Endpoints) == 0 {
		return nil, &intent.Error{Code: intent.Invalid, Detail: "no etcd endpoint is given"}
	}
	options.Timeout = cmp.Or(options.Timeout, defaultTimeout)
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            options.Endpoints,
		Username:             options.Username,
		Password:             options.Password,
		TLS:                  options.TLS,
		DialTimeout:          options.Timeout,
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
	})
	switch {
	case errors.Is(rpctypes.Error(err), rpctypes.ErrAuthFailed):
		return nil, &intent.Error{Code: intent.Unavailable, Detail: "etcd refuses the user or the password", Err: err}
	case err != nil:
		ctx, cancel := context.WithTimeout(context.Background(), options.Timeout)
		defer cancel()
		return nil, &intent.Error{Code: intent.Unavailable, Detail: "etcd cannot be reached", Err: cause(ctx, options.Endpoints, options.TLS, err)}
	}
	return &KV{client: client, tls: options.TLS}, nil
}

// Close ends watches and leases' keep-alives and closes the connections.
func (s *KV) Close() error {
	if err := s.client.Close(); err != nil && s.client.Ctx().Err() == nil {
		return fmt.Errorf("close the etcd client: %w", err)
	}
	return nil
}

// Get implements kv.KV.
func (s *KV) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	answer, err := s.read(ctx, key)
	if err != nil {
		return nil, 0, failure("read "+key, err)
	}
	if len(answer.Kvs) == 0 {
		return nil, answer.Header.Revision, nil
	}
	item := itemOf(answer.Kvs[0])
	return &item, answer.Header.Revision, nil
}

// Range implements kv.KV. A long range is read in pages at one revision, and
// from the start again when that is compacted meanwhile.
func (s *KV) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	for {
		items, revision, err := s.rangeAt(ctx, r)
		if err == nil || r.Revision != 0 || !isCompacted(err) {
			return items, revision, err
		}
	}
}

func (s *KV) rangeAt(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	if r.Keys != nil {
		return s.named(ctx, r)
	}
	items := []kv.Item{}
	from := r.Prefix
	if r.After >= r.Prefix && r.After != "" {
		from = r.After + "\x00"
	}
	var size int64
	for limit := firstPage(r); ; limit = min(mostPage, morePages*limit) {
		if left := r.Limit - int64(len(items)); r.Limit > 0 && left < limit {
			limit = left
		}
		found, revision, err := s.page(ctx, r, from, limit)
		if err != nil {
			return nil, 0, failure("list "+r.Prefix, err)
		}
		r.Revision = cmp.Or(r.Revision, revision)
		for _, one := range found {
			items, size = append(items, itemOf(one)), size+int64(len(one.Value))
			if r.Bytes > 0 && size > r.Bytes {
				return items, r.Revision, nil
			}
		}
		if int64(len(found)) < limit || (r.Limit > 0 && int64(len(items)) >= r.Limit) {
			return items, r.Revision, nil
		}
		from = items[len(items)-1].Key + "\x00"
	}
}

// firstPage is how many keys the first request of a Range reads.
func firstPage(r kv.Range) int64 {
	if r.Bytes > 0 {
		return boundedPage
	}
	return rangePage
}

// named reads many keys at one revision, in few requests. The last request reads the first
// page of what has the prefix, too, and what is read ahead.
func (s *KV) named(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	gets := make([]clientv3.Op, 0, len(r.Keys)+len(r.Ahead)+1)
	for _, key := range r.Keys {
		gets = append(gets, clientv3.OpGet(key, clientv3.WithRev(r.Revision)))
	}
	below := func(prefix string, limit int64) {
		gets = append(gets, clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithRev(r.Revision), clientv3.WithLimit(limit)))
	}
	if r.Prefix != "" {
		below(r.Prefix, rangePage)
	}
	for _, prefix := range r.Ahead {
		below(prefix, kv.AheadLimit)
	}
	items, answered := make([]kv.Item, 0, len(gets)), 0
	for chunk := range slices.Chunk(gets, kv.MaxOps) {
		if r.Revision != 0 { // all of them are asked at that of the first
			for n := range chunk {
				clientv3.WithRev(r.Revision)(&chunk[n])
			}
		}
		answer, err := s.readAll(ctx, chunk)
		if err != nil {
			return nil, 0, failure("read "+string(chunk[0].KeyBytes())+" and others", err)
		}
		r.Revision = cmp.Or(r.Revision, answer.Header.Revision)
		for _, one := range answer.Responses {
			found := one.GetResponseRange()
			for _, pair := range found.Kvs {
				items = append(items, itemOf(pair))
			}
			if found.More && answered == len(r.Keys) && r.Prefix != "" {
				rest := kv.Range{Prefix: r.Prefix, Revision: r.Revision, After: items[len(items)-1].Key}
				further, _, err := s.rangeAt(ctx, rest)
				if err != nil {
					return nil, 0, err
				}
				items = append(items, further...)
			}
			answered++
		}
	}
	return items, r.Revision, nil
}

func (s *KV) readAll(ctx context.Context, gets []clientv3.Op) (*clientv3.TxnResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	return s.client.Txn(ctx).Then(gets...).Commit()
}

func (s *KV) read(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := ctx.Err(); err != nil { // the server in this process might not notice
		return nil, err
	}
	return s.client.Get(ctx, key, options...)
}

// Ping implements kv.KV by a linearizable read. It bypasses the client, which
// would try again until time has run out; inside this process there is none.
func (s *KV) Ping(ctx context.Context) error {
	const key = "/signpost/ping"
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	var err error
	if connection := s.client.ActiveConnection(); connection != nil {
		_, err = pb.NewKVClient(connection).Range(ctx, &pb.RangeRequest{Key: []byte(key), CountOnly: true})
	} else {
		_, err = s.read(ctx, key, clientv3.WithCountOnly())
	}
	if err != nil {
		return failure("ping", cause(ctx, s.client.Endpoints(), s.tls, err))
	}
	return nil
}

func itemOf(one *mvccpb.KeyValue) kv.Item {
	return kv.Item{
		Key:            string(one.Key),
		Value:          one.Value,
		CreateRevision: one.CreateRevision,
		ModRevision:    one.ModRevision,
	}
}

func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, defaultTimeout)
}
