package kv

import (
	"context"
	"iter"
)

// Batches groups operations so that each group fits into a transaction.
func Batches(ops iter.Seq[Op]) iter.Seq[[]Op] {
	return func(yield func([]Op) bool) {
		var batch []Op
		size := 0
		for op := range ops {
			more := len(op.Key) + len(op.Value)
			if len(batch) == MaxOps || len(batch) > 0 && size+more > MaxBytes {
				if !yield(batch) {
					return
				}
				batch, size = nil, 0
			}
			batch, size = append(batch, op), size+more
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// Map delivers what a function makes of the batches of a watch, until ctx ends, when
// the channel closes.
func Map[T any](ctx context.Context, batches <-chan Batch, of func(Batch) T) <-chan T {
	out := make(chan T)
	go func() {
		defer close(out)
		for batch := range batches {
			select {
			case out <- of(batch):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
