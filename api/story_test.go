package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSeedsExampleRecordIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t).fill("DNSUpdateRecord")
	answer := w.send("POST", "/v2/project/shop/dns-update-records/", `{
		"metadata": {"name": "name_of_dns_information_record", "description": "description of the DNS information",
			"userdata1": "some user data", "userdata2": "some different user data"},
		"spec": {"provider": "coredns", "external-dns-parameters": {
			"coredns-prefix": "skydns", "contour-load-balancer": "heptio-contour/contour", "fqdn-template": "template",
			"combine-fqdn-annotation": true, "ignore-hostname-annotation": true, "compatibility": "mate",
			"publish-internal-services": true, "publish-host-ip": true, "service-type-filter": "all",
			"domain-filter": "example.com", "exclude-domains": "example.com", "zone-id-filter": "zone filter",
			"tls-ca": "tls ca path", "tls-client-cert": "tls client cert path", "tls-client-cert-key": "tls client cert key path",
			"policy": "sync", "registry": "txt", "txt-owner-id": "default", "txt-prefix": "custom string",
			"txt-cache-interval": "30s", "interval": "30s", "once": true, "dry-run": true, "log-format": "text",
			"metrics-address": ":7979", "log-level": "info"}}}`).want(http.StatusCreated)
	require.Equal(t, "/v2/projects/shop/dns-update-records/name_of_dns_information_record", answer.Header().Get("Location"))
	status, _ := answer.json()["status"].(map[string]any)
	require.NotEmpty(t, status["warnings"])
	known := w.send("GET", answer.Header().Get("Location")+"/status", nil).want(http.StatusOK).json()
	require.Equal(t, status["warnings"], known["warnings"], "its status tells the same")
}
