// Package orchestrate proves that Signpost is a DNS controller that an EMCO
// installation can use the same day: the EMCO of test/emco on a real etcd,
// `signpost serve` as a process beside it, real kube-apiservers, external-dns
// and BIND, and dig at the end.
//
// A site has all of that and is for the story. A stage has etcd, the documents
// and Signpost, whose clusters are a directory and an inventory: there the calls
// are made one by one, and what each writes is looked at key by key.
package orchestrate
