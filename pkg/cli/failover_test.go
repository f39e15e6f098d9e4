package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	movedRow    = `"name":"www.lab.example","type":"A","project":"shop","owner":"projects/shop/names/www.lab.example","provider":"lab","before":["192.0.2.1","192.0.2.2"],"after":["192.0.2.2"],"clustersBefore":["edge+berlin","edge+boston"],"clustersAfter":["edge+boston"],"homes":["edge+hub"]`
	noCounts    = `"counts":{"names":1,"stay":0,"one":1,"none":0,"unhealthy":0}`
	noHosts     = `"hosts":{"moved":1,"answered":0,"none":0,"gone":0,"one":1,"unhealthy":0,"stay":0}`
	previewBody = `{"token":"6f1c","drain":["edge+berlin"],"undrain":[],"unchanged":[],` + noCounts + `,` + noHosts + `,"names":[{` + movedRow + `,"left":"one"}],"refusals":%s,"warnings":["mind the home"],"cachesFor":"1m0s"}`
	recordBody  = `{"id":"f1","time":"2026-11-02T09:31:07Z","actor":"olga","drain":{"labels":{"region":"eu"}},"drained":["edge+berlin"],"undrained":[],%s,` + noCounts + `,` + noHosts + `,"names":[{` + movedRow + `%s}]}`
)

func movingRecord() string {
	return fmt.Sprintf(recordBody, `"state":"Moving","answered":0`, `,"message":"not asked yet"`)
}

func doneRecord() string {
	return strings.Replace(fmt.Sprintf(recordBody, `"state":"Done","answered":1,"ended":"2026-11-02T09:32:00Z","cachesUntil":"2026-11-02T09:33:00Z"`, `,"answered":"2026-11-02T09:32:00Z","cachesUntil":"2026-11-02T09:33:00Z"`), `"moved":1,"answered":0`, `"moved":1,"answered":1`, 1)
}

func TestAPreviewShowsWhatMoves(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST failovers?dryRun=true", 200, "FailoverPreview", strings.Replace(fmt.Sprintf(previewBody, `[]`), `"unhealthy":0`, `"unhealthy":0,"kept":7`, 1))
	got := signpost(t, f.url, "drain", "region=eu", "--preview")
	require.Equal(t, result{exitDone, `drain: edge+berlin
1 name moves: 1 are left with one address, 0 with unhealthy clusters; 0 cannot move
7 names lose a cluster and keep their answer
NAME             TYPE  PROJECT  BEFORE               AFTER      LEFT  STAYS
www.lab.example  A     shop     192.0.2.1,192.0.2.2  192.0.2.2  one   -
warning: mind the home
caches may hold old targets for 1m0s after the servers answer
token: 6f1c
`, ""}, got)
}

// TestANameWithoutAnAddressIsNotCountedAsMovedOrAnswered, neither before a failover nor after it.
func TestANameWithoutAnAddressIsNotCountedAsMovedOrAnswered(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST failovers?dryRun=true", 200, "FailoverPreview", strings.Replace(fmt.Sprintf(previewBody, `[]`), `"none":0,"gone":0`, `"none":1,"gone":0`, 1))
	require.Contains(t, signpost(t, f.url, "drain", "region=eu", "--preview").out, "1 name moves, 1 name loses its last address: 1 are left with one address, 0 with unhealthy clusters; 0 cannot move\n")
	gone := strings.NewReplacer(`"none":0,"gone":0`, `"none":1,"gone":1`)
	f.on("GET failovers/f1", 200, "FailoverRecord", strings.Replace(movingRecord(), `"none":0,"gone":0`, `"none":1,"gone":0`, 1))
	f.on("GET failovers/f2", 200, "FailoverRecord", gone.Replace(doneRecord()))
	require.Contains(t, signpost(t, f.url, "failovers", "f1").out, "Moving, 0 of 1 names answered, 0 of 1 without an address")
	require.Contains(t, signpost(t, f.url, "failovers", "f2").out, "Done, 1 of 1 names answered, 1 of 1 without an address")
}

// TestAPreviewThatWouldBeRefusedIsAnError with all the reasons.
func TestAPreviewThatWouldBeRefusedIsAnError(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST failovers?dryRun=true", 200, "FailoverPreview", fmt.Sprintf(previewBody, `[{"rule":"window","detail":"it is Sunday","allow":"the role admin"},{"detail":"nothing left","allow":"whoever may"}]`))
	got := signpost(t, f.url, "failover", "region=eu", "--preview")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "it is Sunday; allowed: the role admin")
	require.Contains(t, got.err, "nothing left; allowed: whoever may")
}

// TestAFailoverIsWaitedFor name by name, and says until when caches hold the old answers.
func TestAFailoverIsWaitedFor(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST failovers?confirm=6f1c&override=window", 202, "FailoverRecord", movingRecord())
	f.on("GET failovers/f1", 200, "FailoverRecord", movingRecord())
	f.on("GET failovers/f1", 200, "FailoverRecord", doneRecord())
	got := signpost(t, f.url, "failover", "region=eu", "edge/rome", "--to", "region=us", "--confirm", "6f1c", "--override", "window", "--reason", "flood", "--wait")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, "www.lab.example A is answered with 192.0.2.2; caches may hold 192.0.2.1,192.0.2.2 until 2026-11-02T09:33:00Z\n", got.err)
	require.Equal(t, "failover f1: edge+berlin drained; Done, 1 of 1 names answered; caches may hold old targets until 2026-11-02T09:33:00Z\n", got.out)
}

func TestAFailoverThatWasUndoneLaterSaysByWhom(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET failovers/f1", 200, "FailoverRecord", strings.Replace(doneRecord(), `"answered":1`, `"answered":1,"undone":[{"cluster":"edge+berlin","since":"2026-11-02T10:00:00Z","actor":"ann","failover":"f2"}]`, 1))
	got := signpost(t, f.url, "failovers", "f1")
	require.Contains(t, got.out, "Done, 1 of 1 names answered; edge+berlin was undrained by ann at 2026-11-02T10:00:00Z (failover f2)")
}

func TestAFailoverThatEndsOtherwiseIsAnError(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST failovers/f0/revert", 202, "FailoverRecord", movingRecord())
	f.on("GET failovers/f1", 200, "FailoverRecord", fmt.Sprintf(recordBody, `"state":"Superseded","answered":0,"ended":"2026-11-02T09:32:00Z","message":"edge+berlin was undrained by ann"`, ``))
	got := signpost(t, f.url, "revert", "f0", "--wait")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "edge+berlin was undrained by ann")
}

func TestFailoversAreListedAndShown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET failovers", 200, "FailoverPage", `{"items":[`+movingRecord()+`],"continue":"next"}`)
	f.on("GET failovers?continue=next", 200, "FailoverPage", `{"items":[`+doneRecord()+`]}`)
	f.on("GET failovers/f1", 200, "FailoverRecord", movingRecord())
	require.Equal(t, `FAILOVER  STATE   DRAINED      UNDRAINED  NAMES  ANSWERED  NO ADDRESS  BY    REASON
f1        Moving  edge+berlin  -          1      0         0           olga  -
f1        Done    edge+berlin  -          1      1         0           olga  -
`, signpost(t, f.url, "failovers").out)
	require.Contains(t, signpost(t, f.url, "failovers", "f1").out, "not asked yet")
}

func TestASelectionIsClustersOrLabels(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"failover"}, {"failover", "berlin"}, {"drain", "region="}, {"failover", "region=eu", "--to", "us"}, {"revert"}, {"failovers", "a", "b"}} {
		require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", args...).code, args)
	}
}
