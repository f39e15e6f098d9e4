package guard

import (
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMoreThanAShareAndMoreThanFiveIsTooMuch: the default is 25 % of a record's
// names, and more than 5.
func TestMoreThanAShareAndMoreThanFiveIsTooMuch(t *testing.T) {
	for _, c := range []struct {
		gone, all, percent int
		over               bool
	}{
		{0, 0, 0, false},
		{5, 5, 0, false}, // so few may always go
		{6, 6, 0, true},
		{6, 6, Default, true},
		{6, 24, Default, false}, // a quarter is not more than a quarter
		{6, 23, Default, true},
		{25, 100, Default, false},
		{26, 100, Default, true},
		{100, 100, 99, true},
		{100, 100, 100, false}, // switched off
		{6, 100_000, 0, true},
	} {
		require.Equal(t, c.over, Over(c.gone, c.all, c.percent), "%+v", c)
	}
}

func TestOneNameIsHeldInItsOwnWords(t *testing.T) {
	require.Contains(t, Held(1, "lab", "this plan's token"), `1 name of provider "lab" stays published`)
	require.Contains(t, Held(2, "lab", "this plan's token"), "this plan's token removes them")
}

// published is what a group alone publishes.
func published(names ...string) func() (Published, error) {
	own := map[string]bool{}
	for _, name := range names {
		own[name] = true
	}
	return func() (Published, error) {
		return Published{Own: own, Count: func() (int, time.Time, error) { return len(own), time.Time{}, nil }}, nil
	}
}

func letters(text string) []string {
	var out []string
	for _, letter := range text {
		out = append(out, string(letter))
	}
	return out
}

// record is an account with its shares and permits, as the store has them.
type record struct {
	account Account
	shares  map[string]Share
	permits map[string][]Permit
}

// judge has a group lose names, twice.
func (r *record) judge(t *testing.T, group string, l Loss, published func() (Published, error)) (held []string) {
	t.Helper()
	l.Percent = Default
	if r.account.Ends("", l.Now) {
		*r = record{permits: r.permits}
	}
	lost, left := Spend(l, r.permits[group])
	next, share, held, err := r.account.Judge(r.shares[group], lost, l, published)
	require.NoError(t, err)
	again, same, kept, err := next.Judge(share, lost, l, published)
	require.NoError(t, err)
	require.Equal(t, next, again, "it is idempotent")
	require.Equal(t, share, same)
	require.Equal(t, held, kept)
	if r.shares == nil {
		r.shares, r.permits = map[string]Share{}, maps.Clone(r.permits)
	}
	if r.permits == nil {
		r.permits = map[string][]Permit{}
	}
	r.account, r.shares[group], r.permits[group] = next, share, left
	gone, waiting := 0, 0
	for _, s := range r.shares {
		gone, waiting = gone+len(s.Gone), waiting+s.Held
	}
	require.Equal(t, []int{gone, waiting}, []int{next.Gone, next.Held}, "the account is the sum of its shares")
	return held
}

func (r *record) clone() *record {
	return &record{r.account, maps.Clone(r.shares), maps.Clone(r.permits)}
}

// TestAnAccountIsOfAllThatWentWithinTheWindow: by one, by several, and by those who
// say it twice.
func TestAnAccountIsOfAllThatWentWithinTheWindow(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	all := published(letters("abcdefghijklmnopqrst")...)
	r := &record{}
	require.Empty(t, r.judge(t, "a", Loss{Names: letters("abc"), Now: now}, all))
	require.Empty(t, r.judge(t, "a", Loss{Names: letters("abcde"), Now: now}, all))
	later := r.clone()
	require.Equal(t, letters("abcdef"), r.judge(t, "a", Loss{Names: letters("abcdef"), Now: now.Add(Window)}, all), "what has been charged and not gone yet stays, too")
	require.Equal(t, 6, r.account.Held)
	require.Equal(t, letters("z"), r.clone().judge(t, "b", Loss{Names: letters("z"), Now: now.Add(time.Minute)}, all), "nothing else goes meanwhile")
	require.Equal(t, letters("abcdef"), r.judge(t, "a", Loss{Names: letters("abcdef"), Now: now.Add(100 * Window)}, all), "time thaws nothing")
	require.Empty(t, r.judge(t, "a", Loss{Now: now.Add(time.Minute)}, all))
	require.Zero(t, r.account.Held)
	require.Empty(t, later.judge(t, "a", Loss{Names: letters("fghij"), Now: now.Add(Window + time.Second)}, all), "what went long ago counts no more")
}

// TestNamesThatWentCountWithThoseThatGo checks that more cannot go in small steps
// than at once.
func TestNamesThatWentCountWithThoseThatGo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	left := published(letters("defghijklmnopqrst")...)
	r := &record{}
	require.Empty(t, r.judge(t, "a", Loss{Names: letters("abc"), Now: now}, left))
	require.Equal(t, letters("abc"), r.shares["a"].Gone)
	require.Equal(t, letters("def"), r.judge(t, "b", Loss{Names: letters("def"), Now: now.Add(time.Minute)}, left))
}

