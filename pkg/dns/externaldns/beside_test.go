package externaldns

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMarks(t *testing.T) {
	for reason, c := range map[string]struct {
		parameters Parameters
		want       []string
	}{
		"one for each type":         {nil, []string{"a-www.lab.example", "aaaa-www.lab.example", "cname-www.lab.example"}},
		"a prefix with a dot":       {Parameters{"txt-prefix": "x.", "managed-record-types": []any{"A"}}, []string{"x.a-www.lab.example"}},
		"a suffix with a dot":       {Parameters{"txt-suffix": ".bakery", "managed-record-types": []any{"A"}}, []string{"a-www.bakery.lab.example"}},
		"nobody's names are marked": {Parameters{"registry": "noop"}, nil},
	} {
		assert.Equal(t, c.want, Marks(Record{Provider: "rfc2136", Parameters: c.parameters})("www.lab.example"), reason)
	}
}

func TestReverseZones(t *testing.T) {
	ptr := func(more Parameters) Parameters {
		all := Parameters{"create-ptr": true, "managed-record-types": []any{"A", "PTR"}}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	for reason, c := range map[string]struct {
		provider   string
		parameters Parameters
		want       []string
	}{
		"nobody asks for them":         {"rfc2136", nil, nil},
		"they are not managed":         {"rfc2136", Parameters{"create-ptr": true}, nil},
		"no zone is named":             {"pdns", ptr(nil), []string{"in-addr.arpa", "ip6.arpa"}},
		"the zones that are named":     {"rfc2136", ptr(Parameters{"rfc2136-zone": []any{"lab.example", "113.0.203.in-addr.arpa"}}), []string{"113.0.203.in-addr.arpa"}},
		"by its former name":           {"rfc2136", Parameters{"rfc2136-create-ptr": true, "managed-record-types": []any{"PTR"}, "rfc2136-zone": []any{"ip6.arpa"}}, []string{"ip6.arpa"}},
		"what holds them all":          {"pdns", ptr(Parameters{"domain-filter": []any{"arpa"}}), []string{"in-addr.arpa", "ip6.arpa"}},
		"none of the zones is reverse": {"pdns", ptr(Parameters{"domain-filter": []any{"lab.example"}}), nil},
		"a regular expression":         {"pdns", ptr(Parameters{"domain-filter": []any{"lab.example"}, "regex-domain-filter": ".*"}), []string{"in-addr.arpa", "ip6.arpa"}},
	} {
		assert.Equal(t, c.want, ReverseZones(Record{Provider: c.provider, Parameters: c.parameters}), reason)
	}
}
