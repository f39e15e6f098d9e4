package builtin

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// mostWitnesses are how many other names tell whether the servers work, when none of those asked for can be read.
const mostWitnesses = 8

// read reads names, and notes a failure of each that cannot be read. Among names that are refused together, it looks for
// these by halves. It fails if the servers answer for no name at all.
func (l *loop) read(ctx context.Context, names []string, want map[string][]publisher.Set) (map[string]publisher.State, error) {
	states, unread, together := l.ask(ctx, names, want)
	if len(states) == 0 && !l.works(ctx, names) {
		return nil, unread[slices.Min(names)]
	}
	if together && len(names) > 1 {
		for half := range slices.Chunk(names, (len(names)+1)/2) {
			read, err := l.read(ctx, half, want)
			if err != nil {
				return nil, err
			}
			maps.Copy(states, read)
		}
		return states, nil
	}
	for name, err := range unread {
		l.urgent[name] = true
		l.fail(name, err)
	}
	return states, nil
}

// ask asks for names. Types other than those of addresses are asked for the names alone that have records of other types.
func (l *loop) ask(ctx context.Context, names []string, want map[string][]publisher.Set) (states map[string]publisher.State, unread publisher.Unread, together bool) {
	var plain, rich, types []string
	for _, name := range names {
		if others := otherTypes(want[name], l.recorded[name]); len(others) > 0 {
			rich, types = append(rich, name), append(types, others...)
		} else {
			plain = append(plain, name)
		}
	}
	slices.Sort(types)
	states, unread, together = part(ctx, l.writer, plain)
	others, left, refused := part(ctx, l.writer, rich, slices.Compact(types)...)
	maps.Copy(states, others)
	maps.Copy(unread, left)
	return states, unread, together || refused
}

// part asks for names by one Read. Each name has a state or an error; together tells that a server refuses all by one answer.
func part(ctx context.Context, from publisher.Writer, names []string, types ...string) (states map[string]publisher.State, unread publisher.Unread, together bool) {
	states, unread = map[string]publisher.State{}, publisher.Unread{}
	if len(names) == 0 {
		return states, unread, false
	}
	read, err := from.Read(ctx, names, types...)
	some, partly := errors.AsType[publisher.Unread](err)
	for _, name := range names {
		switch {
		case err != nil && !partly:
			unread[name] = err
		case some[name] != nil:
			unread[name] = some[name]
		default:
			states[name] = read[name]
		}
	}
	return states, unread, err != nil && !partly && fault.Of(err) != fault.Unreachable
}

// works tells whether the servers answer for any of some other names, which they have answered for before. Each time, these
// are others, because the names of one zone may fail together. If there are none, they are unread ones that lie far apart.
func (l *loop) works(ctx context.Context, but []string) bool {
	var others []string
	for name := range l.done {
		if len(others) < mostWitnesses && !slices.Contains(but, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		few := min(mostWitnesses, len(l.unread))
		for n := range few {
			others = append(others, l.unread[(n+1)*len(l.unread)/few-1])
		}
	}
	states, _, _ := part(ctx, l.writer, others)
	return len(states) > 0
}
