// Package chaos runs Signpost as a platform team does, with two replicas of each
// role, three etcd members and three clusters, and lets everything fail that can:
// processes are killed, stopped and restarted, links are cut, slow, reset and
// refused, for as long as clients write. Then all of it ends, and what was
// acknowledged has to be there and in the clusters, and nothing else touched.
// Another test has built-in publishers write names, and judges each answer of
// CoreDNS and BIND while workers, etcd members and both servers fail.
//
// SIGNPOST_CHAOS says how long it fails, as in 10m; SIGNPOST_CHAOS_SEED which
// troubles there are, in which order.
package chaos
