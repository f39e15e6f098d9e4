package jsonbody

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPlain: what is decoded the short way is what the long way decodes, and
// the long way has nothing against it.
func FuzzPlain(f *testing.F) {
	for _, body := range append(plainBodies(), oddBodies()...) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		value, ok := plain([]byte(body))
		if !ok {
			return
		}
		want, same, err := carefully([]byte(body))
		require.NoError(t, err)
		require.True(t, same, "it would be rewritten")
		require.Equal(t, want, value)
	})
}

func TestBodiesWithoutOdditiesAreDecodedTheShortWay(t *testing.T) {
	t.Parallel()
	for _, body := range plainBodies() {
		_, ok := plain([]byte(body))
		require.True(t, ok, body)
	}
	for _, body := range oddBodies() {
		_, ok := plain([]byte(body))
		require.False(t, ok, body)
	}
}

func plainBodies() []string {
	return []string{
		`{"metadata":{"name":"lab"},"spec":{"provider":"coredns","external-dns-parameters":{"interval":"5s","domain-filter":["a","b"]}}}`,
		" {\n\t\"a\" : [ 1, -2, true, false, null, {} , [] ] }\n",
		`{"a:b":"c:d","quoted \"::\" twice":"\\","\u003a":":"}`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	}
}

func oddBodies() []string {
	return []string{
		``, `{`, `[1,]`, `{"a":1} 2`, `{"a":1}}`, "{}\f", // no JSON
		`{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, `[{"b":{"a":1,"a":{"c":1}}}]`, // a key twice
		`{"a":30.0}`, `[3e1]`, `[3E1]`, // numbers to be rewritten
		strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
		strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
	}
}
