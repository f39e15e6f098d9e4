package directory

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Preflight checks that the directory is there and can be written to.
func (d *Directory) Preflight(ctx context.Context) intent.Preflight {
	const there, writable = "has its directory", "can write to its directory"
	if _, err := d.Identity(ctx); err != nil {
		return intent.Preflight{Checks: []intent.Check{cluster.Checked(there, false, err.Error())}}
	}
	report := intent.Preflight{Reachable: true, Checks: []intent.Check{cluster.Checked(there, true, "")}}
	const probe = ".signpost-preflight"
	file, err := d.dir().Create(probe)
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = d.dir().Remove(probe)
	}
	if err != nil {
		report.Checks = append(report.Checks, cluster.Checked(writable, false, fileError("write a file", err).Error()))
		return report
	}
	report.Checks = append(report.Checks, cluster.Checked(writable, true, ""))
	return report
}
