package app

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	contracts "github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/console"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/explain"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/documents/overlay"
	"github.com/signpost-dns/signpost/pkg/storage/eventfeed"
	"github.com/signpost-dns/signpost/pkg/storage/history"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

// lifecycle is what the edges ask for: releases, and the status that follows
// from them.
type lifecycle struct {
	*release.Service
	history *history.History
	idle    func() bool // whether no worker is running, as far as is known
	*nameindex.Index
	*explain.Explainer
	draft  func() contracts.Draft
	record func(ctx context.Context) (context.Context, contracts.Reads)
}

// Record returns a context whose reads are noted, as far as they can be.
func (l lifecycle) Record(ctx context.Context) (context.Context, contracts.Reads) {
	return l.record(ctx)
}

// explainer explains host names.
func (s *service) explainer() *explain.Explainer {
	return &explain.Explainer{Reader: s.releases.Reader, Ownership: s.releases.Registry, Index: s.index.Index, Idle: s.replicas.Idle}
}

// Draft returns what judges documents that are not stored.
func (l lifecycle) Draft() contracts.Draft { return l.draft() }

// drafts makes drafts over the documents: the same rules and the same plans.
func drafts(documents intent.Store, rules review.Rules, releases *release.Service) func() contracts.Draft {
	rules.Claim = nil // no cluster is asked, and none is claimed
	return func() contracts.Draft {
		over := overlay.New(documents)
		return contracts.Draft{Store: over, Admitter: admission.New(over, rules), Planner: releases.Over(over)}
	}
}

// Events lists what happened to a group or a logical cloud, and which documents
// of it were written since, oldest first.
func (l lifecycle) Events(ctx context.Context, owner intent.Path) ([]intent.Event, error) {
	events, err := l.Service.Events(ctx, owner)
	if err != nil || len(events) == 0 {
		return events, err
	}
	for n := range events {
		events[n].Path = owner
	}
	writes, err := l.history.Writes(ctx, owner)
	if err != nil {
		return nil, err
	}
	before := func(e intent.Event) bool { return e.Time.Before(events[0].Time) }
	events = append(slices.DeleteFunc(writes, before), events...)
	slices.SortStableFunc(events, func(a, b intent.Event) int { return a.Time.Compare(b.Time) })
	return events, nil
}

// Status answers where a group stands.
func (l lifecycle) Status(ctx context.Context, group intent.Path) (intent.Status, error) {
	snapshot, err := l.FullSnapshot(ctx, group)
	if err != nil {
		return intent.Status{}, err
	}
	snapshot.Idle = l.idle()
	return status.Of(snapshot), nil
}

// Groups answers a page of the groups of a project.
func (l lifecycle) Groups(ctx context.Context, project intent.Path, limit int, after string) (intent.GroupSummaryPage, error) {
	page, err := l.ListGroups(ctx, project, limit, after)
	return status.Briefs(page, l.idle()), err
}

// NameReport answers what is known of a name.
func (l lifecycle) NameReport(ctx context.Context, name intent.Path) (intent.NameReport, error) {
	snapshot, err := l.Snapshot(ctx, name)
	if err != nil {
		return intent.NameReport{}, err
	}
	snapshot.Idle = l.idle()
	return status.OfName(snapshot), nil
}

// RecordStatus answers what is known of a record.
func (l lifecycle) RecordStatus(ctx context.Context, record intent.Path) (intent.RecordStatus, error) {
	snapshot, err := l.RecordSnapshot(ctx, record)
	if err != nil {
		return intent.RecordStatus{}, err
	}
	return status.OfRecord(snapshot), nil
}

// clusters is what the edge asks for about clusters as such.
type clusters struct {
	*release.Service  // drains and abandons them
	*connections.Pool // asks whether they could be managed
}

// corefiles is what the edge asks about configurations of CoreDNS.
type corefiles struct {
	*linter.Linter
	releases *release.Service
}

// Trace tells which way a query takes.
func (c corefiles) Trace(ctx context.Context, owner intent.Path, cluster string, query corefile.Query) (corefile.Way, error) {
	return c.releases.Trace(ctx, owner, cluster, query)
}

// pasts is what the edge asks about what has happened.
type pasts struct {
	*history.History
	*eventfeed.Feed
	names *namehistory.History
}

// OfName lists how a host name has changed.
func (p pasts) OfName(ctx context.Context, host string, reads func(project string) bool) ([]intent.NameTurn, error) {
	return p.names.Of(ctx, host, reads)
}

// openLinter makes the linter of Corefiles, and says whether it can work.
func openLinter(c Config, log *slog.Logger) *linter.Linter {
	l := linter.New(c.DNSBinary)
	if program, err := l.Program(); err != nil {
		log.Warn("Corefiles cannot be linted", "reason", err)
	} else {
		log.Info("Corefiles can be linted", "program", program)
	}
	return l
}

// openConsole makes the handler of the console, whose users sign in as the configuration
// says.
func openConsole(c Config) (http.Handler, error) {
	signIn := console.SignIn{Anonymous: !c.authenticates()}
	if c.OIDC.Issuer != "" {
		endpoints, err := access.NewSignInEndpoints(c.OIDC, time.Now)
		if err != nil {
			return nil, err
		}
		signIn.Issuer, signIn.ClientID, signIn.Audiences, signIn.Endpoints = c.OIDC.Issuer, c.Console, c.OIDC.Audiences, endpoints.Find
	}
	return console.New(signIn)
}
