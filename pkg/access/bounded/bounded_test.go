package bounded_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/bounded"
)

// answering is a transport that answers with a body, piece by piece.
type answering func() io.Reader

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(a())}, nil
}

func text(content string) answering {
	return func() io.Reader { return strings.NewReader(content) }
}

func answerOf(ctx context.Context, t *testing.T, by bounded.Transport) io.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://a/", http.NoBody)
	require.NoError(t, err)
	answer, err := by.RoundTrip(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer.Body
}

func ask(ctx context.Context, t *testing.T, by bounded.Transport) (string, error) {
	t.Helper()
	read, err := io.ReadAll(answerOf(ctx, t, by))
	return string(read), err
}

const mib = 1 << 20

func TestAnswersAreWeighedByWhatTheyBecome(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content string
		fits    bool
	}{
		"nothing":                       {"", true},
		"text":                          {strings.Repeat("x", mib/2), true},
		"more text":                     {strings.Repeat("x", mib/2+1), false},
		"a list of a thousand":          {"[" + strings.Repeat("1,", 999) + "1]", true},
		"a list of two thousand":        {"[" + strings.Repeat("1,", 1999) + "1]", false},
		"lists in lists":                {strings.Repeat("[", 256) + strings.Repeat("]", 256), true},
		"too many of them":              {strings.Repeat("[", 257) + strings.Repeat("]", 257), false},
		"an object of four thousand":    {"{" + strings.Repeat(`"a":1,`, 4000) + `"a":1}`, true},
		"two thousand objects":          {strings.Repeat("{}", 2000), true},
		"four thousand objects":         {strings.Repeat("{}", 4000), false},
		"commas in texts":               {`["` + strings.Repeat(`\",[{`, 50_000) + `"]`, true},
		"lists that end before they do": {strings.Repeat("]}", mib/8), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := ask(t.Context(), t, bounded.Transport{RoundTripper: text(test.content), Most: mib})
			if test.fits {
				require.NoError(t, err)
				require.Equal(t, test.content, read)
				return
			}
			var excess *bounded.Excess
			require.ErrorAs(t, err, &excess)
		})
	}
}

// TestEachDocumentOfAStreamIsWeighed, and not their sum.
func TestEachDocumentOfAStreamIsWeighed(t *testing.T) {
	t.Parallel()
	stream := func(*http.Request) bool { return true }
	small := `{"a":"` + strings.Repeat("x", 1000) + `"}` + "\n"
	_, err := ask(t.Context(), t, bounded.Transport{RoundTripper: text(strings.Repeat(small, 2000)), Most: 2 * mib, Stream: stream})
	require.NoError(t, err)
	_, err = ask(t.Context(), t, bounded.Transport{RoundTripper: text(small + strings.Repeat("x", mib)), Most: 2 * mib, Stream: stream})
	require.ErrorContains(t, err, "would take more than 1 MiB")
	_, err = ask(t.Context(), t, bounded.Transport{RoundTripper: text(strings.Repeat(small, 2000)), Most: mib})
	require.ErrorContains(t, err, "would take more than 1 MiB")
}

// TestLargeAnswersComeOneAfterTheOther checks that a second one waits until the
// request of the first is done with, that small ones do not, and that waiting ends
// with the request.
func TestLargeAnswersComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := bounded.NewBudget(16 * mib)
		large := bounded.Transport{RoundTripper: text(strings.Repeat("x", mib)), Most: budget.Answer(), Budget: budget}
		little := bounded.Transport{RoundTripper: text("{}"), Most: budget.Answer(), Budget: budget}
		first, done := context.WithCancel(t.Context())
		_, err := ask(first, t, large)
		require.NoError(t, err)
		_, err = ask(t.Context(), t, little)
		require.NoError(t, err)
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = ask(hasty, t, large)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.AfterFunc(time.Minute, done)
		began := time.Now()
		second, end := context.WithCancel(t.Context())
		defer end()
		_, err = ask(second, t, large)
		require.NoError(t, err)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// TestAServerIsReadNoFasterThanItMay checks that what is beyond a large amount waits,
// and that a request which has no time for that ends at once.
func TestAServerIsReadNoFasterThanItMay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := bounded.NewBudget(1024 * mib)
		stream := bounded.Transport{
			RoundTripper: text(strings.Repeat(`{"a":"`+strings.Repeat("x", 1000)+"\"}\n", 144*1024)),
			Most:         mib, Budget: budget, Stream: func(*http.Request) bool { return true },
		}
		began := time.Now()
		_, err := io.Copy(io.Discard, answerOf(t.Context(), t, stream))
		require.NoError(t, err)
		require.InDelta(t, 2, time.Since(began).Seconds(), 1, "128 MiB at once, and 14 at 8 in a second")
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = ask(hasty, t, stream)
		require.ErrorContains(t, err, "faster than they are read")
		require.NoError(t, hasty.Err())
	})
}

func TestABudgetHasRoomForSoMuch(t *testing.T) {
	t.Parallel()
	budget := bounded.NewBudget(mib)
	require.NoError(t, budget.Keep(mib))
	require.ErrorContains(t, budget.Keep(1), "more than 1 MiB")
	require.NoError(t, budget.Keep(-1))
	require.NoError(t, budget.Keep(1))
	require.EqualValues(t, mib, budget.Kept())
	require.NoError(t, (*bounded.Budget)(nil).Keep(mib))
}

func TestSizesAreThoseOfWhatAValueLeadsTo(t *testing.T) {
	t.Parallel()
	type inner struct{ Text string }
	type outer struct {
		Inner  *inner
		List   []inner
		Map    map[string]string
		Any    any
		When   time.Time
		hidden string
	}
	require.Zero(t, bounded.Size(nil))
	empty := bounded.Size(outer{})
	long := strings.Repeat("x", 1000)
	for name, value := range map[string]outer{
		"a pointer":    {Inner: &inner{long}},
		"a list":       {List: []inner{{long}}},
		"a key":        {Map: map[string]string{long: ""}},
		"a value":      {Map: map[string]string{"": long}},
		"an interface": {Any: long},
		"a hidden one": {hidden: long},
	} {
		require.InDelta(t, empty+1000, bounded.Size(value), 60, name)
	}
	require.Equal(t, empty, bounded.Size(outer{When: time.Now()}), "a zone is everybody's")
}
