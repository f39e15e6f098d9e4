package open

import (
	"context"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

var _ publisher.Owning = (*limited)(nil)

// Owned implements publisher.Owning. It takes no place of the requests for names.
func (l *limited) Owned(ctx context.Context) ([]publisher.Set, error) {
	lister, can := l.Writer.(publisher.Lister)
	switch {
	case !can:
		return nil, fault.Errorf(publisher.Unlisted, "%s", Unlistable(l.provider))
	case l.policy != "sync":
		return nil, fault.Errorf(publisher.Unlisted, "policy %s leaves names that nobody gives", l.policy)
	case l.provider == "rfc2136" && externaldns.Value(l.settings.Parameters, "rfc2136-axfr") != "true" && externaldns.Value(l.settings.Parameters, "rfc2136-tsig-axfr") != "true":
		return nil, fault.Errorf(publisher.Unlisted, "rfc2136-axfr is not set, so no zone is transferred")
	}
	m, err := marks.For(l.settings)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, publisher.ListDeadline)
	defer cancel()
	begun := time.Now()
	sets, err := lister.List(ctx, publisher.MostListed)
	l.metrics.observe(l.provider, "list", time.Since(begun), err)
	return slices.DeleteFunc(sets, func(s publisher.Set) bool { return s.Mark.Owner != m.Owner() }), err
}
