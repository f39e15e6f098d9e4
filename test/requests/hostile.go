package requests

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// hostile spoils a valid request in one to three ways.
func (g *Generator) hostile(r Request) Request {
	ways := []func(*Request){g.oddMethod, g.oddPath, g.oddPath, g.oddQuery, g.oddQuery, g.oddHeader, g.oddBody, g.oddBody, g.oddBody}
	for range 1 + g.IntN(3) {
		oneOf(g.Rand, ways)(&r)
	}
	r.Kind = Hostile
	return r
}

func (g *Generator) oddMethod(r *Request) {
	r.Method = oneOf(g.Rand, []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodTrace, "PROPFIND", "get", "X", "M-SEARCH", strings.Repeat("A", 300),
	})
}

// segments are parts of a path that somebody might try.
func segments() []string {
	return []string{
		"", ".", "..", "%2e%2e", "%2F", "..%2f..%2fetc%2fpasswd", "%00", "%0d%0aX-Evil:1", "%C3%BC", "%ff%fe", "ü", "%25", "%2525",
		"a;b=c", "~", "*", "+", "a+b", "%20", "-", "a.", "null", "0", strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("%41", 2000), "$(reboot)", "'", "{project}", "metadata", "plan", "status", "openapi.yaml", "v2", "projects",
	}
}

func (g *Generator) oddPath(r *Request) {
	path, query, asked := strings.Cut(r.Target, "?")
	parts := strings.Split(path, "/")
	at := 1 + g.IntN(len(parts)-1)
	switch g.IntN(5) {
	case 0:
		parts = slices.Insert(parts, at, oneOf(g.Rand, segments()))
	case 1:
		parts = slices.Delete(parts, at, at+1)
	case 2:
		parts = append(parts, oneOf(g.Rand, segments()))
	default:
		parts[at] = oneOf(g.Rand, segments())
	}
	r.Target = "/" + strings.TrimPrefix(strings.Join(parts, "/"), "/")
	if asked {
		r.Target += "?" + query
	}
}

func (g *Generator) oddQuery(r *Request) {
	path, query, _ := strings.Cut(r.Target, "?")
	odd := oneOf(g.Rand, []string{
		"", "?", "&", "&&=&", "=", "limit", "limit=", "limit=0", "limit=-1", "limit=1001", "limit=1e3", "limit=0x10", "limit=+1", "limit=%31",
		"limit=99999999999999999999", "limit=1&limit=2", "LIMIT=1", "limit[]=1", "continue=", "continue=AAAA", "continue=%00", "continue=" + strings.Repeat("A", 1025),
		"continue=eyJ9", "continue=..%2F..", "namePrefix=%ff", "namePrefix=*", "namePrefix=../", "namePrefix=" + strings.Repeat("a", 200), "namePrefix=%2Fsh",
		"key=", "key=%00", "key=" + url.QueryEscape("ключ"), "for=", "for=destroy", "for=update&for=update", "confirm=", "confirm=x", "confirm=" + strings.Repeat("f", 300),
		"unknown=1", "a;b", "limit=1;limit=2", "%zz", "%", "limit=%", "x=" + strings.Repeat("y", 9000), "limit=5#fragment",
	})
	if query != "" && g.chance(50) {
		odd = query + "&" + odd
	}
	r.Target = path + "?" + odd
}

func (g *Generator) oddHeader(r *Request) {
	name := oneOf(g.Rand, []string{
		"Content-Type", "Content-Type", "Accept", "If-Match", "If-None-Match", "Authorization", "X-Request-ID", "Content-Encoding",
		"Accept-Encoding", "Range", "Cookie", "Expect", "X-HTTP-Method-Override", "X-Forwarded-For", "Origin", "If-Modified-Since", "X-" + strings.Repeat("a", 200),
	})
	value := oneOf(g.Rand, []string{
		"", " ", "*", "*/*", "text/html", "application/json", "application/json; charset=latin1", "application/json; charset", "application/yaml", "application/xml;q=0",
		"multipart/form-data; boundary=x", `"1"`, `W/"1"`, `"`, `""`, `"1", "2"`, `"1",`, "1", "Bearer", "Bearer x", "Basic eDp5", "gzip", "identity", "gzip, br;q=0", "bytes=0-1",
		"100-continue", "DELETE", "\xff\xfe", "ü", strings.Repeat("x", 5000), "Sat, 29 Oct 1994 19:43:31 GMT", "../../x", "${jndi:ldap://x}",
	})
	if name == "Expect" {
		value = "100-continue"
	}
	r.Header.Add(name, value)
	if g.chance(20) {
		r.Header.Add(name, "x")
	}
}

