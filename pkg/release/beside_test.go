package release_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// TestWhatMarksANameLiesInNoDomainOfOthers, whatever the record puts around it.
func TestWhatMarksANameLiesInNoDomainOfOthers(t *testing.T) {
	t.Parallel()
	for parameters, refused := range map[string]bool{
		`"txt-suffix":".lab"`: true, `"txt-suffix":"-%{record_type}.x.lab"`: true, `"coredns-prefix":"/skydns/","txt-suffix":".lab"`: true,
		`"txt-prefix":"x."`: false, `"registry":"noop","policy":"upsert-only","txt-suffix":".lab"`: false, `"interval":"6s"`: false,
	} {
		w := rivals(t)
		w.put(shop, `{"namespace":"shop-dns","domains":["lab.example"]}`)
		w.put(bankLab, `{"provider":"coredns","external-dns-parameters":{`+parameters+`}}`)
		w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.example"]}`)
		if !refused {
			w.do(intent.Instantiate, bankProd)
			continue
		}
		w.refuses(intent.Instantiate, bankProd, `lab.example by which external-dns of record "lab" would mark "bank.example" as its own lies in lab.example, which is granted to another project`, string(www(bankProd))+"#/spec/hostnames/0")
	}
}

// TestReverseZonesAreTheirProjects: those in which a record has PTR records made.
func TestReverseZonesAreTheirProjects(t *testing.T) {
	t.Parallel()
	reverse := func(zone string) string {
		return `{"provider":"pdns","credentials":[{"environment":"EXTERNAL_DNS_PDNS_API_KEY","secretRef":{"name":"k","key":"k"}}],
			"external-dns-parameters":{"create-ptr":true,"managed-record-types":["A","PTR"],"domain-filter":["lab.example",` + zone + `]}}`
	}
	at := string(bankLab) + "#/spec/external-dns-parameters/create-ptr"
	w := rivals(t)
	w.put(shop, `{"namespace":"shop-dns","domains":["113.0.203.in-addr.arpa"]}`)
	w.put(bankLab, reverse(`"113.0.203.in-addr.arpa"`))
	w.refuses(intent.Instantiate, bankProd, "makes PTR records in 113.0.203.in-addr.arpa, which lies in 113.0.203.in-addr.arpa, granted to another project", at)
	w.put(bankLab, reverse(`"in-addr.arpa"`))
	w.refuses(intent.Instantiate, bankProd, "makes PTR records in in-addr.arpa, which holds 113.0.203.in-addr.arpa, granted to another project", at)
	w.put(bankLab, reverse(`"100.51.198.in-addr.arpa"`))
	plan, err := w.service.Plan(context.Background(), bankProd, intent.Instantiate, 0)
	require.NoError(t, err)
	require.Empty(t, plan.Errors)

	w.options.RequireDomains = true
	w.restartOn(w.fake)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example"]}`)
	w.refuses(intent.Instantiate, bankProd, "which lies in no domain that is granted to the project", at)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example","198.in-addr.arpa"]}`)
	w.do(intent.Instantiate, bankProd)
}
