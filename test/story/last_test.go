package story

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheLastNameOfAProviderGoesAtOnce although no authoritative server was seen to answer it before it went: the built-in
// publisher knows that it has removed it. So its name above others is free, and the provider can be deleted.
func TestTheLastNameOfAProviderGoesAtOnce(t *testing.T) {
	w := begin(t, "--allow-local-verify")
	dir := w.documents()
	file := filepath.Join(dir, "record.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	document := strings.Replace(string(text), "releaseTimeout: 5s", "releaseTimeout: 10m", 1)
	require.Contains(t, document, "releaseTimeout: 10m")
	document = strings.Replace(document, "  deployOn:", "  verify:\n    servers: [\""+w.coreDNS.Address+"\"]\n  deployOn:", 1)
	require.Contains(t, document, "verify:")
	require.NoError(t, os.WriteFile(file, []byte(document), 0o600))
	w.run("apply", "-f", dir)

	w.run("publish", further, "--address", "203.0.113.7", "--provider", "lab", "--project", "shop")
	w.answersFor(further, "203.0.113.7")
	begun := time.Now()
	w.run("unpublish", further, "--wait", "--timeout", "30s", "--project", "shop")
	t.Log("the last name was gone after", time.Since(begun))
	w.run("delete", "projects/shop/dns-update-records/lab")
}