// oddBody replaces the body or damages it.
func (g *Generator) oddBody(r *Request) {
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if g.chance(50) || len(r.Body) == 0 {
		r.Body = []byte(oneOf(g.Rand, g.oddBodies))
		return
	}
	at := g.IntN(len(r.Body))
	switch odd := []byte(oneOf(g.Rand, tokens())); g.IntN(4) {
	case 0:
		r.Body = r.Body[:at]
	case 1:
		r.Body = slices.Concat(r.Body[:at], odd, r.Body[at:])
	case 2:
		r.Body = slices.Concat(r.Body[:at], odd, r.Body[at+1:])
	default:
		r.Body = g.replaceValue(r.Body, odd)
	}
}

// replaceValue writes a token where a text or a number stands.
func (g *Generator) replaceValue(body, token []byte) []byte {
	var colons []int
	for i, c := range body {
		if c == ':' && i+1 < len(body) && body[i+1] != '{' && body[i+1] != '[' {
			colons = append(colons, i+1)
		}
	}
	if len(colons) == 0 {
		return body
	}
	start := oneOf(g.Rand, colons)
	end := start + 1
	if length := bytes.IndexAny(body[start:], ",}]"); length > 0 {
		end = start + length
	}
	return slices.Concat(body[:start], token, body[end:])
}

// tokens are pieces of JSON, whole or broken.
func tokens() []string {
	return []string{
		"null", "true", "-", "01", "1e999", "-0", "1e-400", "NaN", "Infinity", "0x10", "9223372036854775808", "0.1e1", "123456789012345678901234567890.5",
		`""`, `"`, `\`, `"\ud800"`, `"\u0000"`, `"\udead\ubeef"`, "\xff", "\xc0\x80", "\xef\xbb\xbf", "\x00", "\n", "/* */", `"a":1,"a":2,`, `"metadata":{"name":"twice"},`,
		"[", "{", "]", "}", ",", ":", strings.Repeat("[", 200), strings.Repeat(`{"a":`, 200), `"` + strings.Repeat("a", 70_000) + `"`, `"{{.Name}}"`, `"{{range $}}"`,
		`"../../../etc/passwd"`, `"--flag"`, `"a,b"`, `"\n"`, `"*"`, `"xn--"`, `"` + strings.Repeat("a.", 200) + `"`, `"999999999h"`, `"-1s"`, `"kube-system"`,
		`"ndots:1\nnameserver 192.0.2.66"`, `"fe80::1%eth0"`, `"CLUSTERFIRSTWITHAUTOPATH"`, `[{"options":[{"name":"ndots"},{"value":1}]}]`,
	}
}

// bodies are whole bodies that no operation takes.
func bodies() []string {
	many, searches := make([]string, 3000), make([]string, 3000)
	for i := range many {
		many[i], searches[i] = fmt.Sprintf(`"k%d":%d`, i, i), fmt.Sprintf(`"a%d.example"`, i)
	}
	return []string{
		"", " ", "null", "[]", "{}", "1", `"x"`, "true", "{", "}", "{}{}", `{"metadata":null}`, `{"metadata":{}}`, `{"metadata":{"name":null}}`,
		`{"metadata":{"name":"x"},"metadata":{"name":"y"}}`, `{"metadata":{"name":"x"},"spec":null}`, `{"metadata":{"name":"x"},"spec":[]}`,
		`{"metadata":{"name":"\u0000"}}`, `{"metadata":{"name":"x","userData1":"\ud800"}}`, "{\"metadata\":{\"name\":\"\xff\"}}", "\xef\xbb\xbf{}",
		"\xff\xfe{\x00}\x00", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), `{"__proto__":{"x":1}}`, "name=x&a=b", "<x/>", "- yaml",
		`{"metadata":{"name":"web"},"spec":{"app":"web","dnsPolicy":"None","dnsConfig":{"searches":[` + strings.Join(searches, ",") + "]}}}",
		`{"metadata":{"name":"x"},` + strings.Join(many, ",") + "}", `{"metadata":{"name":"x","description":"` + strings.Repeat("a", 1<<20) + `"}}`,
	}
}
