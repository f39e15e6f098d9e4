// Package api is the HTTP edge of Signpost. Routes, rights and the shapes of
// requests come from openapi/openapi.yaml alone: each request is routed once
// and validated once, and then handled by one implementation of the verbs for
// all resources, or handed to the lifecycle.
//
//	handler, err := api.New(api.Options{…})
//	server := api.NewServer(handler)
package api
