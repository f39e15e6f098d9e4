// Package requests makes requests from openapi/openapi.yaml, as many as one
// likes: valid ones, ones with a single mistake, and hostile ones. The same
// seed makes the same requests. Its test sends them to a running server.
package requests
