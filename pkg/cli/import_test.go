package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnImportGoesThroughAPlan: 250 names of a zone file become documents that plan -f
// reads, and has planned in parts that a server accepts.
func TestAnImportGoesThroughAPlan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	zone := filepath.Join(dir, "shop.zone")
	text := "$ORIGIN shop.example.\n$TTL 60\n@ SOA ns x 1 2 3 4 5\n"
	for n := range 250 {
		text += fmt.Sprintf("h%03d A 192.0.2.%d\n", n, n%200)
	}
	require.NoError(t, os.WriteFile(zone, []byte(text), 0o600))
	names, report := filepath.Join(dir, "names.yaml"), filepath.Join(dir, "report.json")
	got := signpost(t, "", "import", "zone", zone, "--project", "shop", "--provider", "lab", "-o", names, "--report", report)
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.err, "left     shop.example  SOA   stays with the zone")
	require.Contains(t, got.err, "250 names from "+zone)
	written, err := os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(written), `"names": 250,`)

	f := newFake(t)
	same := `{"changes":false,"documents":[],"errors":[],"owners":[]}`
	f.on("POST plan", 200, "DraftPlan", same)
	f.on("POST plan", 200, "DraftPlan", `{"changes":true,"documents":[],"errors":[{"pointer":"/documents/7/spec/ttl","detail":"is wrong"}],"owners":[]}`)
	f.on("POST plan", 200, "DraftPlan", same)
	got = signpost(t, f.url, "plan", "-f", names)
	require.Equal(t, exitFailed, got.code, got.err)
	require.Contains(t, got.out, "names.yaml, document 108 (projects/shop/names/h107.shop.example): /spec/ttl: is wrong")
	require.Equal(t, []string{"POST plan", "POST plan", "POST plan"}, f.seen())
}

// TestAReportHasAListOfFindings: for programs that read it, also if the list is empty.
func TestAReportHasAListOfFindings(t *testing.T) {
	t.Parallel()
	for kind, file := range map[string]string{
		"zone":    write(t, "shop.zone", "$ORIGIN shop.example.\nwww 60 A 192.0.2.1\n"),
		"octodns": write(t, "shop.example.yaml", "www: {type: A, value: 192.0.2.1}\n"),
	} {
		report := filepath.Join(t.TempDir(), "report.json")
		got := signpost(t, "", "import", kind, file, "--project", "shop", "--report", report)
		require.Equal(t, exitDone, got.code, got.err)
		written, err := os.ReadFile(report)
		require.NoError(t, err)
		require.Contains(t, string(written), `"findings": []`, kind)
	}
}

func TestImportsRefuseWhatTheyCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("hmac-md9:a:b"), 0o600))
	for _, args := range []string{
		"zone", "zone " + dir + "/none", "zone axfr://192.0.2.1", "zone axfr:///a.example", "zone axfr://192.0.2.1/a.example --tsig-file " + key,
		"zone axfr://192.0.2.1/a.example --tsig-file " + dir + "/none", "octodns", "external-dns", "external-dns x",
		"kubernetes", "kubernetes --cluster one", "kubernetes --cluster dc/one --kubeconfig " + dir + "/none",
	} {
		got := signpost(t, "", append([]string{"import"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, got.code, "%s: %s", args, got.err)
	}
	file := filepath.Join(dir, "z")
	require.NoError(t, os.WriteFile(file, []byte("$INCLUDE /etc/passwd\n"), 0o600))
	got := signpost(t, "", "import", "zone", file)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "other files are not read")
}
