package builtin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// several is a DNSEndpoint with so many names of a domain.
func several(t *testing.T, domain string, count int) bundle.Object {
	t.Helper()
	hosts := map[string][]string{}
	for n := range count {
		hosts[fmt.Sprintf("n%03d.%s", n, domain)] = []string{"203.0.113.1"}
	}
	return endpoint(t, strings.ReplaceAll(domain, ".", "-"), hosts)
}

// TestNamesThatCannotBeReadHoldUpNoOther: neither when they are new and come first, nor when others change, nor when they
// are to be removed. The publisher works meanwhile.
func TestNamesThatCannotBeReadHoldUpNoOther(t *testing.T) {
	for reason, err := range map[string]error{
		"refused":  fault.Errorf(fault.Refused, "it is not the primary of the zone"),
		"silent":   fault.Errorf(fault.Unreachable, "no answer in time"),
		"no zone":  fault.Errorf(publisher.Invalid, "it is in none of the zones"),
		"no fault": errors.New("it is broken"),
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				z, broken := newZone(), true
				z.partly = true
				z.unread = func(name string) error {
					if broken && strings.HasSuffix(name, ".bad.example") {
						return err
					}
					return nil
				}
				p := begin(t, kvtest.NewFake(), z)
				bad := several(t, "bad.example", 5*publisher.Most)
				p.apply(t, bad, endpoint(t, "amid", map[string][]string{"n250.lab.example": {"203.0.113.1"}}), settings(t, false))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.NotEmpty(t, z.has("n250.lab.example"), "names that were not asked for have their turn")
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, "n000.bad.example: "+err.Error()+"; 319 more names fail", p.told().Failing)
				require.Zero(t, p.told().Down)

				p.apply(t, www(t, "203.0.113.2"))
				require.Equal(t, []string{"203.0.113.2"}, z.has("www.lab.example"), "a change is written at once")
				p.remove(t, bad.ID)
				p.apply(t, www(t, "203.0.113.3"))
				require.Equal(t, []string{"203.0.113.3"}, z.has("www.lab.example"))
				_, is := p.published(www(t).ID)
				require.True(t, is)
				require.Empty(t, p.told().Failing, "names that were never written need not be removed")

				p.apply(t, bad)
				require.Contains(t, p.told().Failing, "n000.bad.example: "+err.Error())
				z.mu.Lock()
				broken = false
				z.mu.Unlock()
				time.Sleep(retryLongest)
				synctest.Wait()
				require.Empty(t, p.told().Failing)
				require.NotEmpty(t, z.has("n319.bad.example"))
				p.end()
			})
		})
	}
}

// TestAWrittenNameThatCannotBeReadAnyMoreStaysToBeRemoved, and others go on.
func TestAWrittenNameThatCannotBeReadAnyMoreStaysToBeRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, broken := newZone(), false
		z.partly = true
		z.unread = func(name string) error {
			if broken && name == "n000.bad.example" {
				return errors.New("it is in none of the zones")
			}
			return nil
		}
		p := begin(t, kvtest.NewFake(), z)
		bad := several(t, "bad.example", 2)
		p.apply(t, settings(t, false), bad, www(t, "203.0.113.1"))
		z.mu.Lock()
		broken = true
		z.mu.Unlock()
		p.remove(t, bad.ID)
		require.Empty(t, z.has("n001.bad.example"))
		require.False(t, p.removed(bad, "n000.bad.example"))
		require.True(t, p.removed(bad, "n001.bad.example"))
		require.Equal(t, "n000.bad.example: it is in none of the zones", p.told().Failing)
		p.apply(t, www(t, "203.0.113.2"))
		require.Equal(t, []string{"203.0.113.2"}, z.has("www.lab.example"))
		p.end()
	})
}

// TestANameForWhichAServerRefusesAllIsFound, and the others of the read are written.
func TestANameForWhichAServerRefusesAllIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.unread = func(name string) error {
			if name == "n031.large.example" {
				return fault.Errorf(fault.Refused, "the answer is too large")
			}
			return nil
		}
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		_, before := z.counts()
		p.apply(t, several(t, "large.example", publisher.Most))
		_, after := z.counts()
		require.LessOrEqual(t, after-before, 20, "it is looked for by halves")
		require.Equal(t, "n031.large.example: the answer is too large", p.told().Failing)
		require.NotEmpty(t, z.has("n030.large.example"))
		require.NotEmpty(t, z.has("n063.large.example"))
		p.end()
	})
}

// TestAServerThatIsAwayIsAskedTwice: for the names that are due, and for others that it has answered for.
func TestAServerThatIsAwayIsAskedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		_, before := z.counts()
		z.fail(errors.New("connection refused"))
		p.apply(t, several(t, "lab.example", 3*publisher.Most))
		_, after := z.counts()
		require.Equal(t, 2, after-before)
		require.Equal(t, "connection refused", p.told().Failing)
		require.NotZero(t, p.watches.(*watches).loop.failed)
		z.fail(nil)
		time.Sleep(retryFirst)
		synctest.Wait()
		require.Empty(t, p.told().Failing)
		require.NotEmpty(t, z.has("n191.lab.example"))
		p.end()
	})
}

// TestANewProviderOfWhichMostNamesCannotBeReadBeginsAtOnce: one of the other names shows that its servers work.
func TestANewProviderOfWhichMostNamesCannotBeReadBeginsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.partly = true
		z.unread = func(name string) error {
			if strings.HasSuffix(name, ".bad.example") {
				return errors.New("no answer in time")
			}
			return nil
		}
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, several(t, "bad.example", 5*publisher.Most), www(t, "203.0.113.1"), settings(t, false))
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"))
		p.end()
	})
}
