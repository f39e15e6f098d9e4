// Package emco reads and patches app contexts that EMCO's orchestrator has
// written in etcd, and sees from them what EMCO's rsync and monitor report.
//
// EMCO writes without transactions, one key after the other, and reads while others
// write. So a context is read at one revision, and patched only where it is still as it
// was read: whole or not at all. Unknown parts stay as they are, byte for byte.
package emco

import (
	"fmt"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Limits of a context that is read. A larger context is refused with the code TooLarge as
// soon as that is seen, before the rest is read.
const (
	maxResources = 20_000
	MaxBytes     = 64 << 20 // of all keys and values
)

// Store reads and patches contexts in a kv.KV.
type Store struct {
	kv  kv.KV
	now func() time.Time
}

// NewStore makes a Store over kv that tells the time by now.
func NewStore(kv kv.KV, now func() time.Time) *Store { return &Store{kv: kv, now: now} }

// checkID fails with the code Invalid unless id is that of an app context.
func checkID(id string) error {
	if !intent.IsContextID(id) {
		return &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("%.40q is not an id of an app context: it is a decimal number of 63 bits", id)}
	}
	return nil
}

func about(id string, code intent.Code, format string, values ...any) error {
	return &intent.Error{Code: code, Detail: "app context " + id + " " + fmt.Sprintf(format, values...)}
}

// absent is of a context that is not there; of all of them where Signpost does
// not use EMCO's etcd.
func absent(id string) error {
	return about(id, intent.NotFound, "does not exist in the etcd that Signpost uses, which has to be the one that EMCO's orchestrator writes to (--etcd-endpoints)")
}

// halfWritten is of a context that lacks what EMCO has written before it calls.
func halfWritten(id, lack string) error {
	return about(id, intent.Conflict, "is half-written: it has no %s", lack)
}

func withoutMeta(id string) error {
	return about(id, intent.Conflict, "has no meta: it is none of a deployment intent group, or half-written")
}

func changedMeanwhile(id string) error {
	return about(id, intent.PreconditionFailed, "was changed by someone else meanwhile")
}
