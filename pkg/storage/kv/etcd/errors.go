package etcd

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// failure maps etcd's answer to the contract's errors. All failures that are not known
// refusals count as Unavailable: the outcome of a write is unknown then.
func failure(what string, err error) error {
	err = rpctypes.Error(err)
	switch {
	case errors.Is(err, rpctypes.ErrCompacted):
		return kv.ErrCompacted
	case errors.Is(err, rpctypes.ErrRequestTooLarge):
		return &intent.Error{Code: intent.TooLarge, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		return &intent.Error{Code: intent.Conflict, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrTooManyOps), errors.Is(err, rpctypes.ErrDuplicateKey), errors.Is(err, rpctypes.ErrEmptyKey):
		return &intent.Error{Code: intent.Invalid, Detail: "etcd: " + what, Err: err}
	case errors.Is(err, rpctypes.ErrPermissionDenied), errors.Is(err, rpctypes.ErrUserEmpty):
		return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not allow it: " + what, Err: err}
	}
	return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer: " + what, Err: err}
}

func isCompacted(err error) bool { return errors.Is(err, kv.ErrCompacted) }
