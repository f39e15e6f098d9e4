package state

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// A record's update may move its public external-dns to another home. No name
// is to go meanwhile, so
//
//  1. the external-dns of the former home is withdrawn (leaveHome), while the
//     DNSEndpoints there stay,
//  2. every group that uses it follows: its DNSEndpoints are in both homes,
//  3. when the former external-dns is gone, and every DNSEndpoint is applied in
//     the new home, the one there, which had no pod so far, starts (move),
//  4. and the groups take their DNSEndpoints out of the former home.
//
// Its owner id is the same, so it takes the names over as they are.

// MovedFrom says whether a use is of a home that the record has left.
func (l *RecordLifecycle) MovedFrom(use Use) bool {
	home := l.Record.Home
	return use.Scope == intent.Public && home != nil && use.Cluster != home.String()
}

// Relocated is a use where the record lives now.
func (l *RecordLifecycle) Relocated(use Use) Use {
	if l.MovedFrom(use) {
		use.Cluster = l.Record.Home.String()
	}
	return use
}

// MovingIn says whether the external-dns of a scope is on its way to another home.
func (l *RecordLifecycle) MovingIn(scope intent.Scope) bool {
	return l.Moving && scope == intent.Public
}

// UsersOf are the groups and names that use a record's public scope, and those that are deployed and refer to the record.
func UsersOf(ctx context.Context, s *Store, record intent.Path) (map[intent.Path]Lifecycle, error) {
	users := map[intent.Path]Lifecycle{}
	err := s.EachGroup(ctx, record, func(owner intent.Path, l Lifecycle) {
		if l.Deployed() || l.UsesPublic(record) {
			users[owner] = l
		}
	})
	return users, err
}

// Adopts is the owner id whose names the external-dns of a scope takes over;
// empty: nobody's.
func (l *RecordLifecycle) Adopts(scope intent.Scope) string {
	if l.Adopting == nil || scope != intent.Public {
		return ""
	}
	return l.Adopting.From
}

// AdoptsSince is when that was accepted, which tells one adoption from another of the same
// owner id; zero: nobody's names are taken over.
func (l *RecordLifecycle) AdoptsSince(scope intent.Scope) time.Time {
	if l.Adopts(scope) == "" {
		return time.Time{}
	}
	return l.Adopting.Since
}
