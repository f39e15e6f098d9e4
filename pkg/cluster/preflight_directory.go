package cluster

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Preflight checks that the directory is there and can be written to.
func (d *Directory) Preflight(ctx context.Context) intent.Preflight {
	const there, writable = "has its directory", "can write to its directory"
	if _, err := d.Identity(ctx); err != nil {
		return intent.Preflight{Checks: []intent.Check{checked(there, false, err.Error())}}
	}
	report := intent.Preflight{Reachable: true, Checks: []intent.Check{checked(there, true, "")}}
	const probe = ".signpost-preflight"
	file, err := d.dir().Create(probe)
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = d.dir().Remove(probe)
	}
	if err != nil {
		report.Checks = append(report.Checks, checked(writable, false, fileError("write a file", err).Error()))
		return report
	}
	report.Checks = append(report.Checks, checked(writable, true, ""))
	return report
}
