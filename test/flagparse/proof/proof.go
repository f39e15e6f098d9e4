// Package proof holds what must be true of the flag table for a version of
// external-dns: the version's own flag parser and validation, which this package
// is built with, take every command line that Signpost renders for it. The
// modules beside it choose the version.
package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	upstream "sigs.k8s.io/external-dns/pkg/apis/externaldns"

	"github.com/signpost-dns/signpost/internal/seed"
	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// The place of every record.
const (
	namespace   = "shop-dns"
	labelFilter = "signpost.dev/project=shop,signpost.dev/record=lab"
	ownerID     = "sp-00000000-11111111"
)

// prover compares one version with the table.
type prover struct{ version externaldns.Version }

// Run proves the table for a version, which must be the one that the program is
// built with.
func Run(t *testing.T, version externaldns.Version) {
	p := prover{version}
	t.Run("providers", p.providers)
	t.Run("rows", p.rows)
	t.Run("no row is missing", p.complete)
	t.Run("every parameter under every provider", p.everyParameter)
	t.Run("values arrive", p.valuesArrive)
	t.Run("the seed's example", p.seedsExample)
	t.Run("random records", p.randomRecords)
	t.Run("abilities", p.abilities)
}

func (p prover) options(record externaldns.Record) externaldns.Options {
	return externaldns.Options{Record: record, Version: p.version, Namespace: namespace, LabelFilter: labelFilter, OwnerID: ownerID}
}

// accepted compiles a record that can work and gives what external-dns makes
// of it.
func (p prover) accepted(t *testing.T, record externaldns.Record) (externaldns.Arguments, *upstream.Config) {
	t.Helper()
	arguments, findings := externaldns.Compile(p.options(record))
	if len(findings) > 0 {
		t.Fatalf("%+v: %v", record, findings)
	}
	_, secrets := externaldns.TakeSecrets(record.Parameters)
	for _, secret := range secrets {
		t.Setenv(secret.Environment, secret.Value)
	}
	config, err := parse(arguments.Args)
	if err != nil {
		t.Fatalf("%q: %v", arguments.Args, err)
	}
	return arguments, config
}

// providers compares the providers with external-dns' own.
func (p prover) providers(t *testing.T) {
	theirs := providers(t)
	for _, name := range theirs {
		if known, _ := externaldns.KnownProvider(name); !known {
			t.Errorf("provider %s is missing", name)
		}
	}
	for _, name := range externaldns.Providers() {
		_, findings := externaldns.Compile(p.options(working(name)))
		if there := slices.Contains(theirs, name); there != (len(findings) == 0) {
			t.Errorf("provider %s: in external-dns %t, compiled with %v", name, there, findings)
		}
	}
}

// rows compares existence, type, repetition and variable of each flag.
func (p prover) rows(t *testing.T) {
	app := program(t)
	for _, flag := range externaldns.Flags() {
		there := p.version >= flag.Since && (flag.Removed == 0 || p.version < flag.Removed)
		theirs := app.GetFlag(flag.Name)
		if (theirs != nil) != there {
			t.Errorf("%s: in external-dns %t, in the table %t", flag.Name, theirs != nil, there)
		}
		if theirs == nil || flag.Kind == externaldns.Reserved {
			continue
		}
		model := theirs.Model()
		repeats, ok := model.Value.(interface{ IsCumulative() bool })
		if theirs := ok && repeats.IsCumulative(); theirs != (flag.List && p.version >= flag.ListSince) {
			t.Errorf("%s: repeats in external-dns %t", flag.Name, theirs)
		}
		if kind := kindOf(model.Value, model.IsBoolFlag()); !slices.Contains(fitting(flag), kind) {
			t.Errorf("%s: is %s in external-dns, not %s", flag.Name, kind, flag.Kind)
		}
		if model.Envar != flag.Environment() {
			t.Errorf("%s: environment %s, not %s", flag.Name, model.Envar, flag.Environment())
		}
	}
}

// complete finds flags of providers of the first class that the table lacks.
func (p prover) complete(t *testing.T) {
	rows := map[string]bool{}
	for _, flag := range externaldns.Flags() {
		rows[flag.Name] = true
	}
	for _, flag := range program(t).Model().Flags {
		for _, prefix := range []string{"aws-", "azure-", "cloudflare-", "coredns-", "google-", "pdns-", "rfc2136-", "webhook-provider-", "txt-", "dynamodb-", "kube-api-"} {
			if strings.HasPrefix(flag.Name, prefix) && !rows[flag.Name] {
				t.Errorf("%s is missing", flag.Name)
			}
		}
	}
}

