package linter

import "context"

// Enter takes a turn for good.
func (l *Linter) Enter(ctx context.Context) error { return l.enter(ctx) }
