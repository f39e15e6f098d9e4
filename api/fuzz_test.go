package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// FuzzBodies sends any body to every collection: it is accepted or refused,
// but never fails the server, and every answer is as documented.
func FuzzBodies(f *testing.F) {
	for i := range rows() {
		f.Add(i, `{"metadata":{"name":"x"},"spec":{}}`)
	}
	for _, b := range badInputs() {
		if len(b.body) < 10_000 {
			f.Add(3, b.body)
		}
	}
	f.Add(9, `{"metadata":{"name":"x"},"spec":{"logicalCloud":"eu","apps":[{"name":"a","manifests":[{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"}}]}]}}`)
	f.Add(11, `{"metadata":{"name":"x"},"spec":{"app":"web","serviceName":"web","hostnames":["*.lab.example","ü.lab.example"]}}`)
	f.Add(7, `{"metadata":{"name":"dns-update-record-list"},"spec":{"kv":[{"a":["b",{"c":null}]},{}]}}`)
	f.Fuzz(func(t *testing.T, resource int, body string) {
		w := newWorld(t).fill("")
		all := rows()
		target := all[((resource%len(all))+len(all))%len(all)]
		if answer := w.send(http.MethodPost, target.collection, body); answer.Code >= http.StatusInternalServerError {
			t.Errorf("POST %s answered %d: %s", target.collection, answer.Code, answer.Body)
		}
		if answer := w.send(http.MethodPut, target.item, body); answer.Code >= http.StatusInternalServerError {
			t.Errorf("PUT %s answered %d: %s", target.item, answer.Code, answer.Body)
		}
	})
}

// FuzzURLs asks for any path and query.
func FuzzURLs(f *testing.F) {
	for _, path := range []string{"/v2/projects/shop?limit=1", "/v2/project//", "/v2/projects/%2F", "/%zz", "/v2/projects/a%00b", "/readyz?x", "/v2/projects?continue=eyJ9&limit=-1"} {
		f.Add("GET", path, `"1"`)
	}
	f.Add("5ET", "/v2/projects/%2F", `W/"1`)
	f.Fuzz(func(t *testing.T, method, path, tag string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://signpost"+path, http.NoBody)
		if err != nil || request.URL.Host != "signpost" || strings.ContainsAny(request.URL.RequestURI(), " \t\r\n") {
			return
		}
		w := newWorld(t).fill("LogicalCloud")
		if answer := w.send(method, request.URL.RequestURI(), nil, "If-Match", tag); answer.Code >= http.StatusInternalServerError {
			t.Errorf("%s %s answered %d: %s", method, path, answer.Code, answer.Body)
		}
	})
}

// FuzzDecoder holds the strict decoder to encoding/json: what it accepts must
// be valid JSON of the same meaning.
func FuzzDecoder(f *testing.F) {
	for _, body := range []string{`{}`, `{"a":[1,2.5e3,null,true,"x"]}`, `{"a":1,"a":2}`, `[`, `"\ud800"`, "{\"\\u0061\":1,\"a\":2}"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, value string) {
		body := `{"metadata":{"name":"list"},"spec":{"kv":[{"k":` + value + `}]}}`
		sent := newWorld(t).fill("LogicalCloudKVPairs").send(http.MethodPost, rows()[7].collection, body)
		if sent.Code == http.StatusCreated && !json.Valid([]byte(body)) {
			t.Errorf("accepted what is not JSON: %q", body)
		}
		if sent.Code >= http.StatusInternalServerError {
			t.Errorf("%q answered %d", body, sent.Code)
		}
	})
}
