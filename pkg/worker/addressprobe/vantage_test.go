package addressprobe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func errUnreachable() error { return syscall.ENETUNREACH }

var errRefused = errors.New("connection refused")

// aimed are targets, one for each address, that answer since long.
func aimed(t *testing.T, v *Vantage, addresses ...string) []*target {
	t.Helper()
	spec, err := json.Marshal(intent.Probe{Type: "TCP", Port: 443, Failures: 2, Successes: 2}.Completed(""))
	require.NoError(t, err)
	var out []*target
	for n, address := range addresses {
		one := newTarget(key{"shop/web" + strconv.Itoa(n), "p", address}, "shop", spec, v, func() {})
		require.True(t, v.enter(one))
		one.take(noon(), nil)
		require.Equal(t, 1, one.result().State.Ready, "the first answer counts")
		out = append(out, one)
	}
	return out
}

func noon() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }

// TestAnAddressIsOutAfterFailuresInARow, and back after successes in a row.
func TestAnAddressIsOutAfterFailuresInARow(t *testing.T) {
	of := aimed(t, NewVantage("replica-1", nil, nil), "203.0.113.1", "203.0.113.2")
	one, now := of[0], noon()
	for n, step := range []struct {
		err   error
		ready int
	}{
		{errRefused, 1}, {nil, 1}, {errRefused, 1}, {errRefused, 0}, {nil, 0}, {errRefused, 0}, {nil, 0}, {nil, 1},
		{errUnreachable(), 1}, {errUnreachable(), 1}, {errRefused, 1}, {errUnreachable(), 1}, {errRefused, 1}, {errRefused, 0}, {errUnreachable(), 0},
	} {
		now = now.Add(time.Second)
		of[1].take(now, nil)
		one.take(now, step.err)
		require.Equal(t, step.ready, one.result().State.Ready, "step %d, %v", n, step.err)
	}
	assert.Contains(t, one.result().Message, "network is unreachable")
}

// TestAWorkerWithoutANetworkDoesNotJudge: if most addresses that answered fail at once,
// none is taken out, and the results say so.
func TestAWorkerWithoutANetworkDoesNotJudge(t *testing.T) {
	for _, c := range []struct {
		addresses, failing int
		judged             bool
	}{{1, 1, true}, {2, 1, true}, {2, 2, false}, {3, 2, false}, {4, 2, true}, {4, 3, false}, {9, 9, false}} {
		v := NewVantage("replica-1", nil, nil)
		var addresses []string
		for n := range c.addresses {
			addresses = append(addresses, fmt.Sprintf("203.0.113.%d", n), fmt.Sprintf("203.0.113.%d", n)) // an address that two names have is one
		}
		of := aimed(t, v, addresses...)
		for second := 1; second <= 5; second++ {
			for n, one := range of {
				var err error
				if n/2 < c.failing {
					err = errRefused
				}
				one.take(noon().Add(time.Duration(second)*time.Second), err)
			}
		}
		for n, one := range of {
			out := one.result().State.Ready == 0
			require.Equal(t, c.judged && n/2 < c.failing, out, "%d of %d: %+v", c.failing, c.addresses, one.result())
			if n/2 < c.failing && !c.judged {
				assert.Contains(t, one.result().Message, "replica-1 assumes a fault of its own network")
			}
		}
	}
}

