package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// TestWhoIsToldOfAChangeReadsForItself, also if that was while the round read for others: what was read is older.
func TestWhoIsToldOfAChangeReadsForItself(t *testing.T) {
	t.Parallel()
	var r resync
	read := view{&snapshot.View{}, time.Now().Add(readLasts)}
	for _, name := range []intent.Path{"before", "meanwhile", "after", "never"} {
		r.ask(name)
	}
	r.told("meanwhile")
	for _, name := range []intent.Path{"meanwhile", "after", "never"} {
		r.give(name, read)
	}
	r.told("after")
	require.Equal(t, map[intent.Path]view{"before": {}, "never": read}, r.asked)
	r.forget()
	r.give("never", read)
	require.Empty(t, r.asked, "everybody is due")
}
