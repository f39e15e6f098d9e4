package cluster_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// TestAnAccountIsMadeByAnAdminsKubeconfig, and made again: its token has the rights of the
// use, and no others.
func TestAnAccountIsMadeByAnAdminsKubeconfig(t *testing.T) {
	server := start(t)
	raw, err := server.Kubeconfig(kube.Admin)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	admin, err := account.Open(file, "")
	require.NoError(t, err)
	manifest, err := rights.Manifest(intent.UseAddresses)
	require.NoError(t, err)
	for range 2 {
		applied, err := admin.Apply(t.Context(), manifest)
		require.NoError(t, err)
		require.Contains(t, applied, "clusterroles signpost-addresses")
	}
	token, err := admin.Token(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(account.TokenLasts), token.Expires, time.Minute)

	made, err := admin.Kubeconfig("", token)
	require.NoError(t, err)
	config, err := kubeapi.ParseKubeconfig(made)
	require.NoError(t, err)
	target, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	passes := func(use intent.ClusterUse, want bool) func() error {
		return func() error {
			return allPass(target.Preflight(t.Context(), intent.Cluster{Uses: []intent.ClusterUse{use}}, nil), want)
		}
	}
	wait.For(t, patience, "all checks to pass", passes(intent.UseAddresses, true))
	require.NoError(t, passes(intent.UseHome, false)())

	renewed, err := kubeapi.RenewToken(t.Context(), target)
	require.NoError(t, err, "the account renews its own token")
	again, err := account.WithToken(made, renewed)
	require.NoError(t, err)
	config, err = kubeapi.ParseKubeconfig(again)
	require.NoError(t, err)
	require.Equal(t, account.Credentials{Issued: renewed.Expires.Add(-account.TokenLasts), Expires: renewed.Expires, Namespace: rights.Account, Name: rights.Account}, account.CredentialsOf(config))
	require.False(t, account.CredentialsOf(config).Due(time.Now()))
}
