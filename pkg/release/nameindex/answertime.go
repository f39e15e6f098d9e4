package nameindex

import (
	"math"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// answeredWithin is of which time answers are summed up.
const answeredWithin = 24 * time.Hour

// answerTime is how long the last change of a row took until its servers answered it. It is
// false if no answer is known, or an old one. now is in Unix milliseconds.
func (r *row) answerTime(now int64) (time.Duration, bool) {
	longest := time.Duration(-1)
	for _, e := range r.from {
		a := e.answerTo(r.host)
		if e.observed == 0 || a == nil || a.verified != yes || a.at < e.observed || now-a.at > answeredWithin.Milliseconds() {
			continue
		}
		longest = max(longest, time.Duration(a.at-e.observed)*time.Millisecond)
	}
	return longest, longest >= 0
}

// answerTimesOf sums up times; nil for none. It reorders them.
func answerTimesOf(times []time.Duration) *intent.AnswerTimes {
	if len(times) == 0 {
		return nil
	}
	slices.Sort(times)
	at := func(part float64) string {
		return times[int(math.Ceil(part*float64(len(times))))-1].Round(10 * time.Millisecond).String()
	}
	const median, most, all = 0.5, 0.95, 1
	return &intent.AnswerTimes{Names: len(times), Median: at(median), P95: at(most), Longest: at(all)}
}