// TestNamesThatOthersGiveAreNotCharged: they do not go, also when few do.
func TestNamesThatOthersGiveAreNotCharged(t *testing.T) {
	t.Parallel()
	now, all := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), published(letters("abcdefghij")...)
	shared := func() (Published, error) {
		is, err := all()
		is.Others = map[string]bool{"a": true, "b": true, "c": true}
		return is, err
	}
	r := &record{}
	require.Empty(t, r.judge(t, "a", Loss{Names: letters("abc"), Now: now}, shared))
	require.Zero(t, r.account.Gone)
	require.Empty(t, r.judge(t, "b", Loss{Names: letters("abc"), Now: now}, all))
	require.Equal(t, 3, r.account.Gone)
}

// TestNamesAreCountedOnceForMany: who counts very many names again and again does nothing else, with clocks that differ, too.
func TestNamesAreCountedOnceForMany(t *testing.T) {
	t.Parallel()
	counts, names, now := 0, 100_000, time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	many := func() (Published, error) {
		return Published{Count: func() (int, time.Time, error) { counts++; return names, now, nil }}, nil
	}
	r := &record{}
	lose := func(n int, at time.Time) []string {
		return r.judge(t, strconv.Itoa(n), Loss{Names: []string{strconv.Itoa(n)}, Now: at}, many)
	}
	for n := range 100 {
		require.Empty(t, lose(n, now.Add(time.Duration(n%2)*-10*time.Minute)))
	}
	require.Equal(t, 1, counts)
	names, now = 100, now.Add(2*time.Minute)
	require.NotEmpty(t, lose(100, now), "an old count does not hold")
	require.Equal(t, 2, counts)
}

// TestAPermitIsForWhatWasAcceptedWithIt, once.
func TestAPermitIsForWhatWasAcceptedWithIt(t *testing.T) {
	loss := Loss{Names: letters("abcdefg"), For: []string{"2"}}
	all := published(letters("abcdefghij")...)
	r := &record{permits: map[string][]Permit{"a": Permitted(nil, Permit{For: "2", Names: letters("abcdef")})}}
	require.Empty(t, r.judge(t, "a", loss, all), "one more is few")
	require.NotEmpty(t, r.permits["a"], "until it has been used")
	require.Empty(t, r.judge(t, "a", Loss{For: loss.For}, all))
	require.Empty(t, r.permits["a"])
	require.Equal(t, loss.Names, r.judge(t, "a", loss, all), "they came back, and go again")
	void := &record{permits: map[string][]Permit{"a": {{For: "1", Names: loss.Names}}, "b": {{For: "2", Names: loss.Names}}}}
	require.Equal(t, loss.Names, void.judge(t, "a", loss, all))
	require.Len(t, Permitted([]Permit{{For: "2"}}, Permit{For: "2"}), 1)
}

// TestPermitsThatNobodyUsesDoNotGrow: the latest are kept.
func TestPermitsThatNobodyUsesDoNotGrow(t *testing.T) {
	var permits []Permit
	for n := range 100 {
		permits = Permitted(permits, Permit{For: strconv.Itoa(n)})
	}
	var kept []string
	for _, p := range permits {
		kept = append(kept, p.For)
	}
	require.Equal(t, []string{"96", "97", "98", "99"}, kept)
	large := []string{strings.Repeat("n", mostBytes*3/4)}
	require.Len(t, Permitted([]Permit{{For: "1", Names: large}, {For: "2"}}, Permit{For: "3", Names: large}), 2, "what is large is not kept twice")
}
