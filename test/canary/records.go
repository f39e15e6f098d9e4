package canary

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/internal/seed"
)

// record is a DNS update record with secrets, which publishes names below
// NAME.example.
type record struct {
	name, spec string
	secrets    []string // names of those in it
}

// records are those of each provider that takes a secret, in each way to give
// one.
func (m *marks) records() []record {
	const parameters = `"external-dns-parameters": `
	var all []record
	given := len(m.all)
	add := func(name, provider string, more ...string) {
		r := record{name: name, spec: `{"provider": ` + quoted(provider) + `, ` + strings.Join(more, ", ") + `}`}
		for _, one := range m.all[given:] {
			r.secrets = append(r.secrets, one.name)
		}
		given = len(m.all)
		all = append(all, r)
	}
	filtered := func(name string, more ...string) string {
		return parameters + `{` + strings.Join(append([]string{`"domain-filter": ["` + name + `.example"]`}, more...), ", ") + `}`
	}
	add("pdns", "pdns", filtered("pdns", `"pdns-server": "http://192.0.2.53:8081"`, `"pdns-api-key": `+quoted(m.text("a key of PowerDNS"))))
	add("tsig", "rfc2136", filtered("tsig", `"rfc2136-host": ["192.0.2.53"]`, `"rfc2136-zone": ["tsig.example"]`, `"rfc2136-tsig-keyname": "key1"`,
		`"rfc2136-tsig-secret-alg": "hmac-sha256"`, `"rfc2136-tsig-secret": `+quoted(base64.StdEncoding.EncodeToString([]byte(m.word("a TSIG secret")))),
		`"txt-encrypt-enabled": true`, `"txt-encrypt-aes-key": `+quoted(m.word("a key of TXT records")+"000000")))
	add("kerberos", "rfc2136", filtered("kerberos", `"rfc2136-host": ["192.0.2.53"]`, `"rfc2136-zone": ["kerberos.example"]`, `"rfc2136-gss-tsig": true`,
		`"rfc2136-kerberos-realm": "CORP.EXAMPLE"`, `"rfc2136-kerberos-username": "dns"`, `"rfc2136-kerberos-password": `+quoted(m.text("a password of Kerberos"))))
	add("aws", "aws", filtered("aws", `"aws-assume-role": "arn:aws:iam::123455567:role/dns"`, `"aws-assume-role-external-id": `+quoted(m.word("an external id of AWS"))),
		m.credentials("environment AWS_SECRET_ACCESS_KEY", "file /root/.aws/credentials"))
	add("cloudflare", "cloudflare", filtered("cloudflare"), m.credentials("environment CF_API_TOKEN"))
	add("google", "google", filtered("google", `"google-project": "dns"`), m.credentials("file /etc/google/key.json"))
	add("azure", "azure", filtered("azure"), m.credentials("file /etc/kubernetes/azure.json"))
	add("coredns", "coredns", filtered("coredns"), `"credentials": [{"environment": "ETCD_URLS", "value": "http://me:`+m.word("a password in ETCD_URLS")+`@192.0.2.53:2379"}]`)
	add("webhook", "webhook", filtered("webhook"), `"webhook": {"image": "registry.example/hook:1", "args": ["--verbose"]}`, m.credentials("environment HOOK_TOKEN"))
	add("ovh", "ovh", filtered("ovh"), `"extraArgs": ["--ovh-endpoint=ovh-ca"]`, m.credentials("environment OVH_CONSUMER_KEY"))
	return all
}

// credentials is a list of them, each for "environment NAME" or "file NAME".
func (m *marks) credentials(places ...string) string {
	var all []string
	for _, place := range places {
		kind, name, _ := strings.Cut(place, " ")
		all = append(all, fmt.Sprintf(`{%q: %q, "value": %s}`, kind, name, quoted(m.text("the credential of "+name))))
	}
	return `"credentials": [` + strings.Join(all, ", ") + `]`
}

// seeds are bodies as the product's example has them, with a secret of ours.
func (m *marks) seeds() ([]string, error) {
	var bodies []string
	for _, provider := range seed.Providers() {
		record, err := seed.Record(provider)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(record)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, strings.ReplaceAll(string(body), `"tsig secret"`, quoted(m.word("the TSIG secret of the example for "+provider))))
	}
	return bodies, nil
}

// quoted is a text in JSON.
func quoted(text string) string { return `"` + string(inJSON([]byte(text), false)) + `"` }
