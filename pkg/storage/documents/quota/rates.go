package quota

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// historyKept is for how long stores keep what was replaced, and somewhat more.
const historyKept = 10 * time.Minute

// rates bound what each project writes in this process: what is replaced takes room
// in a store until its history goes. A project writes as many bytes as it may have,
// and as many again in historyKept.
type rates struct {
	what string // that is written, by a verb
	now  func() time.Time

	mu  sync.Mutex
	all map[intent.Path]*rate.Limiter
}

func newRates(what string, now func() time.Time) *rates {
	return &rates{what: what, now: now, all: map[intent.Path]*rate.Limiter{}}
}

// take counts bytes that are about to be written. A write of more than the whole
// allowance takes all of it, so that it can be done at all.
func (r *rates) take(project intent.Path, quota *int64, bytes int) error {
	if quota == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, perSecond, burst := r.now(), rate.Limit(float64(*quota)/historyKept.Seconds()), int(max(*quota, intent.MaxBody))
	limiter, known := r.all[project]
	if !known {
		limiter = rate.NewLimiter(perSecond, burst)
		r.all[project] = limiter
	}
	if limiter.Burst() != burst {
		limiter.SetLimitAt(now, perSecond)
		limiter.SetBurstAt(now, burst)
	}
	reserved := limiter.ReserveN(now, min(bytes, burst))
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	if wait == rate.InfDuration {
		wait = historyKept
	}
	return &intent.Error{
		Code: intent.TooMany, RetryAfter: wait,
		Detail: fmt.Sprintf("project %s %s more than its quota \"bytes\" (%d) allows within %s, because replaced documents are kept for so long; nothing was done; try again, or have an admin raise spec.quotas.bytes of the project", project.Name(), r.what, *quota, historyKept),
	}
}
