package orchestrate

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/faults"
)

// moment is just before or just after a write of Signpost's to etcd, from a call
// until what the call brings about is there.
type moment struct {
	call  int
	write int
	when  faults.Moment
}

// TestKill9AtEachWriteOfEachCall: after a restart and a repeated call the keys
// are the same as without the kill.
func TestKill9AtEachWriteOfEachCall(t *testing.T) {
	t.Parallel()
	const usual = 8
	k := &killer{stage: newStage(t)}
	moments := k.rehearse()
	chosen := faults.Choose(t, moments, usual)
	t.Logf("%d of %d moments", len(chosen), len(moments))
	tried := len(chosen)
	for len(chosen) > 0 {
		chosen = k.round(chosen)
	}
	require.Less(t, 3*k.missed, tried, "kills that came too late")
}

// killer has Signpost killed in calls, in one life of a group after the other.
type killer struct {
	*stage

	ends   []string // the keys after each call
	missed int      // kills that came after the end of their call: it took fewer writes than at the rehearsal
}

// rehearse goes once through all calls, and notes at which moments Signpost can
// be killed and what the calls come to.
func (k *killer) rehearse() []moment {
	k.Helper()
	var moments []moment
	for i, c := range calls() {
		c.before(k.stage)
		k.tap.Count()
		require.NoError(k, c.make(k.stage), c.name)
		eventually(k.T, "the end of "+c.name, func() error { return k.ended(c) })
		writes := k.tap.Writes("")
		for n := range writes {
			moments = append(moments, moment{i, n, faults.Before}, moment{i, n, faults.After})
		}
		keys, err := k.keys()
		require.NoError(k, err)
		k.ends = append(k.ends, keys)
		k.Logf("%s takes %d writes", c.name, len(writes))
	}
	return moments
}

// round begins anew and goes once through all calls, with a kill in each for
// which there is a moment left. It answers the moments that are left then.
func (k *killer) round(moments []moment) []moment {
	k.Helper()
	k.anew()
	for i, c := range calls() {
		c.before(k.stage)
		next := slices.IndexFunc(moments, func(m moment) bool { return m.call == i })
		if next < 0 {
			require.NoError(k, c.make(k.stage), c.name)
		} else {
			k.kill(c, moments[next])
			moments = slices.Delete(moments, next, next+1)
		}
		eventually(k.T, "the keys after "+c.name, func() error {
			keys, err := k.keys()
			if err == nil && keys != k.ends[i] {
				err = errors.New("they differ from those without a kill:\n" + difference(k.T, k.ends[i], keys))
			}
			return errors.Join(err, k.ended(c))
		})
	}
	return moments
}

// anew empties etcd and the hub, and makes the documents again.
func (k *killer) anew() {
	k.Helper()
	k.signpost.Kill()
	require.NoError(k, k.etcd.DeletePrefix(k.Context(), "/"))
	require.NoError(k, os.RemoveAll(k.clusters))
	require.NoError(k, k.signpost.Start(k.Context()))
	k.own()
	k.names(prod().Name, host)
}

// kill kills Signpost at a moment of a call, starts it again and repeats the
// call, until it is answered with yes.
func (k *killer) kill(c call, m moment) {
	k.Helper()
	struck := k.tap.Strike("", m.write, m.when, k.signpost.Kill)
	err := c.make(k.stage)
	eventually(k.T, "the moment, or the end", func() error {
		select {
		case <-struck:
			return nil
		default:
			return k.ended(c)
		}
	})
	k.tap.Rest()
	at := "the end"
	if writes := k.tap.Writes(""); len(writes) > m.write {
		at = writes[m.write].What
	} else {
		k.missed++
	}
	k.Logf("%s: kill -9 %s write %d, %s; acknowledged: %t", c.name, m.when, m.write, at, err == nil)
	k.tap.Count()
	k.restart()
	eventually(k.T, c.name+" again", func() error { return c.make(k.stage) })
}
