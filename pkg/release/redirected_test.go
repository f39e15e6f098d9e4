package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAPlanTellsThatAKeptCredentialGoesElsewhere: who writes a record need not
// know its credentials, and could have them sent to a server of their own.
func TestAPlanTellsThatAKeptCredentialGoesElsewhere(t *testing.T) {
	t.Parallel()
	const secret = `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"sealed"}]`
	for _, c := range []struct{ reason, spec, warns string }{
		{"nothing changes", record("lab.example", secret), ""},
		{"what has nothing to do with it", record("lab.example", secret+`,"podLabels":{"team":"web"}`), ""},
		{"another server", record("lab.example", secret+`,"environment":{"ETCD_URLS":"http://evil.example"}`),
			"ETCD_PASSWORD stays as it was, and points to environment ETCD_URLS now"},
		{"a proxy", record("lab.example", secret+`,"environment":{"HTTPS_PROXY":"http://evil.example"}`), "environment HTTPS_PROXY"},
		{"another image", record("lab.example", secret+`,"image":"mirror.example/external-dns:v0.22.0"`), "image"},
		{"an argument", record("lab.example", secret+`,"extraArgs":["--x=http://evil.example"]`), "extraArgs"},
		{"another provider, and its server", strings.Replace(record("lab.example", secret), `"provider":"coredns","external-dns-parameters":{`,
			`"provider":"pdns","external-dns-parameters":{"pdns-server":"http://evil.example",`, 1), "provider, pdns-server"},
		{"another server, with a value of its own", record("lab.example", strings.Replace(secret, "sealed", "other", 1)+`,"environment":{"ETCD_URLS":"http://evil.example"}`), ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.put("secrets/sealed", `{}`)
			w.put("secrets/other", `{}`)
			w.put(lab, record("lab.example", secret))
			w.do("instantiate", prod)
			w.settle(prod)
			w.put(lab, c.spec)
			plan, err := w.service.PlanRecord(ann(prod), lab, "")
			require.NoError(t, err)
			warnings := strings.Join(plan.Warnings, "\n")
			require.Equal(t, c.warns != "", strings.Contains(warnings, "stays as it was"), warnings)
			require.Contains(t, warnings, c.warns)
		})
	}
}
