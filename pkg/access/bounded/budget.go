// Package bounded limits what the answers of a server that is not trusted can cost: the
// redirects, the memory, and the time.
package bounded

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/time/rate"
)

const mib = 1 << 20

// The shares of a budget that one answer, and of an answer one document of a stream,
// may take. The reading of a document keeps room for more.
const (
	answerShare   = 2
	documentShare = 2
)

// How fast the answers of one server are read: large ones at once, for as long as
// that is an exception.
const (
	bytesPerSecond = 8 * mib
	bytesAtOnce    = 128 * mib
)

// Excess is the error of what costs more than it may.
type Excess struct{ reason string }

// Error implements error.
func (e *Excess) Error() string { return e.reason }

// tooLarge is the error of what would take more memory than it may.
func tooLarge(what string, most int64) error {
	return &Excess{fmt.Sprintf("%s would take more than %d MiB of memory", what, most/mib)}
}

// Budget is what one server may cost: time, and the memory of its stored data and of
// its answers while they are decoded. It is safe for concurrent use. A nil
// *Budget limits nothing.
type Budget struct {
	most int64
	kept atomic.Int64
	turn chan struct{} // holds the one large answer that is at work
	pace *rate.Limiter
}

// NewBudget is a budget of so many bytes for what is kept. An answer may take
// half of them, and large answers are read one after the other.
func NewBudget(most int64) *Budget {
	return &Budget{most: most, turn: make(chan struct{}, 1), pace: rate.NewLimiter(bytesPerSecond, bytesAtOnce)}
}

// Answer is how much memory one answer may take.
func (b *Budget) Answer() int64 { return b.most / answerShare }

// Keep asks for room for so many more bytes, or fails with an *Excess. Less than
// none gives room back.
func (b *Budget) Keep(more int64) error {
	if b == nil {
		return nil
	}
	if b.kept.Add(more) <= b.most || more <= 0 {
		return nil
	}
	b.kept.Add(-more)
	return tooLarge("the stored answers of the server", b.most)
}

// Kept is how much memory is taken by what is kept.
func (b *Budget) Kept() int64 { return b.kept.Load() }

// await waits until so many bytes may be read.
func (b *Budget) await(ctx context.Context, bytes int) error {
	if b == nil {
		return nil
	}
	if err := b.pace.WaitN(ctx, bytes); err != nil && ctx.Err() == nil {
		return &Excess{fmt.Sprintf("the server sends more than %d MiB, and faster than they are read", bytesAtOnce/mib)}
	}
	return ctx.Err()
}

// begin waits for the turn of a large answer.
func (b *Budget) begin(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end lets the next large answer have its turn.
func (b *Budget) end() { <-b.turn }
