package cluster_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

const goodKubeconfig = `apiVersion: v1
kind: Config
current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://192.0.2.1:6443", certificate-authority-data: Y2E=}}]
users: [{name: u, user: {token: hush}}]
`

func TestKubeconfigIsReadOrRefusedByField(t *testing.T) {
	replace := func(old, with string) string {
		if !strings.Contains(goodKubeconfig, old) {
			panic(old)
		}
		return strings.Replace(goodKubeconfig, old, with, 1)
	}
	user := func(with string) string { return replace("{token: hush}", with) }
	for _, test := range []struct{ reason, config, want string }{
		{"a token and a CA are all that is needed", goodKubeconfig, ""},
		{"certificates inline", user("{client-certificate-data: Yw==, client-key-data: aw==}"), ""},
		{"a name and a password", user("{username: a, password: b}"), ""},
		{"a proxy is somebody's network", replace("server:", `proxy-url: "http://proxy:3128", server:`), "clusters[c].cluster.proxy-url"},
		{"an unverified server is the user's choice", replace("certificate-authority-data: Y2E=", "insecure-skip-tls-verify: true"), ""},
		{"JSON is YAML", `{"apiVersion":"v1","kind":"Config","current-context":"m","contexts":[{"name":"m","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:8080"}}]}`, ""},
		{"exec runs a program", user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}}"), "users[u].user.exec"},
		{"so does an auth provider", user("{auth-provider: {name: gcp}}"), "users[u].user.auth-provider"},
		{"a certificate's file", user("{client-certificate: /etc/passwd, client-key-data: aw==}"), "users[u].user.client-certificate "},
		{"a key's file", user("{client-certificate-data: Yw==, client-key: /etc/passwd}"), "users[u].user.client-key "},
		{"a token's file", user("{tokenFile: /etc/passwd}"), "users[u].user.tokenFile"},
		{"a CA's file", replace("certificate-authority-data: Y2E=", "certificate-authority: /etc/passwd"), "clusters[c].cluster.certificate-authority"},
		{"exec in a user that is not current", replace("{token: hush}}", "{token: hush}}, {name: other, user: {exec: {apiVersion: v1, command: sh}}}"), "users[other].user.exec"},
		{"no current context", replace("current-context: main\n", ""), "current-context is missing"},
		{"a current context that is not there", replace("current-context: main", "current-context: other"), `current-context names "other"`},
		{"a cluster that is not there", replace("cluster: c,", "cluster: d,"), `contexts[main].context.cluster names "d"`},
		{"a user that is not there", replace("user: u}", "user: v}"), `contexts[main].context.user names "v"`},
		{"no server", replace(`server: "https://192.0.2.1:6443", `, ""), "clusters[c].cluster.server"},
		{"a server that is not a URL", replace("https://192.0.2.1:6443", "192.0.2.1"), "clusters[c].cluster.server"},
		{"a server of another scheme", replace("https://192.0.2.1:6443", "unix:///run/api"), "clusters[c].cluster.server"},
		{"aliases that make it large", user("&u {token: hush" + strings.Repeat("h", 70_000) + "}}, {name: v, user: *u"), "not a kubeconfig: line 6: aliases (*name) repeat more than 64 KiB"},
		{"an alias", user("&u {token: hush}}, {name: v, user: *u"), ""},
		{"no YAML", "\t{", "not a kubeconfig"},
		{"another document", "apiVersion: v1\nkind: Pod\n", "kubeconfig"},
		{"nothing", "", "current-context is missing"},
		{"a CA that is not a base64", replace("Y2E=", "!"), "not a kubeconfig"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			config, err := kubeapi.ParseKubeconfig([]byte(test.config))
			if test.want == "" {
				require.NoError(t, err)
				assert.NotEmpty(t, config.Host)
				return
			}
			require.ErrorContains(t, err, test.want)
			assert.NotContains(t, err.Error(), "hush")
		})
	}
}

// FuzzKubeconfigs: what is taken leads somewhere, and neither runs a program nor
// reads a file of the machine.
func FuzzKubeconfigs(f *testing.F) {
	for _, with := range []string{"{token: hush}", "{exec: {apiVersion: v1, command: sh}}", "{tokenFile: /etc/passwd}", "{client-certificate: /etc/passwd, client-key: /etc/passwd}", "{auth-provider: {name: gcp}}", "{username: a, password: b}", "[", "null"} {
		f.Add([]byte(strings.Replace(goodKubeconfig, "{token: hush}", with, 1)))
	}
	f.Add([]byte(`{"current-context":"m","contexts":[{"name":"m","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"http://[::1]:8080/x"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		config, err := kubeapi.ParseKubeconfig(raw)
		if err != nil {
			return
		}
		require.NotEmpty(t, config.Host)
		require.Nil(t, config.ExecProvider)
		require.Nil(t, config.AuthProvider)
		require.Empty(t, config.BearerTokenFile+config.CAFile+config.CertFile+config.KeyFile)
		require.NotEmpty(t, kubeapi.Source(config))
	})
}
