package admission_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const builtIn = `,"deployOn":{"publisher":"built-in"}`

func TestTheBuiltInPublisherIsAdmittedForWhatItCanWrite(t *testing.T) {
	w := newShop(t)
	for _, spec := range []string{
		coredns(builtIn + `,"external-dns-parameters":{"domain-filter":["lab.example"],"policy":"upsert-only","registry":"txt"},"credentials":[{"environment":"ETCD_PASSWORD","value":"swordfish"}]`),
		`{"provider":"skydns"` + builtIn + `,"environment":{"ETCD_URLS":"https://etcd.example:2379"}}`,
		`{"provider":"rfc2136","external-dns-parameters":{"rfc2136-host":"192.0.2.53","rfc2136-zone":"corp.example","rfc2136-tsig-keyname":"key","rfc2136-tsig-secret":"c2VjcmV0","rfc2136-axfr":true}` + builtIn + `}`,
		`{"provider":"webhook","external-dns-parameters":{"webhook-provider-url":"https://webhook.example","domain-filter":["lab.example"]}` + builtIn + `}`,
	} {
		w.must(newRecord, spec)
	}
}

func TestTheBuiltInPublisherSaysWhatItCannotDo(t *testing.T) {
	const at = "/spec/external-dns-parameters"
	refused(t, []refusal{
		{reason: "a provider that has none", path: newRecord, spec: `{"provider":"aws"` + builtIn + `}`,
			errors: map[string]string{"/spec/provider": "has no built-in publisher; it writes with coredns, "}},
		{reason: "a publisher that there is not", path: newRecord, spec: coredns(`,"deployOn":{"publisher":"other"}`),
			errors: map[string]string{"/spec/deployOn/publisher": `the only one is "built-in"`}},
		{reason: "a publisher and a cluster", path: newRecord, spec: coredns(`,"deployOn":{"publisher":"built-in","clusterProvider":"edge","cluster":"hub"}`),
			errors: map[string]string{"/spec/deployOn": "give one of them"}},
		{reason: "half a cluster", path: newRecord, spec: coredns(`,"deployOn":{"cluster":"hub"}`),
			errors: map[string]string{"/spec/deployOn": "is incomplete"}},
		{reason: "what a pod would have", path: newRecord,
			spec: coredns(builtIn + `,"version":"v0.22.0","extraArgs":["--log-level=debug"],"podLabels":{"a":"b"},"imagePullSecrets":["pull"],"serviceAccountAnnotations":{"a":"b"}`),
			errors: map[string]string{
				"/spec/version": "does not run", "/spec/extraArgs": "does not run", "/spec/podLabels": "for a pod", "/spec/imagePullSecrets": "for a pod", "/spec/serviceAccountAnnotations": "for a pod"}},
		{reason: "a Secret of no cluster", path: newRecord, spec: coredns(builtIn + `,"credentials":[{"environment":"ETCD_PASSWORD","secretRef":{"name":"etcd","key":"password"}}]`),
			errors: map[string]string{"/spec/credentials/0/secretRef": "give value"}},
		{reason: "names of one cluster", path: newRecord, spec: coredns(builtIn + `,"clusters":["edge/hub"]`),
			errors: map[string]string{"/spec/clusters": "public names only"}},
		{reason: "another registry", path: newRecord, spec: coredns(builtIn + `,"external-dns-parameters":{"registry":"noop","policy":"upsert-only"}`),
			errors: map[string]string{at + "/registry": "registry txt only"}},
		{reason: "encrypted marks", path: newRecord, spec: coredns(builtIn + `,"external-dns-parameters":{"txt-encrypt-enabled":true,"txt-encrypt-aes-key":"0123456789abcdef0123456789abcdef"}`),
			errors: map[string]string{at + "/txt-encrypt-enabled": "does not do"}},
		{reason: "a sidecar", path: newRecord, spec: `{"provider":"webhook","webhook":{"image":"registry.k8s.io/external-dns/webhook:v1"}` + builtIn + `}`,
			errors: map[string]string{"/spec/webhook": "run the program yourself"}},
	})
}

// TestAForbiddenServerIsRefusedWhenTheProviderIsWritten, and not only when it is dialled.
func TestAForbiddenServerIsRefusedWhenTheProviderIsWritten(t *testing.T) {
	w := newShop(t)
	strict := admission.New(w.store, review.Rules{ForbiddenServers: func(_ context.Context, in intent.Record) map[string]string {
		return map[string]string{"environment/ETCD_URLS": in.Environment["ETCD_URLS"] + " is a private address; an administrator allows it by --publisher-servers 10.0.0.5:2379"}
	}})
	const spec = `{"provider":"coredns","environment":{"ETCD_URLS":"http://10.0.0.5:2379"}`
	lenient := w.admitter
	w.admitter = strict
	_, err := w.admit(newRecord, spec+builtIn+`}`)
	assertFields(t, err, intent.Invalid, map[string]string{
		"/spec/environment/ETCD_URLS": "names a server to which Signpost may not connect: http://10.0.0.5:2379 is a private address; an administrator allows it by --publisher-servers",
	})
	w.must(newRecord, spec+`}`)
	w.admitter = lenient
	w.must(newRecord, spec+builtIn+`}`)
	w.admitter = strict
	w.must(newRecord, spec+builtIn+`,"suspend":true}`)
}

func TestNoClusterProviderOfAUserStandsForAPublisher(t *testing.T) {
	w := newShop(t)
	_, err := w.admit("cluster-providers/_publisher.shop", `{}`)
	require.ErrorContains(t, err, "is not valid")
}
