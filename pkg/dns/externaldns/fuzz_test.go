package externaldns

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzCheckAndCompile feeds any JSON object: nothing panics, the same input
// gives the same output, and no secret shows in an argument or a finding.
func FuzzCheckAndCompile(f *testing.F) {
	f.Add("rfc2136", `{"rfc2136-host":"192.0.2.53","rfc2136-zone":["corp.example"],"rfc2136-tsig-keyname":"k","rfc2136-tsig-secret":"SECRET"}`)
	f.Add("coredns", `{"coredns-prefix":"skydns","domain-filter":["xn--mnchen-3ya.example",""],"no-events":"axfr","interval":1e9}`)
	f.Add("aws", `{"aws-api-retries":9007199254740993,"regex-domain-filter":"(","txt-prefix":"%{record_type}-","x":{"y":[[]]}}`)
	for _, flag := range Flags() {
		body, _ := json.Marshal(Parameters{flag.Name: []string{flag.Sample}})
		f.Add(flag.Family, string(body))
	}
	f.Fuzz(func(t *testing.T, provider, body string) {
		const secret = "sEcReT-hunter2"
		var p Parameters
		if json.Unmarshal([]byte(body), &p) != nil || p == nil || strings.Contains(body, secret) {
			return
		}
		for _, flag := range Flags() {
			if flag.Secret && p[flag.Name] != nil {
				p[flag.Name] = secret
			}
		}
		o := options(Record{Provider: provider, Parameters: p})
		errors, warnings := Check(o.Record)
		arguments, findings := Compile(o)
		againErrors, againWarnings := Check(o.Record)
		againArguments, againFindings := Compile(o)
		assert.Equal(t, errors, againErrors)
		assert.Equal(t, warnings, againWarnings)
		assert.Equal(t, arguments, againArguments)
		assert.Equal(t, findings, againFindings)
		assert.Equal(t, len(findings) == 0, len(arguments.Args) > 0)
		if len(errors) > 0 {
			assert.NotEmpty(t, findings, "what a write refuses, a plan refuses")
		}
		for _, text := range append(append(append(arguments.Args, lines(errors)...), lines(warnings)...), lines(findings)...) {
			assert.NotContains(t, text, secret)
		}
		public, _ := TakeSecrets(p)
		assert.NotContains(t, public, "rfc2136-tsig-secret")
		NewCoverage(provider, p).Covers("www.xn--mnchen-3ya.example")
		Interval(p, 0)
	})
}
