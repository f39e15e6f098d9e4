package externaldns

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/internal/seed"
)

// TestTheSeedsExampleIsTaken compares, for each provider of the seed, what is
// odd about the seed's example and what external-dns gets of it, all of it, with
// testdata/seed. SIGNPOST_GOLDEN=write writes what is found.
func TestTheSeedsExampleIsTaken(t *testing.T) {
	for _, provider := range seed.Providers() {
		t.Run(provider, func(t *testing.T) {
			example, err := seed.Parameters(provider)
			require.NoError(t, err)
			record := Record{Provider: provider, Parameters: example}
			errors, warnings := Check(record)
			assert.Empty(t, append(errors, Mistyped(example)...))
			arguments, stuck := Compile(options(record))
			got := strings.Join(lines(warnings), "\n") +
				"\n\nerrors of a plan:\n" + strings.Join(lines(stuck), "\n") +
				"\n\narguments:\n" + strings.Join(arguments.Args, "\n") + "\n"
			golden.Equal(t, filepath.Join("seed", provider+".golden"), got)
		})
	}
}

// TestOnlyThePlaceholderOfAnAlgorithmCannotWork: with a right one in its place
// the seed's example for rfc2136 is rendered.
func TestOnlyThePlaceholderOfAnAlgorithmCannotWork(t *testing.T) {
	example, err := seed.Parameters("rfc2136")
	require.NoError(t, err)
	example["rfc2136-tsig-secret-alg"] = "hmac-sha256"
	args := compiled(t, options(Record{Provider: "rfc2136", Parameters: example}))
	for _, want := range []string{
		"--rfc2136-host=host.sample.com", "--rfc2136-zone=example.com", "--rfc2136-axfr", "--no-rfc2136-insecure",
		"--rfc2136-tsig-keyname=tsig key", "--rfc2136-tsig-secret-alg=hmac-sha256", "--kube-api-request-timeout=30s",
	} {
		assert.Contains(t, args, want)
	}
}
