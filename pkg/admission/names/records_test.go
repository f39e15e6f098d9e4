package names

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestRecordsAreChecked: each fault is said with what to do, at its place.
func TestRecordsAreChecked(t *testing.T) {
	t.Parallel()
	for records, want := range map[string]string{
		`[{"type":"MX","values":["10 mail.shop.example"]}]`:                                         "",
		`[{"type":"TXT","values":["v=spf1 -all"],"ttl":60},{"type":"NS","values":["ns.example."]}]`: "",
		`[{"type":"CAA","values":["0 issue a.example"]}]`:                                           "",
		`[{"type":"NAPTR","values":["x"]}]`:                                                         "/spec/records/0/type: \"NAPTR\" is not a type that records may have; give CAA, MX, NS, PTR, SRV, TXT",
		`[{"type":"A","values":["192.0.2.1"]}]`:                                                     "Addresses go to service or addresses",
		`[{"type":"SRV","values":["x"]}]`:                                                           "is no SRV record; give priority, weight and port",
		`[{"type":"MX","values":["a"]},{"type":"MX","values":["1 a.example"]}]`:                     "/spec/records/1/type: MX is given twice",
		`[{"type":"MX","values":["mail.example"]}]`:                                                 "is no MX record",
		`[{"type":"MX","values":["70000 mail.example"]}]`:                                           "is no MX record",
		`[{"type":"MX","values":["1 *.example"]}]`:                                                  "is a wildcard",
		`[{"type":"MX","values":["1 "]}]`:                                                           "is no MX record",
		`[{"type":"MX","values":["1 A.example","1 a.example."]}]`:                                   "/spec/records/0/values/1: \"1 a.example.\" is given twice",
		`[{"type":"NS","values":["192.0.2.1"]}]`:                                                    "is an address",
		`[{"type":"TXT","values":["heritage=external-dns,external-dns/owner=x"]}]`:                  "is a mark of external-dns",
		`[{"type":"TXT","values":["a\u0000b"]}]`:                                                    "printable ASCII",
		`[{"type":"TXT","values":["` + strings.Repeat("x", 4097) + `"]}]`:                           "longer than 4096 bytes",
		`[{"type":"TXT","values":[],"ttl":-1}]`:                                                     "has no value",
		`[{"type":"TXT","values":["a"],"ttl":4294967296}]`:                                          "is not a TTL",
	} {
		var in intent.Name
		require.NoError(t, json.Unmarshal([]byte(`{"records":`+records+`}`), &in))
		r := &review.Review{Path: "projects/shop/names/www.shop.example"}
		checkTarget(r, &in)
		checkRecords(r, &in)
		told := ""
		var refused *intent.Error
		if errors.As(r.Verdict(), &refused) {
			for _, field := range refused.Fields {
				told += field.Pointer + ": " + field.Detail + "\n"
			}
		}
		if want == "" {
			require.Empty(t, told, records)
		} else {
			require.Contains(t, told, want, records)
		}
	}
	in := intent.Name{CNAME: "a.example", Records: []intent.RecordSet{{Type: "MX", Values: []string{"01 Mail.Example."}}}}
	r := &review.Review{Path: "projects/shop/names/www.shop.example"}
	checkRecords(r, &in)
	require.Error(t, r.Verdict(), "nothing stands beside a CNAME")
	require.Equal(t, []string{"1 mail.example"}, in.Records[0].Values)
}

// TestATargetIsChecked: a name leads to one thing, and one with an underscore is for records and aliases.
func TestATargetIsChecked(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		`{"records":[{"type":"TXT","values":["v=DMARC1"]}]}`: "", `{"cname":"_x.Acme.example"}`: "",
		`{"addresses":["192.0.2.7"]}`: "no host has a name with an underscore; give records or cname",
		`{"service":"web/frontend"}`:  "no host has a name with an underscore",
		`{}`:                          "does not say what the name leads to; give service, addresses, cname or records",
		`{"service":"web/frontend","cname":"a.example"}`: "gives more than one of service, addresses and cname; give one of them",
	} {
		var in intent.Name
		require.NoError(t, json.Unmarshal([]byte(spec), &in))
		r := &review.Review{Path: "projects/shop/names/_dmarc.shop.example"}
		CheckHost(r, "_dmarc.shop.example")
		checkTarget(r, &in)
		if want == "" {
			require.NoError(t, r.Verdict(), spec)
			continue
		}
		require.ErrorContains(t, r.Verdict(), "_dmarc.shop.example")
		var refused *intent.Error
		require.ErrorAs(t, r.Verdict(), &refused)
		require.Contains(t, refused.Fields[0].Detail, want)
	}
}
