// Package client is the Go client of Signpost's REST API. Types and one method
// per operation are generated from openapi/openapi.yaml into client.gen.go;
// [New] adds tokens, retries and typed errors.
package client

// The generator is a tool of a module of its own; `make generate` runs this.
//
//go:generate go tool -modfile=../../test/tools/oapi-codegen/go.mod oapi-codegen -config oapi-codegen.yaml ../../openapi/openapi.yaml
