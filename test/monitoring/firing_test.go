package monitoring

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func alert(t *testing.T, name string) rule {
	t.Helper()
	for _, g := range rules(t) {
		if at := slices.IndexFunc(g.Rules, func(r rule) bool { return r.Alert == name }); at >= 0 {
			return g.Rules[at]
		}
	}
	t.Fatalf("there is no alert %s", name)
	return rule{}
}

// TestAlertsFireAndEnd: over series with a value for each minute, an alert fires
// from a minute to another one, or (-1) never.
func TestAlertsFireAndEnd(t *testing.T) {
	t.Parallel()
	const never = -1
	for _, c := range []struct {
		alert, when string
		series      []string
		from, to    int // minutes
	}{
		{"SignpostDown", "nothing is scraped any more", []string{`signpost_build_info{instance="a"} 1x10 stale`}, 16, 120},
		{"SignpostNoWorker", "requests alone are accepted", []string{
			`signpost_replicas{role="all",version="1"} 0x120`, `signpost_replicas{role="api",version="1"} 2x120`, `signpost_replicas{role="worker",version="1"} 0x120`,
		}, 2, 120},
		{"SignpostNoWorker", "the last worker dies, and comes back", []string{
			`signpost_replicas{instance="api",role="all",version="1"} 0x120`,
			`signpost_replicas{instance="api",role="worker",version="1"} 1x20 0x20 1x80`, `signpost_replicas{instance="worker",role="worker",version="1"} 1x20 stale _x19 1x80`,
		}, 23, 40},
		{"SignpostNoWorker", "one process does all", []string{
			`signpost_replicas{role="all",version="1"} 1x120`, `signpost_replicas{role="api",version="1"} 0x120`, `signpost_replicas{role="worker",version="1"} 0x120`,
		}, never, never},
		{"SignpostVersionsMixed", "an update is not finished", []string{
			`signpost_replicas{instance="a",role="all",version="1"} 1x120`, `signpost_replicas{instance="a",role="all",version="2"} _x10 1x110`,
		}, 70, 120},
		{"SignpostVersionsMixed", "another version is told of for its zeros alone", []string{
			`signpost_replicas{role="all",version="1"} 1x120`, `signpost_replicas{role="worker",version="2"} 0x120`,
		}, never, never},
		{"SignpostCallersRejected", "three a second are rejected", []string{`signpost_auth_rejected_total{reason="expired"} 0+180x120`}, 17, 120},
		{"SignpostAccessFileBroken", "a file is broken, and mended", []string{`signpost_access_file_broken{flag="policy-file"} 0x10 1x20 0x90`}, 16, 31},
		{"SignpostIssuerSilent", "an issuer is down for half an hour", []string{`signpost_oidc_key_fetches_total{outcome="failed"} 0x10 1+1x29 30x80`}, 21, 53},
		{"SignpostIssuerSilent", "it answers", []string{`signpost_oidc_key_fetches_total{outcome="failed"} 3x120`, `signpost_oidc_key_fetches_total{outcome="fetched"} 0+1x120`}, never, never},
		{"SignpostTokensUnchecked", "callers are turned away for it", []string{`signpost_auth_rejected_total{reason="unavailable"} 0x10 1+1x29 30x80`}, 16, 43},
		{"SignpostHistoryLost", "one event is lost", []string{`signpost_history_lost_total 0x10 1x110`}, 11, 69},
		{"SignpostStoreUnavailable", "etcd is away", []string{`signpost_store_request_duration_seconds_count{store="etcd",outcome="unavailable"} _x10 0+60x110`}, 16, 120},
		{"SignpostClusterUnreachable", "one is, and comes back", []string{`signpost_sync_cluster_reachable{cluster="a"} 1x10 0x20 1x90`}, 21, 31},
		{"SignpostCredentialsEnd", "nobody renews them", []string{
			`signpost_cluster_credentials_expiry_timestamp_seconds{cluster="a"} 7200x120`, `signpost_cluster_credentials_lifetime_seconds{cluster="a"} 14400x120`,
		}, 66, 120},
		{"SignpostCredentialsEnd", "they are renewed in time", []string{
			`signpost_cluster_credentials_expiry_timestamp_seconds{cluster="a"} 7200x60 18000x60`, `signpost_cluster_credentials_lifetime_seconds{cluster="a"} 14400x120`,
		}, never, never},
		{"SignpostConflicts", "one counts that is served already", []string{`signpost_sync_conflicts_total{cluster="a"} 0x10 1x110`}, 11, 24},
		{"SignpostConflicts", "it is the first thing that is seen of a cluster", []string{`signpost_sync_conflicts_total{cluster="a"} _x10 1x110`}, 10, 24},
		{"SignpostConflicts", "another worker takes the cluster over", []string{
			`signpost_sync_conflicts_total{cluster="a",instance="1"} 0x30 1x28 stale`, `signpost_sync_conflicts_total{cluster="a",instance="2"} _x60 0x60`,
		}, 31, 44},
		{"SignpostDrift", "somebody insists", []string{`signpost_sync_drift_repaired_total{cluster="a"} 0+1x120`}, 21, 120},
		{"SignpostLeasesLost", "a worker loses three", []string{`signpost_leases_lost_total 0x10 1 2 3x100`}, 13, 70},
		{"SignpostExternalDNSUnavailable", "its Deployment is not available", []string{`signpost_external_dns_available{cluster="a"} 1x10 0x110`}, 21, 120},
		{"SignpostExternalDNSUnavailable", "whether it is cannot be seen", nil, never, never},
		{"SignpostNamesUnpublished", "a name waits", []string{`signpost_external_dns_unpublished_endpoints{cluster="a"} 0x10 1x110`}, 41, 120},
		{"SignpostNamesUnpublished", "what waits cannot be seen", nil, never, never},
		{"SignpostAnswersLate", "half of the answers come after 5 seconds for half an hour", []string{
			`signpost_time_to_answer_seconds_bucket{project="shop",provider="lab",publisher="built-in",stage="answered",le="5"} 0+4x30 122+2x29 184+4x60`,
			`signpost_time_to_answer_seconds_count{project="shop",provider="lab",publisher="built-in",stage="answered"} 0+4x120`,
		}, 45, 62},
		{"SignpostAnswersLate", "external-dns looks once a minute", []string{
			`signpost_time_to_answer_seconds_bucket{project="shop",provider="lab",publisher="external-dns",stage="answered",le="5"} 0x120`,
			`signpost_time_to_answer_seconds_bucket{project="shop",provider="lab",publisher="external-dns",stage="answered",le="120"} 0+4x120`,
			`signpost_time_to_answer_seconds_count{project="shop",provider="lab",publisher="external-dns",stage="answered"} 0+4x120`,
		}, never, never},
		{"SignpostAnswersOftenLate", "every tenth answer comes late", []string{
			`signpost_time_to_answer_seconds_bucket{project="shop",provider="lab",publisher="built-in",stage="answered",le="5"} 0+9x120`,
			`signpost_time_to_answer_seconds_count{project="shop",provider="lab",publisher="built-in",stage="answered"} 0+10x120`,
		}, 17, 120},
		{"SignpostSearchPathsUnsupported", "a DNS does not take search paths", []string{`coredns_searchpath_unsupported_total{server="dns://:53"} 0x10 1+1x109`}, 26, 120},
	} {
		t.Run(c.alert+" when "+c.when, func(t *testing.T) {
			t.Parallel()
			at := scrape(t, c.series...).recorded(t, 2*time.Hour).firing(t, alert(t, c.alert), 2*time.Hour)
			if c.from == never {
				require.Empty(t, at)
				return
			}
			require.NotEmpty(t, at)
			require.Equal(t, []time.Duration{time.Duration(c.from) * time.Minute, time.Duration(c.to) * time.Minute}, []time.Duration{at[0], at[len(at)-1]})
			require.Len(t, at, c.to-c.from+1, "without a gap")
		})
	}
}

// TestARotationOfKeysThatIsNotFinishedIsAnAlert: after days, and not before.
func TestARotationOfKeysThatIsNotFinishedIsAnAlert(t *testing.T) {
	const days = 24 * time.Hour
	series := scrape(t, `signpost_sealed_values{instance="1",key="a"} 5x7200`, `signpost_sealed_values{instance="2",key="b"} 2x6000 0x1200`)
	at := series.firing(t, alert(t, "SignpostKeysMixed"), 5*days)
	require.NotEmpty(t, at)
	require.Equal(t, 3*days, at[0])
	require.Equal(t, 6000*time.Minute, at[len(at)-1])
}
