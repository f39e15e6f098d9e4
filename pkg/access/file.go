package access

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// source is where a file is, and who is told of it.
type source struct {
	flag, what, path string // what is how errors and the log call the file
	log              *slog.Logger
	broken           *prometheus.GaugeVec // by the flag: 1 while the file is broken
}

// file is what a file says now, which is read again each time: a changed one
// need be no younger, and no longer. While it is broken or missing, its last
// good state holds. It is safe for concurrent use.
type file[T any] struct {
	source
	parse func(content []byte) (T, error)

	mu   sync.RWMutex
	good T
	seen []byte // when it was last judged, nil where it could not be read
	told string // what has been logged of it since it was good
}

// readInto reads a file for the first time, if there is one. Its errors name the
// flag.
func readInto[T any](into **file[T], from source, parse func(content []byte) (T, error)) error {
	if from.path == "" {
		return nil
	}
	f := &file[T]{source: from, parse: parse}
	var err error
	if f.seen, err = f.read(); err == nil {
		f.good, err = f.judge(f.seen)
	}
	if err != nil {
		return fmt.Errorf("--%s: %w", f.flag, err)
	}
	f.gauge().Set(0)
	*into = f
	return nil
}

func (f *file[T]) gauge() prometheus.Gauge { return f.broken.WithLabelValues(f.flag) }

// current is what the file says now.
func (f *file[T]) current() T {
	content, err := f.read()
	f.mu.RLock()
	good, same := f.good, f.seen != nil && bytes.Equal(content, f.seen)
	f.mu.RUnlock()
	if err == nil && same {
		return good
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = content
	var now T
	if err == nil {
		now, err = f.judge(content)
	}
	if err != nil {
		f.complain(err)
		return f.good
	}
	f.good, f.told = now, ""
	f.gauge().Set(0)
	f.log.Info("file reloaded", slog.String("file", f.what))
	return now
}

// complain tells, once, that the file is broken.
func (f *file[T]) complain(err error) {
	f.gauge().Set(1)
	if f.told == err.Error() {
		return
	}
	f.told = err.Error()
	f.log.Error("file is broken; its last good state stays in force", slog.String("file", f.what), slog.Any("error", err))
}

// read answers what is in the file, never nil.
func (f *file[T]) read() ([]byte, error) {
	content, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return content, nil
}

func (f *file[T]) judge(content []byte) (T, error) {
	said, err := f.parse(content)
	if err != nil {
		return said, fmt.Errorf("%s %s%w", f.what, f.path, err)
	}
	return said, nil
}
