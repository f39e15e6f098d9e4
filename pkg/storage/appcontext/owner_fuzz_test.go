package appcontext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// FuzzOwners: the owner of an external-dns says whose it is, whatever its record is
// called, and belongs to the project of the record.
func FuzzOwners(f *testing.F) {
	f.Add("shop", "lab", "public", "edge+hub")
	f.Add("provider", "projects", "cluster", "a")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, project, record, scope, cluster string) {
		if strings.Contains(project+record+scope+cluster, "/") {
			return // no name has a slash
		}
		path := "projects/" + project + "/dns-update-records/" + record
		owner := appcontext.ProviderOwner(path, scope, cluster)
		itsPath, itsScope, itsCluster, ok := owner.Provider()
		require.True(t, ok)
		require.Equal(t, []string{path, scope, cluster}, []string{itsPath, itsScope, itsCluster})
		require.Equal(t, project, owner.Project())
		require.True(t, strings.HasPrefix(string(owner), appcontext.ProviderOwners(path)))
	})
}
