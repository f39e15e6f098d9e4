package nearest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

func TestName(t *testing.T) {
	known := []string{"listen", "grpc-listen", "log-level", "log-format", "ttl"}
	for _, test := range []struct{ reason, name, want string }{
		{"a letter is missing", "liste", "listen"},
		{"two letters are swapped", "log-lveel", "log-level"},
		{"the name itself", "ttl", "ttl"},
		{"another word in part", "grpc-address", ""},
		{"half of the word", "log-form", "log-format"},
		{"nothing alike", "kubernetes-version", ""},
		{"too long to be meant", strings.Repeat("listen", 100), ""},
		{"empty", "", ""},
		{"another case", "LOG-Level", "log-level"},
		{"no letter in common", "xy", ""},
	} {
		require.Equal(t, test.want, nearest.Name(test.name, known), test.reason)
	}
}

func TestNameOfNoCandidates(t *testing.T) {
	require.Empty(t, nearest.Name("listen", nil))
}

func TestTheFirstOfEquallyNearNamesWins(t *testing.T) {
	require.Equal(t, "abd", nearest.Name("abc", []string{"abd", "abe"}))
}
