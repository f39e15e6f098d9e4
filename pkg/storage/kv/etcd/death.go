package etcd

import (
	"fmt"
	"sync"

	"go.uber.org/zap/zapcore"
)

// death is how the server inside this process ends when it cannot go on, as
// when the disk is full. Left to itself, it would take the process along.
type death struct {
	once sync.Once
	err  error         // why; read after done
	done chan struct{} // closed when the server is dead
}

func newDeath() *death { return &death{done: make(chan struct{})} }

// OnWrite implements zapcore.CheckWriteHook. etcd counts on it that the
// goroutine that logged does not go on: it stays here for ever.
func (d *death) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	d.once.Do(func() {
		d.err = fmt.Errorf("the embedded etcd cannot go on: %s%s", entry.Message, because(fields))
		close(d.done)
	})
	select {}
}

// because is the error among a log line's fields, if there is one.
func because(fields []zapcore.Field) string {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok {
			return ": " + err.Error()
		}
	}
	return ""
}
