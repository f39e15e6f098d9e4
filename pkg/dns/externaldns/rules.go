package externaldns

import (
	"fmt"
	"slices"
	"strings"
)

// rules are the checks that need more than one parameter, in the order in which they run.
// Rules about values without effect come first, so that later rules see only the rest.
func (p *providerRow) rules() []func(*reading) {
	rules := []func(*reading){
		ruleNoEffect, ruleRegistryHasNoUse,
		ruleOwnership, ruleRegistryFitsProvider, ruleEncryption, ruleAffixes,
		ruleFilters, ruleLoop, ruleReverseRecords,
		ruleEnvironment, ruleSidecar,
	}
	if p.rule != nil {
		rules = append(rules, p.rule)
	}
	return append(rules, ruleFiles)
}

// ruleNoEffect leaves out what external-dns would not read, or no longer knows.
func ruleNoEffect(r *reading) {
	for _, name := range r.names() {
		flag := r.values[name].flag
		switch {
		case flag.Unused != "":
			r.idle(name, flag.Unused)
		case flag.Removed != 0 && flag.Removed <= OldestVersion:
			r.idle(name, fmt.Sprintf("was removed from external-dns in %s", flag.Removed))
		case !r.provider.uses(flag):
			r.idle(name, "has no effect with provider "+r.record.Provider)
		}
	}
	if slices.Contains(r.values["service-type-filter"].texts, "all") {
		r.warn(about("service-type-filter", "all is not a type that external-dns knows; nothing stands for every type"))
	}
}

// ruleRegistryHasNoUse leaves out what the registry in use does not read.
func ruleRegistryHasNoUse(r *reading) {
	registry := r.one("registry")
	for _, name := range r.names() {
		if wanted := r.values[name].flag.Registries; len(wanted) > 0 && !slices.Contains(wanted, registry) {
			r.idle(name, "has no effect with registry "+registry)
		}
	}
}

// ruleOwnership guards the names of other owners.
func ruleOwnership(r *reading) {
	if r.one("policy") != "sync" {
		return
	}
	if r.one("registry") == "noop" && !r.record.AllowUnownedDeletion {
		r.refuse(about("registry", "noop with policy sync deletes every name that it does not want, also names that others made; "+
			"use registry txt, policy upsert-only, or allowUnownedDeletion"))
	}
	if !r.has("domain-filter") && !r.has("regex-domain-filter") {
		r.warn(about("domain-filter", "is missing: policy sync manages every name that the provider's account reaches"))
	}
}

// ruleRegistryFitsProvider checks where ownership can be kept.
func ruleRegistryFitsProvider(r *reading) {
	switch registry := r.one("registry"); {
	case registry == "aws-sd" && r.record.Provider != "aws-sd":
		r.cannot(about("registry", fmt.Sprintf("aws-sd keeps ownership in Cloud Map, which provider %s does not have; use txt", r.record.Provider)))
	case registry == "txt" && r.record.Provider == "aws-sd":
		r.warn(about("registry", "Cloud Map has no TXT records; use aws-sd"))
	case registry == "crd":
		r.warn(about("registry", "crd is an alpha feature, and needs a CustomResourceDefinition and rights that Signpost does not install"))
	}
}

// ruleEncryption needs a key for encryption, and encryption for a key.
func ruleEncryption(r *reading) {
	const key = "txt-encrypt-aes-key"
	enabled := r.on("txt-encrypt-enabled") && !r.values["txt-encrypt-enabled"].idle
	if enabled && !r.given(key) {
		r.cannot(about("txt-encrypt-enabled", "needs "+key))
	}
	if v := r.values[key]; v.given && !v.idle {
		if !isKeyOf(r.one(key), 32) {
			r.cannot(about(key, "must be 32 bytes, plain or in base64"))
		}
		if !enabled && r.one("registry") == "txt" {
			r.warn(about(key, "encrypts nothing without txt-encrypt-enabled"))
		}
	}
}

// ruleAffixes: external-dns refuses to start with both.
func ruleAffixes(r *reading) {
	if r.has("txt-prefix") && r.has("txt-suffix") && !r.values["txt-prefix"].idle {
		r.cannot(about("txt-suffix", "excludes txt-prefix; give one of them"))
	}
}

// ruleFilters finds filters that cancel each other.
func ruleFilters(r *reading) {
	for _, regex := range []string{"regex-domain-filter", "regex-domain-exclusion"} {
		if !r.has(regex) {
			continue
		}
		for _, list := range []string{"domain-filter", "exclude-domains"} {
			r.idle(list, "is replaced by "+regex)
		}
	}
	included, excluded := r.values["domain-filter"], r.values["exclude-domains"]
	if len(included.texts) == 0 || included.idle || len(excluded.texts) == 0 {
		return
	}
	for _, domain := range included.texts {
		if !matchSuffix(excluded.texts, strings.TrimPrefix(domain, ".")) {
			return
		}
	}
	r.warn(about(excluded.parameter, "excludes all that domain-filter includes: the provider covers no name"))
}

// ruleLoop comments on how often and how far external-dns acts.
func ruleLoop(r *reading) {
	if r.has("min-event-sync-interval") && !r.on("events") {
		r.idle("min-event-sync-interval", "has no effect without events")
	}
	if r.on("dry-run") {
		r.warn(about(r.written("dry-run"), "external-dns prints changes and makes none: no name is published"))
	}
}

// ruleReverseRecords: external-dns refuses to start otherwise.
func ruleReverseRecords(r *reading) {
	if r.on("create-ptr") && !slices.Contains(r.values["managed-record-types"].texts, "PTR") {
		r.cannot(about(r.written("create-ptr"), "needs PTR in managed-record-types"))
	}
}

// ruleEnvironment finds flags that are set past the checks.
func ruleEnvironment(r *reading) {
	for _, variable := range r.record.Environment {
		flag, ok := r.table.byEnvironment(variable)
		unseen := func() Finding { return beside(variable, "sets a flag unseen; its place is the parameter "+flag.Name) }
		switch {
		case !ok || flag.Secret:
		case flag.Kind == Reserved:
			r.cannot(beside(variable, "sets what is Signpost's to set; leave it out"))
		case Judged(flag.Name):
			r.cannot(unseen())
		default:
			r.warn(unseen())
		}
	}
}

// The rules about what a provider needs to reach its account, beside parameters.

// ruleFiles looks for the files that parameters name among the credentials:
// nothing else puts a file into the pod.
func ruleFiles(r *reading) {
	for _, name := range r.names() {
		if v := r.values[name]; v.flag.Kind == File && !v.idle && !slices.Contains(r.record.Files, v.texts[0]) {
			r.warn(about(v.parameter, fmt.Sprintf("no credential gives the file %s, and external-dns does not start without it", clip(v.texts[0]))))
		}
	}
}

// ruleSidecar: only the provider webhook has one.
func ruleSidecar(r *reading) {
	if r.record.WebhookPort != 0 && !r.provider.sidecar {
		r.refuse(beside("webhook", "belongs to provider webhook, not "+r.record.Provider))
	}
}

// inEnvironment tells whether the record sets all of some variables.
func (r *reading) inEnvironment(variables ...string) bool {
	return !slices.ContainsFunc(variables, func(v string) bool { return !slices.Contains(r.record.Environment, v) })
}
