// Package admit decides what may be stored. The shape of a body (types,
// required and unknown fields) has been checked against openapi.yaml by then;
// admit judges its meaning: it completes defaults, brings values into their
// canonical form, finds the documents that are referred to, takes secret
// values out, and reports everything that is wrong at once.
//
// Every edge (REST, gRPC, CLI) admits a body the same way:
//
//	write, err := admitter.Admit(ctx, path, body, old)
//	for _, secret := range write.Secrets { /* seal */ secret.Set(id) }
//	doc, err := admitter.Put(ctx, write)
//
// and shows a stored document with [Admitter.View]. What is wrong with the
// body alone is Invalid; what other documents forbid is a Conflict.
package admit
