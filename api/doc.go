// Package api is the HTTP edge of Signpost. Routes, rights and the shapes of
// requests come from openapi/openapi.yaml only. Each request is routed once and
// validated once. Then one implementation of the verbs for all resources
// handles it, or the lifecycle does.
//
//	handler, err := api.New(api.Options{…}, console)
//	server := api.NewServer(handler)
package api
