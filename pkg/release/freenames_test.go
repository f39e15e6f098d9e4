package release_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// neighbours are rivals of which prod shares its external-dns with test: it goes on
// to run when prod gives names up, and has yet to remove them.
func neighbours(t testing.TB) *world {
	w := rivals(t)
	w.group(test, "api", "api.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.associate(eu, "lab", "corp")
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	return w
}

// isHeld says that the rival cannot have prod's name before its external-dns had
// the time to remove it, and then can.
func (w *world) isHeld() {
	w.Helper()
	require.NoError(w, w.rest())
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	require.Equal(w, "shop", w.claims()[wwwName])
	w.outlive()
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.Equal(w, "bank", w.claims()[wwwName])
}

// TestANameIsHeldWhereItsRecordHasMoved: the external-dns of the home that it has
// left is gone, that of the new one has the names.
func TestANameIsHeldWhereItsRecordHasMoved(t *testing.T) {
	t.Parallel()
	for what, giveUp := range map[string]func(w *world){
		"terminated": func(w *world) { w.do(intent.Terminate, prod) },
		"updated to another record": func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.corp.example"]}`)
			w.do(intent.Update, prod)
		},
	} {
		for _, moves := range []bool{false, true} {
			w := neighbours(t)
			if moves {
				require.NoError(t, w.moveTo("paris"), what)
				w.settle(prod, test)
			}
			giveUp(w)
			w.isHeld()
		}
	}
}

// TestANameIsHeldWhileItsRecordMoves: at the new home there is no external-dns yet,
// which is no sign that it has ended.
func TestANameIsHeldWhileItsRecordMoves(t *testing.T) {
	t.Parallel()
	for what, begin := range map[string]func(w *world){
		"terminated while it moves": func(w *world) {
			w.down[hub] = true
			require.NoError(t, w.moveTo("paris"))
			w.do(intent.Terminate, prod)
		},
		"terminated before it moves": func(w *world) {
			w.do(intent.Terminate, prod)
			require.NoError(t, w.rest())
			require.True(t, w.snapshot(prod).Lifecycle.Settled)
			w.down[hub] = true
			require.NoError(t, w.moveTo("paris"))
		},
	} {
		w := neighbours(t)
		begin(w)
		for range 3 {
			w.outlive()
			w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
		}
		delete(w.down, hub)
		require.NoError(t, w.rest(), what)
		w.outlive()
		w.do(intent.Instantiate, bankProd)
		w.settle(bankProd)
	}
}

// TestANameIsSeenToBeGoneWhereItsRecordHasMoved, by what authoritative servers
// answer: it is free at once.
func TestANameIsSeenToBeGoneWhereItsRecordHasMoved(t *testing.T) {
	t.Parallel()
	w := neighbours(t)
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod, test)
	endpoint := w.publishedBy()
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.clock.pass(time.Second)
	w.hearOn(paris, endpoint, "Gone", "192.0.2.53:53 no longer answers the targets", w.clock.Now())
	require.NoError(t, w.rest())
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
}

// TestAFormerHomeThatIsAbandonedKeepsNoName, unless its external-dns may run on
// there: it was left before anybody saw it end.
func TestAFormerHomeThatIsAbandonedKeepsNoName(t *testing.T) {
	t.Parallel()
	inParis := func(w *world) { // what the rival uses is not to be in what is abandoned
		w.put(bankLab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"paris"}`))
	}
	w := neighbours(t)
	inParis(w)
	require.NoError(t, w.moveTo("paris"))
	w.settle(prod, test)
	w.dies(hub)
	w.do(intent.Terminate, prod)
	w.isHeld()

	w = neighbours(t)
	inParis(w)
	w.down[hub] = true
	require.NoError(t, w.moveTo("paris"))
	require.NoError(t, w.rest())
	w.dies(hub)
	w.settle(test)
	w.do(intent.Terminate, prod)
	for range 3 {
		w.outlive()
	}
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	require.Equal(t, "shop", w.claims()[wwwName])
}

// TestManyUpdatesFreeNoNameBeforeItsTime: a release that gave a name up is known
// until the name is free, however many have followed it.
func TestManyUpdatesFreeNoNameBeforeItsTime(t *testing.T) {
	t.Parallel()
	w := neighbours(t)
	for n := range 13 {
		w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":["shop.lab.example"],"ttl":%d}`, 60+n))
		w.do(intent.Update, prod)
		w.settle(prod)
	}
	require.Len(t, w.snapshot(prod).Lifecycle.PendingRelease, 1, "the others gave nothing up")
	require.Equal(t, 13, w.storedReleases(), "those that can be rolled back to, the one that gave the name up, and that of test")
	w.isHeld()
	require.Equal(t, 13, w.storedReleases(), "that of the rival in place of it")
}

// TestAGroupThatChangesOverAndOverKeepsFewReleases: of those that gave up the same
// names, the last ones.
func TestAGroupThatChangesOverAndOverKeepsFewReleases(t *testing.T) {
	t.Parallel()
	w := neighbours(t)
	for n := range 30 { // more than 11+10+1
		w.rename(fmt.Sprintf("n%d.lab.example", n%3))
	}
	require.LessOrEqual(t, len(w.snapshot(prod).Lifecycle.PendingRelease), 10)
	require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	w.clock.pass(time.Minute)
	require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	require.LessOrEqual(t, w.storedReleases(), 11+10+1)
	require.Equal(t, map[string]string{"n0.lab.example": "shop", "n1.lab.example": "shop", "n2.lab.example": "shop", wwwName: "shop", "api.lab.example": "shop"}, w.claims())
	w.isHeld()
	require.Equal(t, map[string]string{"n2.lab.example": "shop", wwwName: "bank", "api.lab.example": "shop"}, w.claims())
}
