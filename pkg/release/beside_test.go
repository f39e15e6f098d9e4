package release_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
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
		w.refuses(intent.Instantiate, bankProd, `external-dns of provider "lab" would mark "bank.example" with a TXT record`, string(www(bankProd))+"#/spec/hostnames/0")
	}
}

// TestAnUpdateOfARecordMarksNothingInDomainsOfOthers: its names keep the domains that
// they were judged by, also those that a suspended group has in its cluster still.
func TestAnUpdateOfARecordMarksNothingInDomainsOfOthers(t *testing.T) {
	t.Parallel()
	const deployed, at = `"rfc2136-host":["10.0.0.9"],"rfc2136-axfr":true,"rfc2136-insecure":true,"rfc2136-zone":["example"]`, "/spec/external-dns-parameters"
	reverse := strings.Replace(deployed, `"example"`, `"example","113.0.203.in-addr.arpa"`, 1) + `,"create-ptr":true,"managed-record-types":["A","PTR"]`
	for reason, c := range map[string]struct {
		parameters, refused, at string
		suspended, later        bool
	}{
		"a suffix":                        {deployed + `,"txt-suffix":".lab"`, "external-dns of provider \"lab\" would mark \"www.example\" with a TXT record", at, false, false},
		"a suffix while it is suspended":  {deployed + `,"txt-suffix":".lab"`, "external-dns of provider \"lab\" would mark \"www.example\" with a TXT record", at, true, false},
		"a reverse zone":                  {reverse, "makes PTR records in 113.0.203.in-addr.arpa, which lies in", at + "/create-ptr", false, false},
		"nothing of that":                 {deployed + `,"interval":"6s"`, "", "", false, false},
		"a grant came after what is kept": {deployed + `,"txt-suffix":".lab","interval":"6s"`, "", "", false, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			grants := func() { w.put(shop, `{"namespace":"shop-dns","domains":["lab.example","113.0.203.in-addr.arpa"]}`) }
			spec := func(parameters string) string {
				return `{"provider":"rfc2136","external-dns-parameters":{` + parameters + `}}`
			}
			w.put(bankLab, spec(deployed))
			if c.later {
				w.put(bankLab, spec(deployed+`,"txt-suffix":".lab"`))
			} else {
				grants()
			}
			w.bankAsks("www.example", "x.bank.example")
			w.running(bankProd)
			grants()
			if c.suspended {
				w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web"}],"suspend":true}`, bankCloud)
				w.bankAsks("x.bank.example")
				w.do(intent.Update, bankProd)
				require.NoError(t, w.rest())
			}
			w.put(bankLab, spec(c.parameters))
			_, err := w.service.UpdateRecord(t.Context(), bankLab, "", "", "ann")
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.refused)
			require.ErrorContains(t, err, string(bankLab)+"#"+c.at+":")
			require.NotContains(t, err.Error(), "shop")
		})
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
	w.refuses(intent.Instantiate, bankProd, "which lies in no domain of the project", at)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example","198.in-addr.arpa"]}`)
	w.do(intent.Instantiate, bankProd)
}
