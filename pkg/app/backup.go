package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/backup"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Backup writes what the stores of a configuration hold into a file, which is
// there whole or not at all, and was not there before. The listeners and all that
// is not about stores does not matter. An embedded etcd is opened for it: its
// server must not run.
func Backup(ctx context.Context, c Config, file string) (summary backup.Summary, err error) {
	if _, err := os.Lstat(file); err == nil {
		return summary, fmt.Errorf("%s exists already: give another name", file)
	}
	if err := c.checkData(); err != nil {
		return summary, err
	}
	err = withStores(ctx, c, func(s *stores) error {
		draft, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(draft.Name()) }()
		summary, err = backup.Write(ctx, s.backed(), c.Build.Version, time.Now(), draft)
		if err == nil {
			err = draft.Sync()
		}
		if err := errors.Join(err, draft.Close()); err != nil {
			return err
		}
		return os.Link(draft.Name(), file) // which refuses to replace one
	})
	return summary, err
}

// Restore makes the empty stores of a configuration what a file says that Backup
// has written. No server may run on them.
func Restore(ctx context.Context, c Config, file string) (head backup.Header, summary backup.Summary, err error) {
	in, err := os.Open(file)
	if err != nil {
		return head, summary, err
	}
	defer in.Close()
	knows, err := c.knownKeys()
	if err != nil {
		return head, summary, err
	}
	made := c.unmade()
	err = withStores(ctx, c, func(s *stores) error {
		head, summary, err = backup.Restore(ctx, s.backed(), in, knows)
		return err
	})
	if err != nil {
		err = errors.Join(err, made.undo())
	}
	return head, summary, err
}

// unmade are directories that are not there yet, the inner first.
type unmade []string

// unmade are those of the embedded etcd.
func (s Stores) unmade() unmade {
	var dirs unmade
	for _, dir := range []string{filepath.Join(s.DataDir, "etcd"), s.DataDir} {
		if _, err := os.Lstat(dir); len(s.EtcdEndpoints) == 0 && errors.Is(err, fs.ErrNotExist) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// undo removes them with what is in them: half a restore is worth nothing, and looks
// like the data of a server.
func (u unmade) undo() error {
	var errs []error
	for _, dir := range u {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}

// checkData refuses to back up an embedded etcd that there is not.
func (s Stores) checkData() error {
	if len(s.EtcdEndpoints) > 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.DataDir, "etcd")); err != nil {
		return fmt.Errorf("--data-dir: there is nothing to back up: %w", err)
	}
	return nil
}

// knownKeys tells which keys of sealed values are at hand. The embedded store's
// own is not generated for it: a backup that needs one needs that of then.
func (c Config) knownKeys() (func(id string) bool, error) {
	if c.SecretKeyFile == "" {
		if _, err := os.Stat(filepath.Join(c.DataDir, "secret.key")); errors.Is(err, fs.ErrNotExist) {
			return func(string) bool { return false }, nil
		}
	}
	sealer, err := openSealer(c)
	if err != nil {
		return nil, err
	}
	return sealer.Knows, nil
}

// withStores opens the stores of a configuration for a while.
func withStores(ctx context.Context, c Config, do func(*stores) error) error {
	log, err := newLogger(c, os.Stderr)
	if err != nil {
		return err
	}
	if err := errors.Join(c.checkAddresses(), c.checkEtcd()); err != nil {
		return err
	}
	s, err := openStores(ctx, c, log)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.close())
}

// backed are the stores as a backup sees them.
func (s *stores) backed() backup.Stores {
	backed := backup.Stores{KV: s.kv, Named: namedContexts}
	if s.mongo != nil {
		backed.Records = s.mongo
	}
	return backed
}

// namedContexts answers the app contexts that a key of Signpost's names.
func namedContexts(item kv.Item) ([]string, error) {
	ids, err := appcontext.Named(item)
	handed, handedErr := handover.Named(item)
	return append(ids, handed...), errors.Join(err, handedErr)
}
