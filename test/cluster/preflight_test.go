package cluster_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// TestAManifestIsEnoughForThePreflightAndEachOfItsRulesIsNeeded: with the manifest of a use
// every check passes, and without any one of its rules some check fails.
func TestAManifestIsEnoughForThePreflightAndEachOfItsRulesIsNeeded(t *testing.T) {
	server := start(t)
	raw, err := server.Kubeconfig(kube.Signpost)
	require.NoError(t, err)
	config, err := clientcmd.RESTConfigFromKubeConfig(raw)
	require.NoError(t, err)
	target, err := kubeapi.NewKubernetes(config, cluster.Options{Installation: installation, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(target.Close)
	for _, use := range intent.ClusterUses() {
		require.NoError(t, server.GrantSignpost(t.Context(), use))
		passes := func(want bool) func() error {
			return func() error {
				return allPass(target.Preflight(t.Context(), intent.Cluster{Uses: []intent.ClusterUse{use}}, []string{"shop-dns"}), want)
			}
		}
		wait.For(t, patience, "all checks to pass for "+string(use), passes(true))
		for _, role := range rights.Roles(use) {
			needsEachRule(t, server.Client.RbacV1().ClusterRoles(), role.Name, passes)
		}
		for _, role := range rights.Roles(use) {
			require.NoError(t, server.Client.RbacV1().ClusterRoleBindings().Delete(t.Context(), role.Name, metav1.DeleteOptions{}))
		}
		wait.For(t, patience, "checks to fail without the roles", passes(false))
	}
}

// needsEachRule takes the rules of a ClusterRole away, one at a time.
func needsEachRule(t *testing.T, roles rbacclient.ClusterRoleInterface, name string, passes func(want bool) func() error) {
	t.Helper()
	role, err := roles.Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	rules := role.Rules
	for n := range rules {
		role.Rules = append(append([]rbacv1.PolicyRule{}, rules[:n]...), rules[n+1:]...)
		role, err = roles.Update(t.Context(), role, metav1.UpdateOptions{})
		require.NoError(t, err)
		wait.For(t, patience, "a check to fail without "+rules[n].String(), passes(false))
	}
	role.Rules = rules
	_, err = roles.Update(t.Context(), role, metav1.UpdateOptions{})
	require.NoError(t, err)
	wait.For(t, patience, "all checks to pass again", passes(true))
}

// allPass expects that all checks pass, or that some do not.
func allPass(p intent.Preflight, want bool) error {
	passed := p.Reachable
	for _, c := range p.Checks {
		passed = passed && c.OK
	}
	if passed != want {
		return fmt.Errorf("the preflight is %+v", p)
	}
	return nil
}
