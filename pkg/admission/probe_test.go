package admission_test

import (
	"strings"
	"testing"
)

// TestBadProbesAreRefused with all faults at once.
func TestBadProbesAreRefused(t *testing.T) {
	const at = "/spec/health/probe"
	probe := func(hostnames, text string) string { return names(hostnames, `,"health":{"probe":`+text+`}`) }
	const host = `["www.lab.example"]`
	refused(t, []refusal{
		{reason: "everything is wrong", path: www, spec: probe(host, `{"type":"HTTP","port":70000,"host":"*.lab.example","path":"healthz","statuses":[200,99],"body":"`+strings.Repeat("x", 1025)+`","allowInsecure":true,"interval":"1s","timeout":"soon","failures":11,"successes":-1}`),
			errors: map[string]string{
				at + "/port": "give 1 to 65535", at + "/host": "not a host name", at + "/path": "begin it with a slash", at + "/statuses/1": "give 200 to 599", at + "/body": "at most 1024",
				at + "/allowInsecure": "is for type HTTPS", at + "/interval": "give 2s to 10m0s", at + "/timeout": "give 100ms to 30s", at + "/failures": "give 1 to 10", at + "/successes": "give 1 to 10",
			}},
		{reason: "no type", path: www, spec: probe(host, `{"type":"ICMP"}`), errors: map[string]string{at + "/type": "give TCP, HTTP or HTTPS"}},
		{reason: "a TCP probe asks for nothing", path: www, spec: probe(host, `{"type":"TCP","path":"/","body":"ok"}`),
			errors: map[string]string{at + "/port": "not a port", at + "/path": "only connects", at + "/body": "only connects"}},
		{reason: "longer than the interval", path: www, spec: probe(host, `{"type":"HTTP","interval":"2s"}`), errors: map[string]string{at + "/timeout": "longer than the interval"}},
		{reason: "a path of another host", path: www, spec: probe(host, `{"type":"HTTP","path":"//other.example/"}`), errors: map[string]string{at + "/path": "not the path of a request"}},
		{reason: "a wildcard needs a host", path: www, spec: probe(`["*.lab.example"]`, `{"type":"HTTPS"}`), errors: map[string]string{at + "/host": "is a wildcard"}},
		{reason: "inside a cluster", path: www, spec: names(host, `,"scope":"cluster","health":{"probe":{"type":"TCP","port":1}}`), errors: map[string]string{at: "no probe reaches"}},
	})
	for reason, text := range map[string]string{
		"the least":  `{"type":"HTTP"}`,
		"everything": `{"type":"HTTPS","port":8443,"host":"www.lab.example","path":"/healthz?full=1","statuses":[200,204],"body":"ok","allowInsecure":true,"interval":"2s","timeout":"1s","failures":1,"successes":10}`,
		"TCP":        `{"type":"TCP","port":5432}`,
	} {
		accepted(t, []acceptance{{reason: reason, path: www, spec: probe(host, text), stored: probe(host, text)}})
	}
	accepted(t, []acceptance{{reason: "a wildcard with a host", path: www, spec: probe(`["*.lab.example"]`, `{"type":"HTTP","host":"a.lab.example"}`), stored: probe(`["*.lab.example"]`, `{"type":"HTTP","host":"a.lab.example"}`)}})
}
