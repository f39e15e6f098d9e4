package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExchanges(t *testing.T) {
	text := "```sh\n$ not this\n```\n```console\n$ a \\\n  b\nout\nput\n$ c\n$ cat <<END\n> one\n> two\n> END\none\ntwo\n```\n$ nor this\n"
	require.Equal(t, []Exchange{{"a \\\n  b\n", "out\nput\n"}, {"c\n", ""}, {"cat <<END\none\ntwo\nEND\n", "one\ntwo\n"}}, Exchanges(text))
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, output string
		match         bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nb", true},
		{"a\nb\n", "a\n", false},
		{"", "", true},
		{"", "a\n", false},
		{"at 2026-01-02T03:04:05Z\n", "at 2027-11-12T13:14:15.5Z\n", true},
		{"a\n...\n", "a\nb\nc\n", true},
		{"a\n...\n", "a\n", true},
		{"a\n...\n", "b\na\n", false},
		{"...\na\n", "b\na\n", true},
		{"...\na\n", "a\nb\n", false},
		{"...\na\n", "a\nb\na\n", true},
		{"...\nb\n...\n", "a\nb\nc\n", true},
		{"...\nb\n...\n", "a\nbc\n", false},
		{"a\n...\nc\n...\ne\n", "a\nb\nc\nd\ne\n", true},
		{"a\n...\nc\n...\nc\n", "a\nb\nc\n", false},
	} {
		require.Equal(t, c.match, Matches(c.shown, c.output), "%q as %q", c.output, c.shown)
	}
}
