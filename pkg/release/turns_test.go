package release_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
)

// remembering is a world that keeps the history of host names.
func remembering(w *world) *namehistory.History {
	w.Helper()
	past := namehistory.New(namehistory.Options{Documents: w.options.Documents, Lost: func() { w.Error("a change is lost") }, Now: w.clock.Now, Logger: w.options.Logger})
	w.options.Names = past
	w.service = release.New(w.options)
	return past
}

// told is the history of a host name in project shop, the oldest first, in a line each.
func (w *world) told(past *namehistory.History, host string) []string {
	w.Helper()
	past.Flush(context.Background())
	turns, err := past.Of(context.Background(), host, func(project string) bool { return project == "shop" })
	require.NoError(w, err)
	lines := []string{}
	for _, turn := range slices.Backward(turns) {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", turn.Time.Format("15:04"), turn.Cause.Reason, turn.Cause.Actor, turn.Cause.Action, turn.Cause.Cluster))
		for _, c := range turn.Changes {
			line += fmt.Sprintf(" %s -%v +%v", c.Type, c.Removed, c.Added)
		}
		if turn.Times > 0 {
			line += fmt.Sprintf(" %d times", turn.Times)
		}
		if turn.Gap {
			line += " after a gap"
		}
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// TestADayIsToldBackCauseByCause: releases, an address that changes, a Service without
// endpoints, a lost cluster, a drain and a rollback, in order.
func TestADayIsToldBackCauseByCause(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	past := remembering(w)
	at := func(hour int, do func()) {
		w.clock.pass(time.Date(2026, 11, 2, hour, 0, 0, 0, time.UTC).Sub(w.clock.Now()))
		do()
		w.settle(prod)
		w.clock.pass(5 * time.Minute) // for which a cluster may be lost
		w.settle(prod)
	}
	at(0, func() { w.reachable(hub, berlin, paris); w.do(intent.Instantiate, prod) })
	at(1, func() { w.observe(paris, "shop/web", "203.0.113.21") })
	at(2, func() { w.ready(berlin, "203.0.113.10", 0) })
	at(4, func() { w.ready(berlin, "203.0.113.10", 1) })
	at(6, func() { w.lost(paris, 0) })
	at(7, func() { w.reachable(paris) })
	at(8, func() { require.NoError(t, w.drain(berlin, false)) })
	at(9, func() { w.undrain(berlin) })
	at(10, func() { w.lost(paris, 0); w.lost(berlin, 0) })
	at(11, func() { w.reachable(berlin, paris) })
	at(12, func() {
		w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
		w.do(intent.Update, prod)
	})
	at(13, func() { w.rollback(1) })
	at(14, func() {})
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, []string{
		"00:00 Release ann instantiate A -[] +[203.0.113.10 203.0.113.20]",
		"01:00 Address edge+paris A -[203.0.113.20] +[203.0.113.21]",
		"03:00 Readiness edge+berlin A -[203.0.113.10] +[]",
		"05:00 Readiness edge+berlin A -[] +[203.0.113.10]",
		"06:05 Cluster edge+paris A -[203.0.113.21] +[]",
		"07:00 Cluster edge+paris A -[] +[203.0.113.21]",
		"08:00 Drain alice drain edge+berlin A -[203.0.113.10] +[]",
		"09:00 Undrain alice undrain edge+berlin A -[] +[203.0.113.10]",
		"10:05 FailSafe",
		"12:00 Release ann update A -[203.0.113.10 203.0.113.21] +[]",
		"13:00 Release ann rollback A -[] +[203.0.113.10 203.0.113.21]",
		"14:05 Release ann terminate A -[203.0.113.10 203.0.113.21] +[]",
	}, w.told(past, "www.lab.example"))
	require.Equal(t, []string{
		"12:00 Release ann update A -[] +[203.0.113.10 203.0.113.21]",
		"13:00 Release ann rollback A -[203.0.113.10 203.0.113.21] +[]",
	}, w.told(past, "shop.lab.example"))
}
