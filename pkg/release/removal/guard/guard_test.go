package guard

import (
	"strconv"
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

func published(group string, names ...string) func() (Published, error) {
	return func() (Published, error) {
		all := map[string]bool{}
		for _, name := range names {
			all[name] = true
		}
		return Published{group: all}, nil
	}
}

func letters(text string) []string {
	var out []string
	for _, letter := range text {
		out = append(out, string(letter))
	}
	return out
}

// TestAnAccountIsOfAllThatWentWithinTheWindow: by one, by several, and by those who
// say it twice.
func TestAnAccountIsOfAllThatWentWithinTheWindow(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	abc := published("a", letters("abcdefghijklmnopqrst")...)
	judge := func(a Account, l Loss) (Account, []string) {
		l.Percent = Default
		next, held, err := a.Judge(l, abc)
		require.NoError(t, err)
		again, same, err := next.Judge(l, abc)
		require.NoError(t, err)
		require.Equal(t, next, again, "it is idempotent")
		require.Equal(t, held, same)
		return next, held
	}
	a, held := judge(Account{}, Loss{Group: "a", Names: letters("abc"), Now: now})
	require.Empty(t, held)
	a, held = judge(a, Loss{Group: "a", Names: letters("abcde"), Now: now})
	require.Empty(t, held)
	frozen, held := judge(a, Loss{Group: "a", Names: letters("abcdef"), Now: now.Add(Window)})
	require.Equal(t, letters("abcdef"), held, "what has been charged and not gone yet stays, too")
	require.Equal(t, map[string]int{"a": 6}, frozen.Held)
	_, held = judge(frozen, Loss{Group: "b", Names: letters("z"), Now: now.Add(time.Minute)})
	require.Equal(t, letters("z"), held, "nothing else goes meanwhile")
	_, held = judge(frozen, Loss{Group: "a", Names: letters("abcdef"), Now: now.Add(100 * Window)})
	require.Equal(t, letters("abcdef"), held, "time thaws nothing")
	thawed, held := judge(frozen, Loss{Group: "a", Now: now.Add(time.Minute)})
	require.Empty(t, held)
	require.Empty(t, thawed.Held)
	_, held = judge(a, Loss{Group: "a", Names: letters("fghij"), Now: now.Add(Window + time.Second)})
	require.Empty(t, held, "what went long ago counts no more")
}

// TestNamesThatWentCountWithThoseThatGo checks that more cannot go in small steps
// than at once.
func TestNamesThatWentCountWithThoseThatGo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	left := published("a", letters("defghijklmnopqrst")...)
	gone, held, err := Account{}.Judge(Loss{Group: "a", Names: letters("abc"), Percent: Default, Now: now}, left)
	require.NoError(t, err)
	require.Empty(t, held)
	require.Equal(t, letters("abc"), gone.Gone)
	_, held, err = gone.Judge(Loss{Group: "a", Names: letters("def"), Percent: Default, Now: now.Add(time.Minute)}, left)
	require.NoError(t, err)
	require.Equal(t, letters("def"), held)
}

// TestAPermitIsForWhatWasAcceptedWithIt, once.
func TestAPermitIsForWhatWasAcceptedWithIt(t *testing.T) {
	loss := Loss{Group: "a", Names: letters("abcdefg"), For: []string{"2"}, Percent: Default}
	all := published("a", letters("abcdefghij")...)
	given := Account{}.Permit(Permit{Group: "a", For: "2", Names: letters("abcdef")})
	next, held, err := given.Judge(loss, all)
	require.NoError(t, err)
	require.Empty(t, held, "one more is few")
	require.True(t, next.Concerns("a"), "until it has been used")
	loss.Names = nil
	next, _, err = next.Judge(loss, all)
	require.NoError(t, err)
	require.False(t, next.Concerns("a"))
	loss.Names = letters("abcdefg")
	_, held, err = next.Judge(loss, all)
	require.NoError(t, err)
	require.Equal(t, letters("abcdefg"), held, "they came back, and go again")
	for _, void := range []Permit{{Group: "a", For: "1", Names: loss.Names}, {Group: "b", For: "2", Names: loss.Names}} {
		_, held, err = Account{}.Permit(void).Judge(loss, all)
		require.NoError(t, err)
		require.Equal(t, loss.Names, held, "%+v", void)
	}
	require.Len(t, given.Permit(Permit{Group: "a", For: "2"}).Permits, 1)
}

// TestPermitsThatNobodyUsesDoNotGrow: of each group the latest are kept.
func TestPermitsThatNobodyUsesDoNotGrow(t *testing.T) {
	a := Account{}.Permit(Permit{Group: "b", For: "1"})
	for n := range 100 {
		a = a.Permit(Permit{Group: "a", For: strconv.Itoa(n)})
	}
	var kept []string
	for _, p := range a.Permits {
		kept = append(kept, p.Group+p.For)
	}
	require.Equal(t, []string{"b1", "a96", "a97", "a98", "a99"}, kept)
}
