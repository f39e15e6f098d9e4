// Package flagparse proves the flag table against external-dns itself: every
// command line that Signpost renders for v0.22 passes that version's own flag
// parser and validation.
package flagparse

import (
	"maps"
	"slices"
	"strings"
	"testing"

	upstream "sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns/validation"

	"github.com/signpost-dns/signpost/pkg/externaldns"
)

const version = externaldns.V022

// base holds what each family needs to work at all.
func base(family string) externaldns.Parameters {
	if family != "rfc2136" {
		return externaldns.Parameters{}
	}
	return externaldns.Parameters{
		"rfc2136-host": "192.0.2.53", "rfc2136-zone": "corp.example",
		"rfc2136-tsig-keyname": "key1", "rfc2136-tsig-secret": "c2VjcmV0",
	}
}

// companions are what a flag needs beside itself.
func companions(name string) externaldns.Parameters {
	switch name {
	case "create-ptr", "rfc2136-create-ptr":
		return externaldns.Parameters{"managed-record-types": []any{"A", "AAAA", "PTR"}}
	case "txt-encrypt-enabled":
		return externaldns.Parameters{"txt-encrypt-aes-key": strings.Repeat("k", 32)}
	case "rfc2136-gss-tsig":
		return externaldns.Parameters{
			"rfc2136-kerberos-realm": "CORP", "rfc2136-kerberos-username": "u", "rfc2136-kerberos-password": "p",
		}
	case "rfc2136-kerberos-realm", "rfc2136-kerberos-username", "rfc2136-kerberos-password":
		return externaldns.Parameters{
			"rfc2136-gss-tsig":       true,
			"rfc2136-kerberos-realm": "CORP", "rfc2136-kerberos-username": "u", "rfc2136-kerberos-password": "p",
		}
	case "rfc2136-skip-tls-verify", "tls-ca", "tls-client-cert", "tls-client-cert-key":
		return externaldns.Parameters{"rfc2136-use-tls": true}
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

// parse compiles a record and gives what external-dns makes of it.
func parse(t *testing.T, provider string, parameters externaldns.Parameters) (externaldns.Arguments, *upstream.Config) {
	t.Helper()
	arguments, findings := externaldns.Compile(externaldns.Options{
		Record:    externaldns.Record{Provider: provider, Parameters: parameters, Environment: []string{"ETCD_URLS"}},
		Version:   version,
		Namespace: "shop-dns", LabelFilter: "signpost.dev/project=shop,signpost.dev/record=lab", OwnerID: "sp-00000000-11111111",
	})
	if len(findings) > 0 {
		t.Fatalf("%s %v: %v", provider, parameters, findings)
	}
	_, secrets := externaldns.TakeSecrets(parameters)
	for _, secret := range secrets {
		t.Setenv(secret.Environment, secret.Value)
	}
	config := upstream.NewConfig()
	if err := config.ParseFlags(arguments.Args); err != nil {
		t.Fatalf("%q: %v", arguments.Args, err)
	}
	if err := validation.ValidateConfig(config); err != nil {
		t.Fatalf("%q: %v", arguments.Args, err)
	}
	return arguments, config
}

// TestEveryProviderIsThere compares the providers with external-dns' own.
func TestEveryProviderIsThere(t *testing.T) {
	for _, name := range upstream.ProviderNames {
		if known, _ := externaldns.KnownProvider(name); !known {
			t.Errorf("provider %s is missing", name)
		}
	}
	for _, name := range externaldns.Providers() {
		_, findings := externaldns.Compile(externaldns.Options{
			Record:  externaldns.Record{Provider: name, Parameters: base(familyOf(name))},
			Version: version, Namespace: "n", LabelFilter: "a=b", OwnerID: "o",
		})
		if there := slices.Contains(upstream.ProviderNames, name); there != (len(findings) == 0) {
			t.Errorf("provider %s: in external-dns %t, compiled with %v", name, there, findings)
		}
	}
}

// TestRowsAreAsExternalDNSHasThem compares existence, kind and repetition.
func TestRowsAreAsExternalDNSHasThem(t *testing.T) {
	app := upstream.App(upstream.NewConfig())
	if _, err := app.Parse([]string{"--source=crd", "--provider=coredns"}); err != nil { // names the variables, too
		t.Fatal(err)
	}
	for _, flag := range externaldns.Flags() {
		gone := flag.Removed != 0 && flag.Removed <= version
		theirs := app.GetFlag(flag.Name)
		if (theirs == nil) != gone {
			t.Errorf("%s: in external-dns %t, removed %t", flag.Name, theirs != nil, gone)
		}
		if theirs == nil || flag.Kind == externaldns.Reserved {
			continue
		}
		model := theirs.Model()
		if model.IsBoolFlag() != (flag.Kind == externaldns.Bool) {
			t.Errorf("%s: boolean in external-dns %t", flag.Name, model.IsBoolFlag())
		}
		repeats, ok := model.Value.(interface{ IsCumulative() bool })
		if theirs := ok && repeats.IsCumulative(); theirs != flag.List {
			t.Errorf("%s: repeats in external-dns %t", flag.Name, theirs)
		}
		if model.Envar != flag.Environment() {
			t.Errorf("%s: environment %s, not %s", flag.Name, model.Envar, flag.Environment())
		}
	}
}

// TestEveryRowUnderEveryProvider passes each flag's sample, each value of an
// enumeration and both forms of a boolean.
func TestEveryRowUnderEveryProvider(t *testing.T) {
	for _, provider := range upstream.ProviderNames {
		for _, flag := range externaldns.Flags() {
			if flag.Kind == externaldns.Reserved || flag.Family != "" && flag.Family != familyOf(provider) {
				continue
			}
			for _, sample := range samples(flag) {
				t.Run(provider+"/"+flag.Name+"="+sample, func(t *testing.T) {
					parameters := base(familyOf(provider))
					if familyOf(provider) == "rfc2136" || !strings.HasPrefix(flag.Name, "tls-") {
						maps.Copy(parameters, companions(flag.Name))
					}
					if len(flag.Registries) > 0 {
						parameters["registry"] = flag.Registries[len(flag.Registries)-1]
					}
					if flag.Name == "registry" && sample == "noop" {
						parameters["policy"] = "create-only"
					}
					parameters[flag.Name] = sample
					if flag.List {
						parameters[flag.Name] = []any{sample, sample}
					}
					parse(t, provider, parameters)
				})
			}
		}
	}
}

// samples are a row's right values.
func samples(flag externaldns.Flag) []string {
	switch {
	case flag.Kind == externaldns.Bool:
		return []string{"true", "false"}
	case flag.Name == "registry":
		return []string{"txt", "noop", "dynamodb", "crd"} // aws-sd is one provider's
	case flag.Kind == externaldns.Enum:
		return flag.Values
	default:
		return []string{flag.Sample}
	}
}

// TestValuesArrive looks into the configuration that external-dns ends up with.
func TestValuesArrive(t *testing.T) {
	arguments, config := parse(t, "rfc2136", externaldns.Parameters{
		"rfc2136-host": []any{"192.0.2.53", "ns2.corp.example"}, "rfc2136-zone": "Corp.Example.",
		"rfc2136-tsig-keyname": "key1", "rfc2136-tsig-secret": "c2VjcmV0", "rfc2136-tsig-axfr": "axfr",
		"domain-filter": []any{"corp.example", ".lab.example"}, "request-timeout": "9s", "events": true,
		"regex-domain-exclusion": nil, "dry-run": false,
	})
	for what, ok := range map[string]bool{
		"policy":       config.Policy == "sync",
		"registry":     config.Registry == "txt",
		"owner":        config.TXTOwnerID == "sp-00000000-11111111",
		"source":       slices.Equal(config.Sources, []string{"crd"}),
		"label filter": config.LabelFilter == "signpost.dev/project=shop,signpost.dev/record=lab",
		"hosts":        slices.Equal(config.RFC2136Host, []string{"192.0.2.53", "ns2.corp.example"}),
		"port":         config.RFC2136Port == 53,
		"zone":         slices.Equal(config.RFC2136Zone, []string{"corp.example"}),
		"secret":       config.RFC2136TSIGSecret == "c2VjcmV0",
		"algorithm":    config.RFC2136TSIGSecretAlg == "hmac-sha256",
		"axfr":         config.RFC2136AXFR,
		"domains":      slices.Equal(config.DomainFilter, []string{"corp.example", ".lab.example"}),
		"timeout":      config.KubeAPIRequestTimeout.String() == "9s",
		"events":       config.UpdateEvents,
		"dry run":      !config.DryRun,
		"metrics":      config.MetricsAddress == ":7979" && arguments.MetricsPort == 7979,
	} {
		if !ok {
			t.Errorf("%s did not arrive: %+v", what, config)
		}
	}
}

// TestTypicalRecords passes combinations as users write them.
func TestTypicalRecords(t *testing.T) {
	general := externaldns.Parameters{
		"contour-load-balancer": "heptio-contour/contour", "fqdn-template": "template", "combine-fqdn-annotation": true,
		"ignore-hostname-annotation": true, "compatibility": "mate", "publish-internal-services": true, "publish-host-ip": true,
		"service-type-filter": "all", "domain-filter": "example.com", "exclude-domains": "example.com", "zone-id-filter": "zone filter",
		"tls-ca": "tls ca path", "tls-client-cert": "tls client cert path", "tls-client-cert-key": "tls client cert key path",
		"policy": "sync", "registry": "txt", "txt-owner-id": "default", "txt-prefix": "custom string", "txt-cache-interval": "30s",
		"interval": "30s", "once": true, "dry-run": true, "log-format": "text", "metrics-address": ":7979", "log-level": "info",
	}
	for provider, own := range map[string]externaldns.Parameters{
		"aws": {
			"aws-zone-type": "public", "aws-zone-tags": "zone tags", "aws-assume-role": "arn:aws:iam::123455567:role/external-dns",
			"aws-batch-change-size": 1000.0, "aws-batch-change-interval": "1s", "aws-evaluate-target-health": true,
			"no-aws-evaluate-target-health": true, "aws-api-retries": 3.0, "aws-prefer-cname": true,
		},
		"azure":             {"azure-config-file": "/etc/kubernetes/azure.json", "azure-resource-group": "resource group"},
		"azure-private-dns": {"azure-subscription-id": "subscription id", "azure-user-assigned-identity-client-id": "client id"},
		"coredns":           {"coredns-prefix": "skydns"},
		"rfc2136":           {"rfc2136-host": "host.sample.com", "rfc2136-zone": "example.com", "rfc2136-insecure": true, "rfc2136-tsig-axfr": "axfr", "request-timeout": "30s"},
	} {
		t.Run(provider, func(t *testing.T) {
			parameters := maps.Clone(general)
			maps.Copy(parameters, own)
			parse(t, provider, parameters)
		})
	}
}