// everyParameter passes each flag's sample, each value of an enumeration and
// both forms of a boolean. What is refused is what external-dns lacks.
func (p prover) everyParameter(t *testing.T) {
	app := program(t)
	for _, provider := range providers(t) {
		for _, flag := range externaldns.Flags() {
			if flag.Kind == externaldns.Reserved || flag.Family != "" && flag.Family != familyOf(provider) {
				continue
			}
			for _, sample := range samples(flag) {
				t.Run(fmt.Sprintf("%s/%s=%s", provider, flag.Name, sample), func(t *testing.T) {
					record := withParameter(provider, flag, sample)
					if _, findings := externaldns.Compile(p.options(record)); len(findings) == 1 && findings[0].Parameter == flag.Name {
						if app.GetFlag(flag.Name) == nil || app.GetFlag(flag.Name).Model().Value.Set(sample) != nil || impossible(provider, flag.Name, sample) {
							return
						}
					}
					p.accepted(t, record)
				})
			}
		}
	}
}

// withParameter is a working record with one more parameter and what that needs.
func withParameter(provider string, flag externaldns.Flag, sample string) externaldns.Record {
	record := working(provider)
	maps.Copy(record.Parameters, companions(flag.Name))
	if len(flag.Registries) > 0 {
		record.Parameters["registry"] = flag.Registries[len(flag.Registries)-1]
	}
	switch {
	case flag.Name == "registry" && sample == "noop":
		record.Parameters["policy"] = "create-only"
	case flag.Name == "webhook-provider-url":
		record.WebhookPort = 0
	case strings.HasPrefix(flag.Name, "tls-") && familyOf(provider) == "rfc2136":
		record.Parameters["rfc2136-use-tls"] = true
	}
	record.Parameters[flag.Name] = sample
	if flag.List {
		record.Parameters[flag.Name] = []any{sample, sample}
	}
	return record
}

// impossible tells what a provider of external-dns refuses, though its parser
// does not.
func impossible(provider, flag, sample string) bool {
	return flag == "registry" && sample == "aws-sd" && provider != "aws-sd" || flag == "dry-run" && sample == "true" && provider == "pdns"
}

// seedsExample passes the seed's example for each of its providers, with a TSIG
// algorithm in place of the placeholder.
func (p prover) seedsExample(t *testing.T) {
	for _, provider := range seed.Providers() {
		t.Run(provider, func(t *testing.T) {
			example, err := seed.Parameters(provider)
			if err != nil {
				t.Fatal(err)
			}
			if provider == "rfc2136" {
				example["rfc2136-tsig-secret-alg"] = "hmac-sha256"
			}
			_, config := p.accepted(t, externaldns.Record{Provider: provider, Parameters: example})
			if config.Provider != provider || config.Once || !config.DryRun || config.TXTOwnerID != "default" || config.Interval.String() != "30s" {
				t.Errorf("did not arrive: %+v", config)
			}
		})
	}
}

// valuesArrive looks into the configuration that external-dns ends up with.
func (p prover) valuesArrive(t *testing.T) {
	arguments, config := p.accepted(t, externaldns.Record{Provider: "rfc2136", Parameters: externaldns.Parameters{
		"rfc2136-host": []any{"192.0.2.53", "ns2.corp.example"}, "rfc2136-zone": "Corp.Example.",
		"rfc2136-tsig-keyname": "key1", "rfc2136-tsig-secret": "c2VjcmV0", "rfc2136-tsig-axfr": "axfr",
		"domain-filter": []any{"corp.example", ".lab.example"}, "request-timeout": "9s", "events": true,
		"regex-domain-exclusion": nil, "dry-run": false,
	}})
	flag := func(name, since, former string) string {
		if from, err := externaldns.ParseVersion(since); err == nil && p.version < from {
			name = former
		}
		return program(t, arguments.Args...).GetFlag(name).Model().String()
	}
	for what, ok := range map[string]bool{
		"policy":       config.Policy == "sync",
		"registry":     config.Registry == "txt",
		"owner":        config.TXTOwnerID == ownerID,
		"source":       slices.Equal(config.Sources, []string{"crd"}),
		"label filter": config.LabelFilter == labelFilter,
		"hosts":        slices.Equal(config.RFC2136Host, []string{"192.0.2.53", "ns2.corp.example"}),
		"port":         config.RFC2136Port == 53,
		"zone":         slices.Equal(config.RFC2136Zone, []string{"corp.example"}),
		"secret":       config.RFC2136TSIGSecret == "c2VjcmV0",
		"algorithm":    config.RFC2136TSIGSecretAlg == "hmac-sha256",
		"axfr":         flag("rfc2136-axfr", "v0.22.0", "rfc2136-tsig-axfr") == "true",
		"timeout":      flag("kube-api-request-timeout", "v0.21.0", "request-timeout") == "9s",
		"domains":      slices.Equal(config.DomainFilter, []string{"corp.example", ".lab.example"}),
		"events":       config.UpdateEvents,
		"dry run":      !config.DryRun,
		"metrics":      config.MetricsAddress == ":7979" && arguments.MetricsPort == 7979,
	} {
		if !ok {
			t.Errorf("%s did not arrive: %+v", what, config)
		}
	}
}
