package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const newRecord intent.Path = "projects/shop/dns-update-records/new"

// coredns is a right record with more fields.
func coredns(more string) string {
	return `{"provider":"coredns","environment":{"ETCD_URLS":"http://10.0.0.5:2379"}` + more + `}`
}

func TestRecordParametersAreRefusedWithTheirPointer(t *testing.T) {
	const at = "/spec/external-dns-parameters"
	refused(t, []refusal{
		{reason: "another provider's parameter", path: newRecord, spec: coredns(`,"external-dns-parameters":{"aws-zone-type":"public"}`),
			errors: map[string]string{at + "/aws-zone-type": "belongs to provider aws, not coredns"}},
		{reason: "unknown, with the nearest known", path: newRecord, spec: coredns(`,"external-dns-parameters":{"intervall":"30s"}`),
			errors: map[string]string{at + "/intervall": "interval"}},
		{reason: "not a duration", path: newRecord, spec: coredns(`,"external-dns-parameters":{"interval":"soon"}`),
			errors: map[string]string{at + "/interval": ""}},
		{reason: "no host", path: newRecord, spec: `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-host":["a b"]}}`,
			errors: map[string]string{at + "/rfc2136-host/0": ""}},
		{reason: "not a zone", path: newRecord, spec: `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-zone":["corp.example","-.example"]}}`,
			errors: map[string]string{at + "/rfc2136-zone/1": ""}},
		{reason: "not a template", path: newRecord, spec: coredns(`,"external-dns-parameters":{"fqdn-template":"{{.Name"}`),
			errors: map[string]string{at + "/fqdn-template": ""}},
		{reason: "an object for a value", path: newRecord, spec: coredns(`,"external-dns-parameters":{"interval":{"a":[[[]]]}}`),
			errors: map[string]string{at + "/interval": ""}},
		{reason: "a list for a boolean", path: newRecord, spec: coredns(`,"external-dns-parameters":{"dry-run":[true],"domain-filter":["lab.example",5]}`),
			errors: map[string]string{at + "/dry-run": "not a list", at + "/domain-filter/1": "not a number"}},
		{reason: "a part of a zone's id", path: newRecord, spec: `{"provider":"aws","external-dns-parameters":{"zone-id-filter":["/hostedzone/Z2FDTNDATAQYW2","AQYW2"]}}`,
			errors: map[string]string{at + "/zone-id-filter": `"AQYW2" is not a whole zone id: external-dns manages every zone`}},
		{reason: "a part of a zone's id, behind a comma or a path", path: newRecord, spec: `{"provider":"aws","external-dns-parameters":{"zone-id-filter":"Z2FDTNDATAQYW2,hostedzone/YW2"}}`,
			errors: map[string]string{at + "/zone-id-filter": `"hostedzone/YW2" is not a whole zone id: external-dns manages every zone`}},
		{reason: "unknown provider", path: newRecord, spec: `{"provider":"corends"}`,
			errors: map[string]string{"/spec/provider": "the nearest is coredns"}},
		{reason: "deletion of strangers' names", path: newRecord, spec: coredns(`,"external-dns-parameters":{"registry":"noop"}`),
			errors: map[string]string{at + "/registry": "allowUnownedDeletion"}},
	})
}

// TestASecretInTheWrongFieldIsNotQuoted (I9): neither where a credential goes, nor
// the Secret that it comes from.
func TestASecretInTheWrongFieldIsNotQuoted(t *testing.T) {
	w := newShop(t)
	for _, wrong := range []string{
		`"credentials":[{"environment":"s3cr3t!","value":"A"}]`, `"credentials":[{"file":"s3cr3t","value":"A"}]`, `"credentials":[{"environment":"A","secretRef":{"name":"s3cr3t!","key":"s3cr3t!"}}]`,
		`"imagePullSecrets":["s3cr3t!"]`, `"environment":{"EXTERNAL_DNS_PDNS_API_KEY":"s3cr3t"}`, `"extraArgs":["--pdns-api-key=s3cr3t"]`, `"external-dns-parameters":{"pdns-api-key":["s3cr3t","s3cr3t"]}`,
	} {
		_, err := w.admit(newRecord, coredns(","+wrong))
		require.Equal(t, intent.Invalid, intent.CodeOf(err), wrong)
		require.NotContains(t, err.Error(), "s3cr3t", wrong)
	}
}

func TestRecordVersionsAndImagesAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "version and image", path: newRecord, spec: coredns(`,"version":"v0.22.0","image":"registry.k8s.io/external-dns/external-dns:v0.22.0"`),
			errors: map[string]string{"/spec/version": "cannot stand beside image"}},
		{reason: "not a version", path: newRecord, spec: coredns(`,"version":"latest"`), errors: map[string]string{"/spec/version": "v0.22.0"}},
		{reason: "too old", path: newRecord, spec: coredns(`,"version":"v0.19.0"`), errors: map[string]string{"/spec/version": "from v0.20.0"}},
		{reason: "not yet known", path: newRecord, spec: coredns(`,"version":"v0.23.0"`), errors: map[string]string{"/spec/version": "v0.22.0"}},
		{reason: "an old tag", path: newRecord, spec: coredns(`,"image":"registry.k8s.io/external-dns/external-dns:v0.7.2"`),
			errors: map[string]string{"/spec/image": "not supported"}},
		{reason: "no image", path: newRecord, spec: coredns(`,"image":"UPPER case"`), errors: map[string]string{"/spec/image": "not a name of an image"}},
		{reason: "not allowed, naming what is", path: newRecord, spec: coredns(`,"image":"evil.example/external-dns:v0.22.0"`),
			errors: map[string]string{"/spec/image": "registry.k8s.io/external-dns/"}},
		{reason: "a host that begins like an allowed one", path: newRecord, spec: coredns(`,"image":"registry.k8s.io.evil.example/external-dns/external-dns:v0.22.0"`),
			errors: map[string]string{"/spec/image": "--allowed-images"}},
		{reason: "the allowed name as a path elsewhere", path: newRecord, spec: coredns(`,"image":"evil.example/registry.k8s.io/external-dns/external-dns"`),
			errors: map[string]string{"/spec/image": "not allowed"}},
		{reason: "docker.io when no registry is named", path: newRecord, spec: coredns(`,"image":"external-dns/external-dns"`),
			errors: map[string]string{"/spec/image": "not allowed"}},
	})
}

func TestAllowedImagesEndAtPartsOfNames(t *testing.T) {
	cases := []struct {
		reason, prefix, image string
		allowed               bool
	}{
		{"below a prefix", "reg.example/team", "reg.example/team/external-dns:v0.22.0", true},
		{"the prefix itself", "reg.example/team", "reg.example/team:v0.22.0", true},
		{"a longer part", "reg.example/team", "reg.example/teams/external-dns:v0.22.0", false},
		{"a whole registry", "reg.example", "reg.example/external-dns:v0.22.0", true},
		{"another port", "reg.example/", "reg.example:5000/external-dns:v0.22.0", false},
		{"a digest", "reg.example/", "reg.example/external-dns@sha256:" + strings.Repeat("a", 64), true},
		{"docker's short names", "docker.io/coredns/", "coredns/coredns:1.12", true},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			w := newShop(t)
			w.admitter = admission.New(w.store, review.Rules{AllowedImages: []string{c.prefix}})
			_, err := w.admit(newRecord, coredns(`,"image":"`+c.image+`"`))
			assert.Equal(t, c.allowed, err == nil, "%v", err)
		})
	}
}

func TestRecordPlacesOfCredentialsAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "has no target", path: newRecord, spec: coredns(`,"credentials":[{"value":"x"}]`), errors: map[string]string{"/spec/credentials/0": "has no target"}},
		{reason: "two targets", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A","file":"/a/b","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0": "two targets"}},
		{reason: "no value, and none stored", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A"}]`),
			errors: map[string]string{"/spec/credentials/0": "has no value"}},
		{reason: "two values", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A","value":"x","secretRef":{"name":"s","key":"k"}}]`),
			errors: map[string]string{"/spec/credentials/0": "two values"}},
		{reason: "a value by the server's own reference", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A","valueRef":"seal1"}]`),
			errors: map[string]string{"/spec/credentials/0": "has no value"}},
		{reason: "no Secret's name or key", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A","secretRef":{"name":"S s","key":"a/b"}}]`),
			errors: map[string]string{"/spec/credentials/0/secretRef/name": "", "/spec/credentials/0/secretRef/key": ""}},
		{reason: "twice the same", path: newRecord, spec: coredns(`,"credentials":[{"environment":"A","value":"x"},{"environment":"A","value":"y"}]`),
			errors: map[string]string{"/spec/credentials/1": "/spec/credentials/0"}},
		{reason: "no variable", path: newRecord, spec: coredns(`,"credentials":[{"environment":"a-b","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0/environment": "not a name of a variable"}},
		{reason: "a plain text that names are judged by", path: newRecord,
			spec: coredns(`,"credentials":[{"environment":"EXTERNAL_DNS_ZONE_ID_FILTER","value":"x"},{"environment":"EXTERNAL_DNS_AZURE_RESOURCE_GROUP","value":"x"},{"environment":"EXTERNAL_DNS_ANNOTATION_FILTER","value":"x"}]`),
			errors: map[string]string{
				"/spec/credentials/0/environment": "parameter zone-id-filter", "/spec/credentials/1/environment": "parameter azure-resource-group",
				"/spec/credentials/2/environment": "Signpost",
			}},
		{reason: "a flag that is not a secret", path: newRecord, spec: coredns(`,"credentials":[{"environment":"EXTERNAL_DNS_DOMAIN_FILTER","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0/environment": "domain-filter"}},
		{reason: "a relative file", path: newRecord, spec: coredns(`,"credentials":[{"file":"azure.json","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0/file": "not absolute"}},
		{reason: "a path that climbs", path: newRecord, spec: coredns(`,"credentials":[{"file":"/etc/../proc/x","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0/file": "clean"}},
		{reason: "over the pod's own token", path: newRecord, spec: coredns(`,"credentials":[{"file":"/var/run/secrets/kubernetes.io/serviceaccount/token","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/0/file": "Kubernetes"}},
		{reason: "a file below a file", path: newRecord, spec: coredns(`,"credentials":[{"file":"/etc/a","value":"x"},{"file":"/etc/a/b","value":"x"}]`),
			errors: map[string]string{"/spec/credentials/1/file": "below"}},
		{reason: "a parameter and a credential of one secret", path: newRecord,
			spec:   `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-tsig-secret":"c2VjcmV0"},"credentials":[{"environment":"EXTERNAL_DNS_RFC2136_TSIG_SECRET","value":"x"}]}`,
			errors: map[string]string{"/spec/external-dns-parameters/rfc2136-tsig-secret": "one of them"}},
	})
}

func TestRecordEnvironmentAndArgumentsThatChangeItsPlaceAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "also a credential", path: newRecord, spec: `{"provider":"coredns","environment":{"A":"1"},"credentials":[{"environment":"A","value":"x"}]}`,
			errors: map[string]string{"/spec/environment/A": "credential"}},
		{reason: "our own flags", path: newRecord,
			spec: `{"provider":"coredns","environment":{"EXTERNAL_DNS_SOURCE":"service","EXTERNAL_DNS_NAMESPACE":"x","EXTERNAL_DNS_LABEL_FILTER":"","EXTERNAL_DNS_TXT_OWNER_ID":"x","KUBECONFIG":"/x","EXTERNAL_DNS_MIGRATE_FROM_TXT_OWNER":"theirs"}}`,
			errors: map[string]string{
				"/spec/environment/EXTERNAL_DNS_SOURCE": "Signpost", "/spec/environment/EXTERNAL_DNS_NAMESPACE": "Signpost",
				"/spec/environment/EXTERNAL_DNS_LABEL_FILTER": "Signpost", "/spec/environment/EXTERNAL_DNS_TXT_OWNER_ID": "txt-owner-id",
				"/spec/environment/KUBECONFIG": "another cluster", "/spec/environment/EXTERNAL_DNS_MIGRATE_FROM_TXT_OWNER": "Signpost",
			}},
		{reason: "a secret in the clear", path: newRecord, spec: `{"provider":"rfc2136","environment":{"EXTERNAL_DNS_RFC2136_TSIG_SECRET":"x"}}`,
			errors: map[string]string{"/spec/environment/EXTERNAL_DNS_RFC2136_TSIG_SECRET": "credential"}},
		{reason: "a password in etcd's address", path: newRecord, spec: `{"provider":"coredns","environment":{"ETCD_URLS":"http://10.0.0.5:2379,https://me:s3cr3t@etcd:2379"}}`,
			errors: map[string]string{"/spec/environment/ETCD_URLS": "ETCD_USERNAME and ETCD_PASSWORD as credentials"}},
		{reason: "a password in a proxy's address", path: newRecord, spec: `{"provider":"aws","environment":{"HTTPS_PROXY":"http://me:s3cr3t@proxy:3128"}}`,
			errors: map[string]string{"/spec/environment/HTTPS_PROXY": "give the variable as a credential"}},
		{reason: "no variable", path: newRecord, spec: `{"provider":"coredns","environment":{"a b":"x"}}`,
			errors: map[string]string{"/spec/environment/a b": "not a name of a variable"}},
		{reason: "our own arguments", path: newRecord,
			spec: coredns(`,"extraArgs":["--source=service","--namespace=x","--label-filter=","--provider=aws","--txt-owner-id=x","--kubeconfig=/x","--server=x","--webhook-server","--migrate-from-txt-owner=theirs"]`),
			errors: map[string]string{
				"/spec/extraArgs/0": "Signpost", "/spec/extraArgs/1": "Signpost", "/spec/extraArgs/2": "Signpost", "/spec/extraArgs/3": "Signpost",
				"/spec/extraArgs/4": "parameter txt-owner-id", "/spec/extraArgs/5": "Signpost", "/spec/extraArgs/6": "Signpost", "/spec/extraArgs/7": "-webhook-server is not allowed for the external-dns of a provider",
				"/spec/extraArgs/8": "Signpost",
			}},
		{reason: "no single flag", path: newRecord, spec: coredns(`,"extraArgs":["@/etc/args","-h","--a b","--x=$(ETCD_PASSWORD)"]`),
			errors: map[string]string{"/spec/extraArgs/0": "--flag", "/spec/extraArgs/1": "--flag", "/spec/extraArgs/2": "--flag", "/spec/extraArgs/3": "$("}},
	})
}

