package serve

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/release"
)

// ConfigFlag names the flag that says where the others may come from.
const ConfigFlag = "config"

// What holds when nothing else is said.
const (
	historyAge     = 90 * 24 * time.Hour
	historyCount   = 2000 // of each project and cluster provider
	maxRecords     = 10_000
	maxNames       = 100_000
	maxExternalDNS = 1000
	maxObjects     = 20_000
	rateLimit      = 1000 // requests of a subject in a second
	maxDocuments   = 100_000
	maxBytes       = 512 << 20
	maxConnections = 2048 // of the REST listener at once
	clusterMemory  = 48   // MiB
)

// ServeFlags adds the flags of signpost serve, which fill c.
func ServeFlags(flags *pflag.FlagSet, c *app.Config) {
	listenerFlags(flags, c)
	keptFlags(flags, c)
	clusterFlags(flags, c)
	accessFlags(flags, c)
	watchFlags(flags, c)
	flags.String(ConfigFlag, "", "a YAML `FILE` with flags")
}

// listenerFlags adds those that say where Signpost listens, and what it shows there.
func listenerFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.Role, "role", "all", "the `ROLE`: api accepts requests, worker works on them and serves clusters, all does both")
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:9018", "the `ADDRESS` of the REST API; port 0 takes a free one")
	flags.StringVar(&c.TLSCertFile, "tls-cert", "", "the `FILE` with the certificate of the REST API, in PEM (default plain text)")
	flags.StringVar(&c.TLSKeyFile, "tls-key", "", "the `FILE` with the key of --tls-cert, in PEM")
	flags.StringVar(&c.ClientCAFile, "client-ca", "", "the `FILE` with the CA certificates by which REST callers may show theirs instead of a token, in PEM")
	flags.StringVar(&c.GRPCListen, "grpc-listen", "127.0.0.1:9048", "the `ADDRESS` of the gRPC services; port 0 takes a free one")
	flags.StringVar(&c.GRPCCertFile, "grpc-tls-cert", "", "the `FILE` with the certificate of the gRPC listener, in PEM (default plain text)")
	flags.StringVar(&c.GRPCKeyFile, "grpc-tls-key", "", "the `FILE` with the key of --grpc-tls-cert, in PEM")
	flags.StringVar(&c.GRPCClientCAFile, "grpc-client-ca", "", "the `FILE` with the CA certificates by which gRPC callers have to show theirs, in PEM")
	flags.StringVar(&c.PprofListen, "pprof-listen", "", "a loopback `ADDRESS` for profiles, as in 127.0.0.1:6060 (default none)")
	flags.BoolVar(&c.Insecure, "insecure", false, "serve everybody who reaches a listener without authentication; with --token-file, --oidc-issuer or --client-ca that is gRPC alone, and REST asks who somebody is as ever")
	flags.StringVar(&c.ReadyFile, "ready-file", "", "a `FILE` that gets the addresses, as JSON, once the server is ready")
}

// keptFlags adds those that say where things are kept.
func keptFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.DataDir, "data-dir", "./signpost-data", "the `DIR` of the embedded store and of generated keys")
	flags.StringVar(&c.MongoURI, "mongo-uri", "", "the `URI` of the MongoDB that keeps the documents, instead of etcd")
	flags.StringSliceVar(&c.EtcdEndpoints, "etcd-endpoints", nil, "the `URLS` of an etcd cluster, instead of the embedded etcd")
	flags.StringVar(&c.EtcdUser, "etcd-user", "", "the `NAME` that signs in to that etcd")
	flags.StringVar(&c.EtcdPasswordFile, "etcd-password-file", "", "the `FILE` with the password of --etcd-user")
	flags.StringVar(&c.EtcdCAFile, "etcd-ca-file", "", "the `FILE` with the CA certificates of that etcd, in PEM (default those of the system)")
	flags.StringVar(&c.EtcdCertFile, "etcd-cert-file", "", "the `FILE` with the certificate to show to that etcd, in PEM")
	flags.StringVar(&c.EtcdKeyFile, "etcd-key-file", "", "the `FILE` with the key of --etcd-cert-file, in PEM")
	flags.StringVar(&c.SecretKeyFile, "secret-key-file", "", "the `FILE` with the key that encrypts secrets at rest (default secret.key in --data-dir, generated)")
	flags.StringVar(&c.OldSecretKeyFile, "old-secret-key-file", "", "the `FILE` with the key before that one, while what it has encrypted is encrypted anew")
	flags.StringSliceVar(&c.LostSecretKeys, "lost-secret-key", nil, "the `IDS` of keys that are lost for good: start without what they have encrypted")
	flags.DurationVar(&c.HistoryAge, "history-age", historyAge, "the `TIME` after which events go; 0 keeps them")
	flags.IntVar(&c.HistoryCount, "history-count", historyCount, "the `NUMBER` of events that are kept of each project and cluster provider; 0 keeps all")
}

