// Package openapi holds the description of every request and response of the
// REST API: openapi.yaml, OpenAPI 3.0.3. The file is the only source for the
// shape of requests. The server routes and validates by it, and the clients are
// generated from it.
package openapi

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// document is openapi.yaml.
//
//go:embed openapi.yaml
var document string

// YAML is the description as it is written.
func YAML() []byte { return []byte(document) }

// Load is the description, parsed and with its references resolved. It fails
// only when openapi.yaml is broken. All callers share the document: nobody may
// change it.
func Load() (*openapi3.T, error) { return load() }

// load is a constant that Go cannot write as one.
//
//nolint:gochecknoglobals // computed once, read-only
var load = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return doc, nil
})
