// Package flagparse is built with external-dns v0.21.
package flagparse

import (
	"testing"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/test/flagparse/proof"
)

func TestArguments(t *testing.T) { proof.Run(t, externaldns.V021) }

func FuzzRecords(f *testing.F) { proof.Fuzz(f, externaldns.V021) }
