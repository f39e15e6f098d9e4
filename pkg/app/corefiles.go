package app

import (
	"context"
	"log/slog"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// corefiles is what the edge asks about configurations of CoreDNS.
type corefiles struct {
	*linter.Linter
	releases *release.Service
}

// Trace tells which way a query takes.
func (c corefiles) Trace(ctx context.Context, owner intent.Path, cluster string, query corefile.Query) (corefile.Way, error) {
	return c.releases.Trace(ctx, owner, cluster, query)
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
