package etcd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// patience is how long locks on the files are waited for. A process that the last server's
// process has started shares its locks until it runs its own program.
const patience = time.Second

// checkLog refuses a database with data whose log of writes is missing. Etcd would
// wait for a leader that it cannot elect, or begin anew. A server that was killed in
// its first start leaves a database without data.
func checkLog(dir string) error {
	database, log := filepath.Join(dir, "member", "snap", "db"), filepath.Join(dir, "member", "wal")
	if segments, _ := filepath.Glob(filepath.Join(log, "*.wal")); len(segments) > 0 || !holdsKeys(database) {
		return nil
	}
	return fmt.Errorf("the data directory %s cannot be used: it has a database (%s), but its log of writes is missing (%s, *.wal). Neither is worth anything without the other: put all of the directory back from a backup", dir, database, log)
}

// holdsKeys tells whether a database is there and has data. It has none as far as it
// cannot be read, which etcd says better.
func holdsKeys(database string) bool {
	opened, err := bbolt.Open(database, 0, &bbolt.Options{ReadOnly: true, Timeout: patience})
	if err != nil {
		return false
	}
	defer func() { _ = opened.Close() }()
	some := false
	_ = opened.View(func(tx *bbolt.Tx) error {
		if keys := tx.Bucket([]byte("key")); keys != nil {
			first, _ := keys.Cursor().First()
			some = first != nil
		}
		return nil
	})
	return some
}

// awaitLog waits until the log of writes can be locked. If it cannot, etcd says so.
func awaitLog(dir string) {
	segments, _ := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	deadline := time.Now().Add(patience)
	for _, segment := range segments {
		for time.Now().Before(deadline) {
			file, err := fileutil.TryLockFile(segment, os.O_WRONLY, fileutil.PrivateFileMode)
			if err == nil {
				_ = file.Close()
			}
			if !errors.Is(err, fileutil.ErrLocked) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}