// TestAnAddressIsJudgedAfterTheOthersWereProbed: who fails first is not taken out while the
// next probe of another address may tell that the network is at fault. It waits for one more
// probe of its own at most.
func TestAnAddressIsJudgedAfterTheOthersWereProbed(t *testing.T) {
	at := func(second int) time.Time { return noon().Add(time.Duration(second) * time.Second) }
	of := aimed(t, NewVantage("replica-1", nil, nil), "203.0.113.1", "203.0.113.2")
	first, other := of[0], of[1]
	other.take(at(1), nil)
	for n := range first.spec.Failures {
		first.take(at(2+n), errRefused)
	}
	require.Equal(t, 1, first.result().State.Ready)
	require.Contains(t, first.result().Message, "probes 1 other addresses first")
	other.take(at(20), errRefused)
	first.take(at(21), errRefused)
	require.Equal(t, 1, first.result().State.Ready)
	require.Contains(t, first.result().Message, "assumes a fault of its own network")

	of = aimed(t, NewVantage("replica-1", nil, nil), "203.0.113.1", "203.0.113.2")
	for n := range of[0].spec.Failures + 1 {
		of[0].take(at(2+n), errRefused)
	}
	require.Zero(t, of[0].result().State.Ready, "nobody probes the other one")
}

// TestAddressesThatAreOutDoNotBlind: what has failed for long says nothing about the
// network now.
func TestAddressesThatAreOutDoNotBlind(t *testing.T) {
	of := aimed(t, NewVantage("replica-1", nil, nil), "203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5")
	for n := range 3 {
		for second := range 4 {
			now := noon().Add(time.Duration(n*10+second+1) * time.Second)
			for m, one := range of {
				var err error
				if m <= n {
					err = errRefused
				}
				one.take(now, err)
			}
		}
		assert.Zero(t, of[n].result().State.Ready, "address %d", n)
	}
}

func TestAProjectHasSoManyProbesAndNoMore(t *testing.T) {
	v := NewVantage("replica-1", nil, nil)
	spec := json.RawMessage(`{"type":"TCP","port":443}`)
	var all []*target
	for n := range mostOfProject {
		one := newTarget(key{"shop/web", "p", fmt.Sprintf("10.0.%d.%d", n/250, n%250)}, "shop", spec, v, func() {})
		require.True(t, v.enter(one))
		all = append(all, one)
	}
	assert.False(t, v.enter(newTarget(key{"shop/web", "p", "203.0.113.1"}, "shop", spec, v, func() {})))
	assert.True(t, v.enter(newTarget(key{"bank/web", "p", "203.0.113.1"}, "bank", spec, v, func() {})), "another project has its own")
	v.leave(all[0])
	assert.True(t, v.enter(newTarget(key{"shop/web", "p", "203.0.113.1"}, "shop", spec, v, func() {})))
}

// TestAProjectWhoseAddressesDoNotAnswerDelaysNoOther: neither at other addresses, nor at
// one that both have.
func TestAProjectWhoseAddressesDoNotAnswerDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewVantage("replica-1", nil, nil)
		spec := json.RawMessage(`{"type":"TCP","port":443}`)
		var all []*target
		enter := func(project, address, probe string) *target {
			one := newTarget(key{project + "/web", probe, address}, project, spec, v, func() {})
			require.True(t, v.enter(one))
			all = append(all, one)
			return one
		}
		hung, cancel := context.WithCancel(t.Context())
		probing := func(one *target) {
			go v.within(hung, one, func() { <-hung.Done() })
			synctest.Wait()
		}
		for n := range atOnceOfOne {
			probing(enter("shop", fmt.Sprintf("10.0.0.%d", n), "p"))
		}
		for n := range 3 * atOnceOfHost {
			probing(enter("shop", "203.0.113.1", strconv.Itoa(n)))
		}
		began := time.Now()
		for _, address := range []string{"203.0.113.1", "203.0.113.2"} {
			asked := false
			ctx, end := context.WithTimeout(t.Context(), time.Minute)
			assert.True(t, v.within(ctx, enter("bank", address, "p"), func() { asked = true }))
			end()
			assert.True(t, asked, address)
		}
		assert.Less(t, time.Since(began), time.Second)
		cancel()
		synctest.Wait()
		for n, one := range all {
			v.leave(one)
			last := n == len(all)-1
			assert.Equal(t, last, len(v.hosts) == 0)
			assert.Equal(t, last, len(v.projects) == 0)
		}
	})
}
