package access

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// file is what a file says. It is read again when the file changes; while that
// is broken or missing, its last good state holds. It is safe for concurrent
// use.
type file[T any] struct {
	what, path string
	parse      func(content []byte) (T, error)
	log        *slog.Logger

	mu     sync.RWMutex
	good   T
	seen   stamp  // of the file when it was last read
	broken string // what has been logged of it since it was good
}

// stamp tells versions of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

// readFile reads a file for the first time. what is how errors and the log call
// it.
func readFile[T any](what, path string, log *slog.Logger, parse func(content []byte) (T, error)) (*file[T], error) {
	f := &file[T]{what: what, path: path, parse: parse, log: log}
	f.seen = f.stamp()
	var err error
	f.good, err = f.read()
	return f, err
}

// current is what the file says now.
func (f *file[T]) current() T {
	now := f.stamp()
	f.mu.RLock()
	good, same := f.good, now == f.seen
	f.mu.RUnlock()
	if same {
		return good
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now == f.seen {
		return f.good
	}
	read, err := f.read()
	if f.seen = now; err != nil {
		f.complain(err)
		return f.good
	}
	f.good, f.broken = read, ""
	f.log.Info("a file was read again", slog.String("file", f.what))
	return read
}

// complain logs, once, that the file is broken. One that cannot be read may be
// readable again without a change, as when there were too many open files.
func (f *file[T]) complain(err error) {
	if unreadable := (*fs.PathError)(nil); errors.As(err, &unreadable) {
		f.seen = stamp{}
	}
	if f.broken == err.Error() {
		return
	}
	f.broken = err.Error()
	f.log.Error("a file is broken; its last good state holds", slog.String("file", f.what), slog.Any("error", err))
}

// stamp is that of the file now; the zero one when it is missing.
func (f *file[T]) stamp() stamp {
	info, err := os.Stat(f.path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

func (f *file[T]) read() (T, error) {
	content, err := os.ReadFile(f.path)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", f.what, err)
	}
	read, err := f.parse(content)
	if err != nil {
		return read, fmt.Errorf("%s %s%w", f.what, f.path, err)
	}
	return read, nil
}
