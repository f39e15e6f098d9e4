package tracing

import (
	"context"
	"log/slog"
	"slices"
)

type marksKey struct{}

// mark is a mark of a context, with those around it. Far more contexts are marked than lines are written. So marking is
// cheap, and a line collects the marks.
type mark struct {
	name, value string
	outer       *mark
}

// With has log lines about what is done within the answered context say this,
// too. A name that is there already gets the new value; an empty value changes
// nothing.
func With(ctx context.Context, name, value string) context.Context {
	if value == "" {
		return ctx
	}
	outer, _ := ctx.Value(marksKey{}).(*mark)
	return context.WithValue(ctx, marksKey{}, &mark{name, value, outer})
}

// marksOf are the marks of a context, the last one of each name, the newest at the end.
func marksOf(ctx context.Context) (marks []slog.Attr) {
	at, _ := ctx.Value(marksKey{}).(*mark)
	for ; at != nil; at = at.outer {
		if !slices.ContainsFunc(marks, func(a slog.Attr) bool { return a.Key == at.name }) {
			marks = append(marks, slog.String(at.name, at.value))
		}
	}
	slices.Reverse(marks)
	return marks
}

// Handler is next, but that each line also says what its context was marked
// with (With), and which trace it belongs to, as "trace".
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, line slog.Record) error {
	marks, id := marksOf(ctx), TraceID(ctx)
	if len(marks) == 0 && id == "" {
		return h.Handler.Handle(ctx, line)
	}
	line = line.Clone()
	line.AddAttrs(marks...)
	if id != "" {
		line.AddAttrs(slog.String("trace", id))
	}
	return h.Handler.Handle(ctx, line)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
