package quota

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// historyKept is for how long stores keep what was replaced, and somewhat more.
const historyKept = 10 * time.Minute

// rates bound what each project writes in this process: what is replaced takes room
// in a store until its history goes. A project writes as many bytes as it may have,
// and as many again in historyKept.
type rates struct {
	now func() time.Time

	mu  sync.Mutex
	all map[intent.Path]*rate.Limiter
}

func newRates(now func() time.Time) *rates {
	return &rates{now: now, all: map[intent.Path]*rate.Limiter{}}
}

// take counts bytes that are about to be written.
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
	reserved := limiter.ReserveN(now, bytes)
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
		Detail: fmt.Sprintf("project %s writes more than its quota \"bytes\" (%d) allows within %s, for what is replaced is kept for so long; nothing was done; try again", project.Name(), *quota, historyKept),
	}
}