// clusterFlags adds those that say what is beyond: EMCO, clusters, images, DNS.
func clusterFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.EMCOOrchestrator, "emco-orchestrator", "", "the `URL` of EMCO's orchestrator, where projects, composite apps and deployment intent groups are read")
	flags.StringVar(&c.EMCODCM, "emco-dcm", "", "the `URL` of EMCO's DCM, where logical clouds are read")
	flags.StringVar(&c.EMCOCLM, "emco-clm", "", "the `URL` of EMCO's CLM, where clusters are read")
	flags.StringSliceVar(&c.EMCONamespaces, "emco-namespaces", release.DefaultEMCONamespaces(), "the `NAMESPACES` in which names of EMCO's app contexts are published and Pods get their DNS settings: names, or beginnings with a trailing *; platform namespaces by their names only")
	flags.StringVar(&c.RsyncEndpoint, "rsync-endpoint", "", "the `HOST:PORT` of EMCO's rsync, which puts objects into clusters instead of Signpost")
	flags.IntVar(&c.ClusterMemory, "cluster-memory", clusterMemory, "how many `MIB` of memory may be kept of one cluster's answers; what is beyond is not known")
	flags.StringVar(&c.DirectoryRoot, "directory-root", "", "the `DIR` that holds the directory clusters (default clusters in --data-dir)")
	flags.BoolVar(&c.SharedDirectories, "shared-directory-root", false, "all replicas have the same --directory-root, as on a shared file system; else several refuse directory clusters")
	flags.StringVar(&c.ControllerCluster, "controller-cluster", "", "the `PROVIDER+CLUSTER` where external-dns runs when nothing nearer says so")
	flags.StringSliceVar(&c.AllowedImages, "allowed-images", nil, "the `PREFIXES` of the images that may be used (default those of external-dns, CoreDNS and Signpost)")
	flags.StringVar(&c.ImageRegistry, "image-registry", "", "the `HOST` that default images come from, instead of their own")
	flags.BoolVar(&c.AllowLocalVerify, "allow-local-verify", false, "ask authoritative DNS servers at loopback and link-local addresses, too")
	flags.StringVar(&c.DNSBinary, "dns-binary", "", "the `FILE` of signpost-dns, which lints Corefiles (default beside signpost, else on PATH)")
}

// accessFlags adds those that say who may do what, and how much of it.
func accessFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.TokenFile, "token-file", "", "a `FILE` with a line TOKEN,SUBJECT,ROLE[,PROJECT] for each token")
	flags.StringVar(&c.PolicyFile, "policy-file", "", "a YAML `FILE` that grants roles to subjects and groups of --oidc-issuer and of certificates")
	flags.StringVar(&c.OIDC.Issuer, "oidc-issuer", "", "the `URL` of the OpenID Connect issuer whose tokens are taken, too; takes an --oidc-audience")
	flags.StringSliceVar(&c.OIDC.Audiences, "oidc-audience", nil, "the `NAMES` of Signpost at --oidc-issuer; a token has to have one of them in aud")
	flags.StringSliceVar(&c.OIDC.Algorithms, "oidc-algorithms", nil, "the `ALGORITHMS` by which its tokens may be signed (default "+strings.Join(access.DefaultAlgorithms(), ",")+")")
	flags.StringVar(&c.OIDC.CAFile, "oidc-ca-file", "", "the `FILE` with the CA certificates of that issuer, in PEM (default those of the system)")
	flags.StringVar(&c.OIDC.SubjectClaim, "oidc-subject-claim", "sub", "the `CLAIM` that names the subject")
	flags.StringVar(&c.OIDC.GroupsClaim, "oidc-groups-claim", "groups", "the `CLAIM` with its groups")
	flags.StringVar(&c.OIDC.RolesClaim, "oidc-roles-claim", "roles", "the `CLAIM` with its roles, as ROLE or PROJECT:ROLE")
	flags.BoolVar(&c.RequireDomains, "require-domains", false, "publish names only in domains that are granted to their project (spec.domains)")
	flags.IntVar(&c.MaxRecords, "max-records", maxRecords, "the `NUMBER` of DNS update records that a project may have whose spec.quotas does not say; 0 for no limit")
	flags.IntVar(&c.MaxNames, "max-names", maxNames, "the `NUMBER` of names that such a project may publish; 0 for no limit")
	flags.IntVar(&c.MaxExternalDNS, "max-external-dns", maxExternalDNS, "the `NUMBER` of external-dns that such a project may have run; 0 for no limit")
	flags.IntVar(&c.MaxObjects, "max-objects", maxObjects, "the `NUMBER` of objects that such a project may have in clusters, each counted on every cluster that has it; 0 for no limit")
	flags.IntVar(&c.MaxDocuments, "max-documents", maxDocuments, "the `NUMBER` of documents that such a project may have; 0 for no limit")
	flags.Int64Var(&c.MaxBytes, "max-bytes", maxBytes, "the `NUMBER` of bytes that these may have, and that it may write within ten minutes; 0 for no limit")
	flags.IntVar(&c.RateLimit, "rate-limit", rateLimit, "the `NUMBER` of requests that each subject may make in a second, with ten times as many at once; 0 for no limit")
	flags.IntVar(&c.MaxConnections, "max-connections", maxConnections, "the `NUMBER` of connections of the REST listener at once, gRPC has an eighth of it; never more than a quarter of the descriptors; 0 for that quarter")
}

// watchFlags adds those that say what is told of the work.
func watchFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.LogLevel, "log-level", "info", "the `LEVEL`: debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", "text", "the `FORMAT`: text or json")
	flags.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "the `URL` to which traces are exported by OTLP over gRPC, as in http://127.0.0.1:4317 (default none are)")
	flags.Float64Var(&c.TraceRatio, "trace-ratio", 1, "the `SHARE` of the traces beginning here that is recorded, from 0 to 1; callers who send a traceparent decide for theirs")
}
