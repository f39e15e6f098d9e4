package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Past finds a revision that is kept: the current one, or an earlier one; 0
// stands for the one before the current.
func (l *Lifecycle) Past(to int64) (Past, bool) {
	kept := l.Kept()
	if to == 0 && len(kept) > 1 {
		return kept[len(kept)-2], true
	}
	at := slices.IndexFunc(kept, func(p Past) bool { return p.Seq == to })
	if at < 0 {
		return Past{}, false
	}
	return kept[at], true
}

// Kept are the releases that can still be read, the current one last.
func (l *Lifecycle) Kept() []Past {
	if l.Seq == 0 {
		return nil
	}
	return append(slices.Clone(l.History), Past{Seq: l.Seq, ContextID: l.ContextID})
}

// Forget lets the oldest of the earlier releases go, beyond those that are kept.
func (l *Lifecycle) Forget() {
	if extra := len(l.History) - KeptReleases; extra > 0 {
		l.History = slices.Clone(l.History[extra:])
	}
}

// dropForgotten drops the releases that a lifecycle has named and names no more:
// nobody can roll back to them, and their names are freed.
func dropForgotten(ctx context.Context, s *Store, was, is Lifecycle) error {
	named := is.PendingRelease
	for _, past := range is.Kept() {
		named = append(slices.Clip(named), past.ContextID)
	}
	dropped := slices.Clone(was.PendingRelease)
	for _, past := range was.History {
		dropped = append(dropped, past.ContextID)
	}
	slices.Sort(dropped)
	for _, id := range slices.Compact(dropped) {
		if slices.Contains(named, id) {
			continue
		}
		if err := s.DropRelease(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// NotKept says which releases can be rolled back to instead of one that is not kept.
func (l *Lifecycle) NotKept(to int64) string {
	var kept []string
	for _, p := range l.Kept() {
		kept = append(kept, fmt.Sprint(p.Seq))
	}
	list := "the kept releases are " + strings.Join(kept, ", ")
	switch {
	case len(kept) == 0:
		return "it was never instantiated, so there is no release to go back to"
	case to == 0:
		return "there is no release before the current one; " + list
	}
	return fmt.Sprintf("there is no release %d; %s", to, list)
}

// ReleaseNamesAfter notes a release of which names are to be freed when the next one, or
// nothing, is in the clusters.
func (l *Lifecycle) ReleaseNamesAfter(contextID string) {
	if contextID != "" && !slices.Contains(l.PendingRelease, contextID) {
		l.PendingRelease = append(slices.Clone(l.PendingRelease), contextID)
	}
}
