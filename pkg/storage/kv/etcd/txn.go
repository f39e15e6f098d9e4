package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// chunk is the size of the nested transactions that carry more operations
// than one may have. The server grants a nested one what its parent leaves of
// the limit, so 64 chunks of 64 operations fit.
const chunk = kv.MaxOps / 2

// maxRequest is the size, in bytes, of the largest request that the server
// takes. The client would not even send a larger one, and calls it a failure.
const maxRequest = embed.DefaultMaxRequestBytes

// Txn implements kv.KV.
func (s *KV) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	what := "transaction"
	size := 0
	for _, op := range then {
		size += len(op.Key) + len(op.Value)
	}
	if len(then) > 0 {
		what += " on " + then[0].Key
	}
	if size > maxRequest {
		return false, 0, failure(what, rpctypes.ErrRequestTooLarge)
	}
	if err := ctx.Err(); err != nil { // the server in this process might not notice
		return false, 0, failure(what, err)
	}
	compares := make([]clientv3.Cmp, len(when))
	for i, c := range when {
		compares[i] = compareOf(c)
	}
	answer, err := s.client.Txn(ctx).If(compares...).Then(nested(opsOf(then))...).Commit()
	if err != nil {
		return false, 0, failure(what, err)
	}
	return answer.Succeeded, answer.Header.Revision, nil
}

func compareOf(c kv.Compare) clientv3.Cmp {
	switch {
	case c.Exists:
		return clientv3.Compare(clientv3.CreateRevision(c.Key), ">", 0)
	case c.Prefix:
		return clientv3.Compare(clientv3.CreateRevision(c.Key).WithPrefix(), "=", 0)
	case c.NotAfter != 0:
		return clientv3.Compare(clientv3.ModRevision(c.Key).WithPrefix(), "<", c.NotAfter+1)
	case c.CreatedAt != 0:
		return clientv3.Compare(clientv3.CreateRevision(c.Key), "=", c.CreatedAt)
	}
	return clientv3.Compare(clientv3.ModRevision(c.Key), "=", c.ModRevision)
}

func opsOf(then []kv.Op) []clientv3.Op {
	ops := make([]clientv3.Op, len(then))
	for i, op := range then {
		var options []clientv3.OpOption
		switch {
		case op.Delete && op.Prefix:
			ops[i] = clientv3.OpDelete(op.Key, clientv3.WithPrefix())
			continue
		case op.Delete:
			ops[i] = clientv3.OpDelete(op.Key)
			continue
		case op.Lease != 0:
			options = append(options, clientv3.WithLease(clientv3.LeaseID(op.Lease)))
		}
		ops[i] = clientv3.OpPut(op.Key, string(op.Value), options...)
	}
	return ops
}

func nested(ops []clientv3.Op) []clientv3.Op {
	if len(ops) <= kv.MaxOps {
		return ops
	}
	var outer []clientv3.Op
	for len(ops) > 0 {
		n := min(chunk, len(ops))
		outer = append(outer, clientv3.OpTxn(nil, ops[:n], nil))
		ops = ops[n:]
	}
	return outer
}
