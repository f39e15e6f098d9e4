package externaldns

import (
	"encoding/base64"
	"strings"
)

// ruleRFC2136 checks that updates can be sent, signed and read back.
func ruleRFC2136(r *reading) {
	r.need([]string{"rfc2136-host"}, "provider rfc2136 needs at least one")
	switch {
	case !r.has("rfc2136-zone"):
		r.cannot(about("rfc2136-zone", "is missing: provider rfc2136 needs at least one"))
	case !r.given("rfc2136-zone"):
		r.warn(about("rfc2136-zone", "is missing: each domain of domain-filter is treated as a zone"))
	}
	ruleSignature(r)
	if !r.on("rfc2136-axfr") {
		r.warn(about(r.written("rfc2136-axfr"), "is not true: external-dns cannot read the zone, and nothing is ever updated or deleted; set it, with any version"))
	}
	if !r.on("rfc2136-use-tls") {
		for _, name := range []string{"tls-ca", "tls-client-cert", "tls-client-cert-key", "rfc2136-skip-tls-verify"} {
			r.idle(name, "has no effect without rfc2136-use-tls")
		}
	}
}

// zonesOfDomains are the zones that a record means that names domains alone.
func (r *reading) zonesOfDomains() []string {
	var zones []string
	for _, domain := range r.values["domain-filter"].texts {
		if zone := readZone(strings.TrimPrefix(domain, ".")); zone.text != "" {
			zones = append(zones, zone.text)
		}
	}
	return zones
}

// ruleSignature settles how updates are signed: by TSIG, by Kerberos, or not.
func ruleSignature(r *reading) {
	tsig := []string{"rfc2136-tsig-keyname", "rfc2136-tsig-secret", "rfc2136-tsig-secret-alg"}
	kerberos := []string{"rfc2136-kerberos-realm", "rfc2136-kerberos-username", "rfc2136-kerberos-password"}
	insecure, gss := r.on("rfc2136-insecure"), r.on("rfc2136-gss-tsig")
	switch {
	case insecure && gss:
		r.cannot(about(r.written("rfc2136-insecure"), "excludes rfc2136-gss-tsig; give one of them"))
		return
	case insecure:
		r.unsigned("rfc2136-insecure", append(tsig, kerberos...))
	case gss:
		r.unsigned("rfc2136-gss-tsig", tsig)
		r.need(kerberos, "rfc2136-gss-tsig needs it")
	default:
		for _, name := range kerberos {
			r.idle(name, "has no effect without rfc2136-gss-tsig")
		}
		r.need(tsig[:2], "signed updates need it; give it, or set rfc2136-insecure")
		ruleTSIGKey(r)
	}
}

// unsigned leaves out what another way of signing does not read; what could not
// work is then no matter either.
func (r *reading) unsigned(by string, names []string) {
	for _, name := range names {
		kept := r.stuck[:0]
		for _, f := range r.stuck {
			if f.Parameter != r.written(name) {
				kept = append(kept, f)
			}
		}
		r.stuck = kept
		r.idle(name, "has no effect with "+by)
	}
}

// need reports which of several flags the record does not give.
func (r *reading) need(names []string, why string) {
	for _, name := range names {
		if !r.given(name) {
			r.cannot(about(name, "is missing: "+why))
		}
	}
}

// ruleTSIGKey comments on what BIND would not call a key.
func ruleTSIGKey(r *reading) {
	if name := strings.TrimSuffix(r.one("rfc2136-tsig-keyname"), "."); name != "" && !isName(name, "-_") {
		r.warn(about("rfc2136-tsig-keyname", clip(name)+" is not a DNS name, as the names of TSIG keys are"))
	}
	if secret := r.one("rfc2136-tsig-secret"); secret != "" {
		if _, err := base64.StdEncoding.DecodeString(secret); err != nil {
			r.warn(about("rfc2136-tsig-secret", "is not in base64, as TSIG keys are"))
		}
	}
}

// isKeyOf tells whether a key has so many bytes, plain or in base64.
func isKeyOf(key string, size int) bool {
	if len(key) == size {
		return true
	}
	plain, err := base64.StdEncoding.DecodeString(key)
	return err == nil && len(plain) == size
}
