package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

const place = "secrets/projects/shop/dns-update-records/lab#tsig-secret"

func key(t testing.TB, fill byte) seal.Key {
	t.Helper()
	k, err := seal.NewKey(bytes.Repeat([]byte{fill}, 32))
	require.NoError(t, err)
	return k
}

func sealer(t testing.TB, current seal.Key, older ...seal.Key) *seal.Sealer {
	t.Helper()
	s, err := seal.New(current, older...)
	require.NoError(t, err)
	return s
}

func TestOpenGivesBackWhatWasSealed(t *testing.T) {
	s := sealer(t, key(t, 1))
	for _, plain := range []string{"", "x", "a secret", strings.Repeat("long", 1<<18), "\x00\xff"} {
		sealed, err := s.Seal([]byte(plain), place)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(sealed, "sp1:"+key(t, 1).ID()+":"))
		opened, err := s.Open(sealed, place)
		require.NoError(t, err)
		require.Equal(t, plain, string(opened))
	}
}

func TestSealingTwiceGivesDifferentTexts(t *testing.T) {
	s := sealer(t, key(t, 1))
	first, err := s.Seal([]byte("same"), place)
	require.NoError(t, err)
	second, err := s.Seal([]byte("same"), place)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.NotContains(t, first, "same")
}

func TestOpenRefuses(t *testing.T) {
	s := sealer(t, key(t, 1))
	good, err := s.Seal([]byte("a secret"), place)
	require.NoError(t, err)
	foreign, err := sealer(t, key(t, 2)).Seal([]byte("a secret"), place)
	require.NoError(t, err)
	head, tail := good[:len("sp1:12345678:")], good[len("sp1:12345678:"):]
	for _, one := range []struct {
		reason, text, place string
		want                error
	}{
		{"another place: a value copied into another record", good, "secrets/projects/evil#tsig-secret", seal.ErrDamaged},
		{"no place", good, "", seal.ErrDamaged},
		{"another key", foreign, place, seal.ErrWrongKey},
		{"another key's id on it", strings.Replace(foreign, key(t, 2).ID(), key(t, 1).ID(), 1), place, seal.ErrDamaged},
		{"a text that was never sealed", "a secret", place, seal.ErrDamaged},
		{"nothing", "", place, seal.ErrDamaged},
		{"another version", strings.Replace(good, "sp1", "sp2", 1), place, seal.ErrDamaged},
		{"an id that is none", "sp1:a secret:" + tail, place, seal.ErrDamaged},
		{"a changed character", head + flip(tail), place, seal.ErrDamaged},
		{"cut short", good[:len(good)-4], place, seal.ErrDamaged},
		{"head alone", head, place, seal.ErrDamaged},
		{"no base64", head + "!!!!", place, seal.ErrDamaged},
		{"something appended", good + "A", place, seal.ErrDamaged},
		{"white space", good + "\n", place, seal.ErrDamaged},
	} {
		opened, err := s.Open(one.text, one.place)
		require.ErrorIs(t, err, one.want, one.reason)
		require.Nil(t, opened, one.reason)
		require.NotContains(t, err.Error(), "a secret", one.reason)
	}
}

func flip(text string) string {
	first := "A"
	if text[0] == 'A' {
		first = "B"
	}
	return first + text[1:]
}

func TestWrongKeyNamesBothKeys(t *testing.T) {
	foreign, err := sealer(t, key(t, 2)).Seal([]byte("x"), place)
	require.NoError(t, err)
	_, err = sealer(t, key(t, 1)).Open(foreign, place)
	require.ErrorContains(t, err, key(t, 1).ID())
	require.ErrorContains(t, err, key(t, 2).ID())
}

func TestOlderKeyStillOpens(t *testing.T) {
	old, err := sealer(t, key(t, 1)).Seal([]byte("x"), place)
	require.NoError(t, err)
	rotated := sealer(t, key(t, 2), key(t, 1))
	opened, err := rotated.Open(old, place)
	require.NoError(t, err)
	require.Equal(t, "x", string(opened))
	fresh, err := rotated.Seal([]byte("x"), place)
	require.NoError(t, err)
	require.Contains(t, fresh, key(t, 2).ID())
}

func TestKeyStaysOutOfLogs(t *testing.T) {
	k := key(t, 'K')
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, "key "+k.ID(), fmt.Sprintf(format, k), format)
	}
}

func TestEmptyKeySealsNothing(t *testing.T) {
	_, err := seal.New(seal.Key{})
	require.Error(t, err)
	_, err = (&seal.Sealer{}).Seal([]byte("x"), place)
	require.Error(t, err)
}

func FuzzOpen(f *testing.F) {
	s := sealer(f, key(f, 1))
	good, err := s.Seal([]byte("a secret"), place)
	require.NoError(f, err)
	for _, text := range []string{good, "", "sp1::", "sp1:12345678:AAAA", strings.Replace(good, ":", "::", 1)} {
		f.Add(text, place)
	}
	f.Fuzz(func(t *testing.T, text, aad string) {
		opened, err := s.Open(text, aad)
		switch {
		case err == nil:
			// Another process of the fuzzer has sealed it.
			require.Equal(t, "a secret", string(opened))
			require.Equal(t, place, aad)
		case !errors.Is(err, seal.ErrDamaged) && !errors.Is(err, seal.ErrWrongKey):
			t.Fatalf("%q at %q: %v", text, aad, err)
		}
	})
}
