package proof

import (
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// working is the least record of a provider that can work.
func working(provider string) externaldns.Record {
	record := externaldns.Record{Provider: provider, Parameters: externaldns.Parameters{}}
	switch familyOf(provider) {
	case "cloudflare":
		record.Environment = []string{"CF_API_TOKEN"}
	case "pdns":
		record.Parameters = externaldns.Parameters{"pdns-api-key": "changeme"}
	case "rfc2136":
		record.Parameters = externaldns.Parameters{
			"rfc2136-host": "192.0.2.53", "rfc2136-zone": "corp.example",
			"rfc2136-tsig-keyname": "key1", "rfc2136-tsig-secret": "c2VjcmV0",
		}
	case "webhook":
		record.WebhookPort = 8888
	}
	return record
}

// companions are what a flag needs beside itself.
func companions(name string) externaldns.Parameters {
	switch name {
	case "create-ptr", "rfc2136-create-ptr":
		return externaldns.Parameters{"managed-record-types": []any{"A", "AAAA", "PTR"}}
	case "txt-encrypt-enabled":
		return externaldns.Parameters{"txt-encrypt-aes-key": strings.Repeat("k", 32)}
	case "rfc2136-gss-tsig", "rfc2136-kerberos-realm", "rfc2136-kerberos-username", "rfc2136-kerberos-password":
		return externaldns.Parameters{
			"rfc2136-gss-tsig":       true,
			"rfc2136-kerberos-realm": "CORP", "rfc2136-kerberos-username": "u", "rfc2136-kerberos-password": "p",
		}
	case "rfc2136-skip-tls-verify":
		return externaldns.Parameters{"rfc2136-use-tls": true}
	case "regex-domain-exclusion":
		return externaldns.Parameters{"regex-domain-filter": "example$"}
	case "min-event-sync-interval":
		return externaldns.Parameters{"events": true}
	default:
		return nil
	}
}

// familyOf names whose parameters a provider takes.
func familyOf(provider string) string {
	switch provider {
	case "aws-sd":
		return "aws"
	case "azure-dns", "azure-private-dns":
		return "azure"
	case "skydns":
		return "coredns"
	default:
		return provider
	}
}

// samples are a row's right values.
func samples(flag externaldns.Flag) []string {
	switch flag.Kind {
	case externaldns.Bool:
		return []string{"true", "false"}
	case externaldns.Enum:
		return flag.Values
	default:
		return []string{flag.Sample}
	}
}