func TestRecordOtherFieldsAreRefused(t *testing.T) {
	refused(t, []refusal{
		{reason: "labels of ours and of none", path: newRecord, spec: coredns(`,"podLabels":{"signpost.dev/record":"x","app.kubernetes.io/managed-by":"x","a b":"x","ok":"not ok"}`),
			errors: map[string]string{"/spec/podLabels/signpost.dev~1record": "Signpost's own", "/spec/podLabels/app.kubernetes.io~1managed-by": "Signpost's own",
				"/spec/podLabels/a b": "not a key", "/spec/podLabels/ok": "not a value"}},
		{reason: "annotations", path: newRecord, spec: coredns(`,"serviceAccountAnnotations":{"/":"x","signpost.dev/values-from":"{}"}`),
			errors: map[string]string{"/spec/serviceAccountAnnotations/~1": "not a key", "/spec/serviceAccountAnnotations/signpost.dev~1values-from": "Signpost's own"}},
		{reason: "pull secrets", path: newRecord, spec: coredns(`,"imagePullSecrets":["a","A","a"]`),
			errors: map[string]string{"/spec/imagePullSecrets/1": "not a name", "/spec/imagePullSecrets/2": "twice"}},
		{reason: "networks", path: newRecord, spec: coredns(`,"targetFilter":{"allow":["10.0.0.1"],"deny":["x"]}`),
			errors: map[string]string{"/spec/targetFilter/allow/0": "not a network", "/spec/targetFilter/deny/0": "not a network"}},
		{reason: "too many networks", path: newRecord, spec: coredns(`,"targetFilter":{"deny":["192.0.2.0/24"` + strings.Repeat(`,"192.0.2.0/24"`, 1000) + `]}`),
			errors: map[string]string{"/spec/targetFilter/deny": "1001 networks"}},
		{reason: "too many servers to ask", path: newRecord, spec: coredns(`,"verify":{"servers":["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, 16) + `]}`),
			errors: map[string]string{"/spec/verify/servers": "17 servers"}},
		{reason: "servers to ask", path: newRecord, spec: coredns(`,"verify":{"servers":["ns.example:53","127.0.0.1:53","169.254.169.254:80","192.0.2.1:0","192.0.2.1","192.0.2.1:53"]}`),
			errors: map[string]string{"/spec/verify/servers/0": "not an address", "/spec/verify/servers/1": "local", "/spec/verify/servers/2": "local",
				"/spec/verify/servers/3": "not an address", "/spec/verify/servers/5": "twice"}},
		{reason: "no timeout", path: newRecord, spec: coredns(`,"releaseTimeout":"1 minute"`), errors: map[string]string{"/spec/releaseTimeout": "not a duration"}},
		{reason: "a short timeout", path: newRecord, spec: coredns(`,"releaseTimeout":"999ms"`), errors: map[string]string{"/spec/releaseTimeout": "1s"}},
		{reason: "a cluster that is none", path: newRecord, code: intent.Conflict, spec: coredns(`,"deployOn":{"clusterProvider":"edge","cluster":"nowhere"}`),
			errors: map[string]string{"/spec/deployOn": "cluster-providers/edge/clusters/nowhere, which does not exist"}},
		{reason: "a cluster for others", path: newRecord, code: intent.Conflict, spec: coredns(`,"deployOn":{"clusterProvider":"edge","cluster":"private"}`),
			errors: map[string]string{"/spec/deployOn": "does not allow project shop"}},
	})
}

func TestAllErrorsOfARecordAreReportedAtOnceAndInOrder(t *testing.T) {
	w := newShop(t)
	spec := `{"provider":"coredns","version":"x","external-dns-parameters":{"policy":"?","aws-zone-type":"public"},"environment":{"b-":"","a-":""},"releaseTimeout":"x","deployOn":{"clusterProvider":"edge","cluster":"nowhere"}}`
	var first string
	for range 20 {
		_, err := w.admit(newRecord, spec)
		assertFields(t, err, intent.Invalid, map[string]string{
			"/spec/deployOn": "", "/spec/version": "", "/spec/external-dns-parameters/policy": "", "/spec/external-dns-parameters/aws-zone-type": "",
			"/spec/environment/a-": "", "/spec/environment/b-": "", "/spec/releaseTimeout": "",
		})
		if first == "" {
			first = err.Error()
		}
		assert.Equal(t, first, err.Error())
	}
}

func TestRecordIsCompletedAndCanonical(t *testing.T) {
	accepted(t, []acceptance{
		{reason: "versions, networks and servers", path: newRecord,
			spec:   `{"provider":"coredns","version":"0.21.0","targetFilter":{"allow":["203.0.113.7/24"]},"verify":{"servers":["192.0.2.53","[2001:DB8::1]:5353"]}}`,
			stored: `{"provider":"coredns","version":"v0.21.0","targetFilter":{"allow":["203.0.113.0/24"]},"verify":{"servers":["192.0.2.53:53","[2001:db8::1]:5353"]}}`},
		{reason: "an image of the mirror", path: newRecord,
			spec:   `{"provider":"coredns","image":"mirror.example:5000/external-dns/external-dns:v0.22.0"}`,
			stored: `{"provider":"coredns","image":"mirror.example:5000/external-dns/external-dns:v0.22.0"}`},
		{reason: "its home is referred to", path: newRecord, refs: []intent.Path{hub},
			spec:   `{"provider":"coredns","deployOn":{"clusterProvider":"edge","cluster":"hub"}}`,
			stored: `{"provider":"coredns","deployOn":{"clusterProvider":"edge","cluster":"hub"}}`},
		{reason: "other programs' arguments", path: newRecord,
			spec:   `{"provider":"cloudflare","extraArgs":["--cloudflare-proxied","--cloudflare-dns-records-per-page=100"]}`,
			stored: `{"provider":"cloudflare","extraArgs":["--cloudflare-proxied","--cloudflare-dns-records-per-page=100"]}`},
	})
}

func TestSecretsOfARecordAreTakenOutAndNeverShown(t *testing.T) {
	w := newShop(t)
	const secretParameter = `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-host":"192.0.2.53","rfc2136-zone":"corp.example","rfc2136-tsig-keyname":"key1","rfc2136-tsig-secret":"dG9wc2VjcmV0","rfc2136-tsig-axfr":true},
		"credentials":[{"file":"/etc/azure.json","value":"file-value"},{"environment":"B","secretRef":{"name":"s","key":"k"}}]}`
	doc := w.must(newRecord, secretParameter)
	assert.Equal(t, map[string]string{
		"seal1": "/spec/credentials/file ~1etc~1azure.json = file-value",
		"seal2": "/spec/credentials/environment EXTERNAL_DNS_RFC2136_TSIG_SECRET = dG9wc2VjcmV0",
	}, w.sealed)
	assert.ElementsMatch(t, []string{"seal1", "seal2"}, admission.SealedValues(doc))
	for _, text := range []string{string(doc.Body), w.shown(newRecord)} {
		assert.NotContains(t, text, "dG9wc2VjcmV0")
		assert.NotContains(t, text, "file-value")
	}
	shown := w.shown(newRecord)
	assert.NotContains(t, shown, "seal")
	assert.NotContains(t, shown, "Ref\":\"")
	assert.Contains(t, shown, `{"environment":"EXTERNAL_DNS_RFC2136_TSIG_SECRET"}`)
	assert.Contains(t, shown, `"warnings":[{"parameter":"domain-filter"`)
}

func TestAGetSentBackAsAPutChangesNothing(t *testing.T) {
	w := newShop(t)
	w.must(newRecord, coredns(`,"credentials":[{"environment":"A","value":"x"},{"file":"/etc/a","secretRef":{"name":"s","key":"k"}}]`))
	w.must(hub, `{"kubeconfig":"YXBpVmVyc2lvbjogdjEK","labels":{"region":"eu"}}`)
	for _, path := range []intent.Path{newRecord, hub, shop, lab, eu, prod, store} {
		before := w.old(path)
		write, err := w.admitter.Admit(t.Context(), path, []byte(w.shown(path)), before)
		require.NoError(t, err, path)
		assert.Empty(t, write.Secrets)
		assert.Equal(t, *before, w.put(write), "%s", path)
	}
}

func TestMissingCredentialValuesKeepTheStoredOnes(t *testing.T) {
	const given = `,"credentials":[{"environment":"A","value":"a"},{"environment":"B","value":"b"},{"environment":"C","secretRef":{"name":"s","key":"k"}}]`
	cases := []struct {
		reason, put, stored string
		kept                []string
	}{
		{"no list keeps every inline value", ``, `[{"environment":"A","valueRef":"seal1"},{"environment":"B","valueRef":"seal2"}]`, []string{"seal1", "seal2"}},
		{"a list drops what it leaves out", `,"credentials":[{"environment":"B"}]`, `[{"environment":"B","valueRef":"seal2"}]`, []string{"seal2"}},
		{"an empty list drops all", `,"credentials":[]`, `null`, nil},
		{"a new value replaces the old", `,"credentials":[{"environment":"A"},{"environment":"B","value":"new"}]`,
			`[{"environment":"A","valueRef":"seal1"},{"environment":"B","valueRef":"seal3"}]`, []string{"seal1", "seal3"}},
		{"a Secret replaces a value", `,"credentials":[{"environment":"A","secretRef":{"name":"s","key":"k"}}]`,
			`[{"environment":"A","secretRef":{"name":"s","key":"k"}}]`, nil},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			w := newShop(t)
			w.must(newRecord, coredns(given))
			doc := w.must(newRecord, coredns(c.put))
			raw := mustJSON(t, w.spec(newRecord)["credentials"])
			assert.JSONEq(t, c.stored, raw)
			assert.ElementsMatch(t, c.kept, admission.SealedValues(doc))
		})
	}
	w := newShop(t)
	w.must(newRecord, coredns(given))
	_, err := w.admit(newRecord, coredns(`,"credentials":[{"environment":"C"}]`))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/credentials/0": "none is stored"})
}

func TestASecretParameterRotatesTheCredentialThatItBecame(t *testing.T) {
	w := newShop(t)
	const first = `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-tsig-secret":"Zmlyc3Q="},"credentials":[{"environment":"A","value":"a"}]}`
	w.must(newRecord, first)
	const second = `{"provider":"rfc2136","external-dns-parameters":{"rfc2136-tsig-secret":"c2Vjb25k"}}`
	w.must(newRecord, second)
	assert.JSONEq(t, `[{"environment":"A","valueRef":"seal1"},{"environment":"EXTERNAL_DNS_RFC2136_TSIG_SECRET","valueRef":"seal3"}]`,
		mustJSON(t, w.spec(newRecord)["credentials"]))
	assert.Equal(t, "/spec/credentials/environment EXTERNAL_DNS_RFC2136_TSIG_SECRET = c2Vjb25k", w.sealed["seal3"])
}

func TestTheSidecarOfAWebhook(t *testing.T) {
	webhook := func(fields string) string {
		return `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1"` + fields + `}}`
	}
	accepted(t, []acceptance{
		{reason: "its port is completed", path: newRecord, spec: webhook(``),
			stored: `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1","port":8888}}`},
	})
	refused(t, []refusal{
		{reason: "an image that is not allowed", path: newRecord, spec: `{"provider":"webhook","webhook":{"image":"evil.example/webhook:v1"}}`,
			errors: map[string]string{"/spec/webhook/image": "--allowed-images of signpost serve allows others"}},
		{reason: "no image", path: newRecord, spec: `{"provider":"webhook","webhook":{"image":"A B"}}`,
			errors: map[string]string{"/spec/webhook/image": "not a name of an image"}},
		{reason: "external-dns itself", path: newRecord, spec: `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/external-dns:v0.22.0","args":["--txt-owner-id=theirs"]}}`,
			errors: map[string]string{"/spec/webhook/image": "is external-dns itself, which would run beside the provider's own without checks of its arguments; give the image of a webhook provider"}},
		{reason: "a copy of external-dns", path: newRecord, spec: `{"provider":"webhook","webhook":{"image":"mirror.example:5000/external-dns/external-dns@sha256:` + strings.Repeat("0a", 32) + `"}}`,
			errors: map[string]string{"/spec/webhook/image": "is external-dns itself"}},
		{reason: "what runs as external-dns", path: newRecord, spec: `{"provider":"webhook","image":"registry.k8s.io/external-dns/ours:v1","webhook":{"image":"registry.k8s.io/external-dns/ours:v2"}}`,
			errors: map[string]string{"/spec/webhook/image": "is external-dns itself"}},
		{reason: "an argument that Kubernetes would change", path: newRecord, spec: webhook(`,"args":["--a","--b=$(C)"]`),
			errors: map[string]string{"/spec/webhook/args/1": "$("}},
		{reason: "a password in an address", path: newRecord, spec: webhook(`,"environment":{"API":"https://me:s3cr3t@api.example/v1"}`),
			errors: map[string]string{"/spec/webhook/environment/API": "give the variable as a credential"}},
		{reason: "no variable", path: newRecord, spec: webhook(`,"environment":{"a b":"x"}`),
			errors: map[string]string{"/spec/webhook/environment/a b": "not a name of a variable"}},
		{reason: "also a credential", path: newRecord,
			spec:   `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1","environment":{"A":"1"}},"credentials":[{"environment":"A","value":"x"}]}`,
			errors: map[string]string{"/spec/webhook/environment/A": "credential"}},
		{reason: "another provider's", path: newRecord, spec: `{"provider":"coredns","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1"}}`,
			errors: map[string]string{"/spec/webhook": "belongs to provider webhook, not coredns"}},
		{reason: "a sidecar and another webhook", path: newRecord,
			spec:   `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1"},"external-dns-parameters":{"webhook-provider-url":"http://a:1"}}`,
			errors: map[string]string{"/spec/external-dns-parameters/webhook-provider-url": "excludes the sidecar"}},
		{reason: "a secret of a provider that the table does not hold", path: newRecord,
			spec:   `{"provider":"godaddy","extraArgs":["--godaddy-api-secret=x","--godaddy-api-ttl=600"]}`,
			errors: map[string]string{"/spec/extraArgs/0": "EXTERNAL_DNS_GODADDY_API_SECRET"}},
	})
}

func TestRecordWarnings(t *testing.T) {
	cases := []struct {
		reason  string
		record  intent.Record
		warning string // parameter: part of the message
	}{
		{"no etcd", intent.Record{Provider: "coredns"}, "ETCD_URLS: is not in the environment"},
		{"an image without a version", intent.Record{Provider: "coredns", Image: "registry.k8s.io/external-dns/external-dns:main"}, "image: names no version"},
		{"a provider that the version lacks", intent.Record{Provider: "digitalocean", Version: "v0.22.0"}, "provider: was removed"},
		{"a flag that the version lacks", intent.Record{Provider: "coredns", Version: "v0.20.0", Parameters: map[string]any{"coredns-strictly-owned": true}},
			"coredns-strictly-owned: works from v0.21.0"},
		{"a secret in the clear", intent.Record{Provider: "coredns", Environment: map[string]string{"ETCD_PASSWORD": "x"}}, "ETCD_PASSWORD: give a secret as a credential"},
		{"a webhook that is nowhere", intent.Record{Provider: "webhook"}, "webhook: is missing"},
		{"Cloudflare without a token", intent.Record{Provider: "cloudflare"}, "CF_API_TOKEN: is not in the environment"},
		{"azure without its file", intent.Record{Provider: "azure"}, "azure-config-file: no credential gives the file"},
		{"what cannot work", intent.Record{Provider: "rfc2136", Parameters: map[string]any{"rfc2136-tsig-secret-alg": "hmac-md6"}}, "rfc2136-tsig-secret-alg: "},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			parameter, message, _ := strings.Cut(c.warning, ": ")
			var found bool
			warnings := warningsOf(t, c.record)
			for _, w := range warnings {
				found = found || w.Parameter == parameter && strings.Contains(w.Message, message)
			}
			assert.True(t, found, "%v", warnings)
		})
	}
	assert.NotNil(t, warningsOf(t, intent.Record{Provider: "coredns", Environment: map[string]string{"ETCD_URLS": "x"},
		Parameters: map[string]any{"domain-filter": "lab.example"}}))
}

// warningsOf are those with which a stored record is shown.
func warningsOf(t *testing.T, record intent.Record) []intent.Warning {
	t.Helper()
	body, err := json.Marshal(intent.Resource[intent.Record]{Metadata: intent.Metadata{Name: "dns"}, Spec: record})
	require.NoError(t, err)
	view, err := newWorld(t).admitter.View(t.Context(), intent.Document{Path: newRecord, Body: body})
	require.NoError(t, err)
	return view.Status.Warnings
}

// TestAProjectHasNoMoreRecordsThanItsQuota: its own, else that of --max-records.
func TestAProjectHasNoMoreRecordsThanItsQuota(t *testing.T) {
	w := newShop(t)
	w.must(shop.Child("dns-update-records", "second"), coredns(``))
	three := 3
	w.admitter = admission.New(w.store, review.Rules{Quotas: intent.Quotas{Records: &three}})
	w.must(newRecord, coredns(``))
	refuse := func(texts ...string) {
		t.Helper()
		_, err := w.admit(shop.Child("dns-update-records", "more"), coredns(``))
		require.Equal(t, intent.Conflict, intent.CodeOf(err), err)
		for _, text := range texts {
			require.ErrorContains(t, err, text)
		}
	}
	refuse("project shop has 3 providers, and may have 3", "have an admin raise")
	w.must(newRecord, coredns(`,"suspend":true`)) // one that is there may change
	w.must("projects/other/dns-update-records/more", coredns(``))

	w.must(shop, `{"namespace":"shop-dns","quotas":{"records":4}}`)
	w.must(shop.Child("dns-update-records", "more"), coredns(``))
	w.must(shop, `{"namespace":"shop-dns","quotas":{"records":0}}`)
	_, err := w.admit(shop.Child("dns-update-records", "evenmore"), coredns(``))
	require.ErrorContains(t, err, "has 4 providers, and may have 0")
}
