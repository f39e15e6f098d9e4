package externaldns

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUpgradeTellsWhatItAlters(t *testing.T) {
	record := rfc2136(Parameters{"request-timeout": "9s"})
	assert.Empty(t, Upgrade(record, V022, V022))
	assert.Equal(t, []string{
		"external-dns v0.22.0 has --kube-api-request-timeout in place of --request-timeout of v0.20.0",
		"external-dns v0.22.0 has --rfc2136-axfr in place of --rfc2136-tsig-axfr of v0.20.0",
		"from external-dns v0.21.0 on, targets that several DNSEndpoints give one name are merged; before, those of one were published",
		"from external-dns v0.22.0 on, annotations begin with external-dns.kubernetes.io/, no longer with external-dns.alpha.kubernetes.io/",
		"from external-dns v0.22.0 on, a policy has to be given; Signpost always gives one",
	}, Upgrade(record, V020, V022))
	assert.Equal(t, []string{
		"external-dns v0.20.0 has --request-timeout in place of --kube-api-request-timeout of v0.21.0",
		"external-dns v0.20.0 goes back behind v0.21.0, from which on targets that several DNSEndpoints give one name are merged; before, those of one were published",
	}, Upgrade(record, V021, V020))
}
