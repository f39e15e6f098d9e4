package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// deploy asks for the owner to be as its documents say.
func (w *world) deploy(owner intent.Path, r intent.DeployRequest) (intent.Deployed, error) {
	w.Helper()
	r.Actor = "ann"
	return w.service.Deploy(ann(owner), owner, r)
}

// TestDeployDoesWhatIsNeeded in every state, and says so; repeated, it writes nothing.
func TestDeployDoesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	ttl := func(seconds string) {
		w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"ttl":`+seconds+`}`)
	}
	for _, c := range []struct {
		reason string
		before func()
		action intent.Action
		seq    int64
	}{
		{"nothing was ever deployed", func() {}, intent.Instantiate, 1},
		{"it is Instantiating", func() {}, intent.NoAction, 1},
		{"it is Instantiating, and documents have changed", func() { ttl("7") }, intent.Update, 2},
		{"it is Instantiated", func() { w.settle(prod) }, intent.NoAction, 2},
		{"it is Instantiated, and documents have changed", func() { ttl("8") }, intent.Update, 3},
		{"it is Updating", func() {}, intent.NoAction, 3},
		{"it is Terminating", func() { w.settle(prod); w.do(intent.Terminate, prod) }, intent.Instantiate, 4},
		{"it is Terminated", func() { w.do(intent.Terminate, prod); w.outlive(); w.settle(prod) }, intent.Instantiate, 5},
	} {
		c.before()
		before := w.keys()
		got, err := w.deploy(prod, intent.DeployRequest{})
		require.NoError(t, err, c.reason)
		require.Equal(t, c.action, got.Action, c.reason)
		require.Equal(t, c.seq, got.Revision, c.reason)
		if c.action == intent.NoAction {
			require.Equal(t, before, w.keys(), c.reason)
		}
	}
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
}

// TestDeployTakesTheTokenOfAPlan for deploy, which is that of the action that it leads to.
func TestDeployTakesTheTokenOfAPlan(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	token := w.plan(prod, "").Token
	_, err := w.deploy(prod, intent.DeployRequest{Confirm: "old"})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	got, err := w.deploy(prod, intent.DeployRequest{Confirm: token})
	require.NoError(t, err)
	require.Equal(t, intent.Instantiate, got.Action)

	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.nobody.example"]}`)
	before := w.keys()
	_, err = w.deploy(prod, intent.DeployRequest{})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "cannot be updated; nothing was changed")
	require.Equal(t, before, w.keys())
}

func TestDeployTakesNamesOver(t *testing.T) {
	t.Parallel()
	w := bothAsk(t)
	_, err := w.deploy(test, intent.DeployRequest{Takeover: "a/b"})
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	got, err := w.deploy(test, intent.DeployRequest{Takeover: "prod"})
	require.NoError(t, err)
	require.Equal(t, intent.Instantiate, got.Action)
	got, err = w.deploy(test, intent.DeployRequest{Takeover: "prod"})
	require.NoError(t, err)
	require.Equal(t, intent.NoAction, got.Action)
}

func TestDeployOfAClusterDNS(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	got, err := w.deploy(eu, intent.DeployRequest{})
	require.NoError(t, err)
	require.Equal(t, intent.Instantiate, got.Action)
	w.resolve(`[{"domain":"bar.com","nameservers":["1.2.3.4"]}]`, ``)
	got, err = w.deploy(eu, intent.DeployRequest{})
	require.NoError(t, err)
	require.Equal(t, intent.Update, got.Action)
	got, err = w.deploy(eu, intent.DeployRequest{})
	require.NoError(t, err)
	require.Equal(t, intent.NoAction, got.Action)
}

// TestDeployOfAProvider that nobody uses does nothing: the first release that uses it
// deploys it.
func TestDeployOfAProvider(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	before := w.keys()
	got, err := w.service.DeployRecord(ann(lab), lab, intent.DeployRequest{})
	require.NoError(t, err)
	require.Equal(t, intent.Deployed{Action: intent.NoAction}, got)
	require.Equal(t, before, w.keys())

	w.do(intent.Instantiate, prod)
	w.settle(prod)
	got, err = w.service.DeployRecord(ann(lab), lab, intent.DeployRequest{})
	require.NoError(t, err)
	require.Equal(t, intent.NoAction, got.Action)
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	got, err = w.service.DeployRecord(ann(lab), lab, intent.DeployRequest{Actor: "ann"})
	require.NoError(t, err)
	require.Equal(t, intent.Update, got.Action)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"a":"b"`)
	_, err = w.service.DeployRecord(ann(lab), lab, intent.DeployRequest{Confirm: "old"})
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
}
