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

// The defaults of the flags.
const (
	historyAge   = 90 * 24 * time.Hour
	historyCount = 2000 // of each project and cluster provider

	nameHistoryBytes = 16 << 20 // of each project
	maxRecords       = 10_000
	maxNames         = 100_000
	maxExternalDNS   = 1000
	maxObjects       = 20_000
	rateLimit        = 1000 // requests of a subject in a second
	maxDocuments     = 100_000
	maxBytes         = 512 << 20
	maxConnections   = 2048 // of the REST listener at once
	clusterMemory    = 48   // MiB
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
	flags.StringVar(&c.Role, "role", "all", "the `ROLE`: api accepts requests, worker reconciles and serves clusters, all does both")
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:9018", "the `ADDRESS` of the REST API; port 0 chooses a free port")
	flags.StringVar(&c.TLSCertFile, "tls-cert", "", "the `FILE` with the certificate of the REST API, in PEM (default plain text)")
	flags.StringVar(&c.TLSKeyFile, "tls-key", "", "the `FILE` with the key of --tls-cert, in PEM")
	flags.StringVar(&c.ClientCAFile, "client-ca", "", "the `FILE` with the CA certificates of REST clients, which may present a certificate instead of a token, in PEM")
	flags.StringVar(&c.GRPCListen, "grpc-listen", "127.0.0.1:9048", "the `ADDRESS` of the gRPC services; port 0 chooses a free port")
	flags.StringVar(&c.GRPCCertFile, "grpc-tls-cert", "", "the `FILE` with the certificate of the gRPC listener, in PEM (default plain text)")
	flags.StringVar(&c.GRPCKeyFile, "grpc-tls-key", "", "the `FILE` with the key of --grpc-tls-cert, in PEM")
	flags.StringVar(&c.GRPCClientCAFile, "grpc-client-ca", "", "the `FILE` with the CA certificates of gRPC clients, which must present a certificate, in PEM")
	flags.StringVar(&c.PprofListen, "pprof-listen", "", "a loopback `ADDRESS` for pprof profiles, as in 127.0.0.1:6060 (default none)")
	flags.BoolVar(&c.Insecure, "insecure", false, "serve clients without authentication on addresses other than loopback; with --token-file, --oidc-issuer or --client-ca it applies to gRPC only")
	flags.StringVar(&c.ReadyFile, "ready-file", "", "a `FILE` that gets the addresses as JSON when the server is ready")
}

// keptFlags adds those that say where things are kept.
func keptFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.DataDir, "data-dir", "./signpost-data", "the `DIR` of the embedded store and of generated keys")
	flags.StringVar(&c.MongoURI, "mongo-uri", "", "the `URI` of the MongoDB that keeps the documents, instead of etcd")
	flags.StringSliceVar(&c.EtcdEndpoints, "etcd-endpoints", nil, "the `URLS` of an external etcd, instead of the embedded etcd")
	flags.StringVar(&c.EtcdUser, "etcd-user", "", "the `NAME` of the user of the external etcd")
	flags.StringVar(&c.EtcdPasswordFile, "etcd-password-file", "", "the `FILE` with the password of --etcd-user")
	flags.StringVar(&c.EtcdCAFile, "etcd-ca-file", "", "the `FILE` with the CA certificates of the external etcd, in PEM (default those of the system)")
	flags.StringVar(&c.EtcdCertFile, "etcd-cert-file", "", "the `FILE` with the client certificate for the external etcd, in PEM")
	flags.StringVar(&c.EtcdKeyFile, "etcd-key-file", "", "the `FILE` with the key of --etcd-cert-file, in PEM")
	flags.StringVar(&c.SecretKeyFile, "secret-key-file", "", "the `FILE` with the key that encrypts secrets at rest (default secret.key in --data-dir, generated)")
	flags.StringVar(&c.OldSecretKeyFile, "old-secret-key-file", "", "the `FILE` with the previous key, while values are encrypted again with the new one")
	flags.StringSliceVar(&c.LostSecretKeys, "lost-secret-key", nil, "the `IDS` of keys that are lost: start without the values that they encrypted")
	flags.DurationVar(&c.HistoryAge, "history-age", historyAge, "the `TIME` after which events are deleted; 0 keeps them")
	flags.IntVar(&c.HistoryCount, "history-count", historyCount, "the `NUMBER` of events to keep for each project and cluster provider; 0 keeps all")
	flags.IntVar(&c.NameHistoryBytes, "name-history-bytes", nameHistoryBytes, "the `BYTES` of the history of host names to keep for each project; 0 sets no bound")
	flags.BoolVar(&c.NameHistoryLog, "name-history-log", false, "also write each change of a host name to the log, and to --otlp-endpoint as a record")
}

// clusterFlags adds those that say what is beyond: EMCO, clusters, images, DNS.
func clusterFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.EMCOOrchestrator, "emco-orchestrator", "", "the `URL` of EMCO's orchestrator, where projects, composite apps and deployment intent groups are read")
	flags.StringVar(&c.EMCODCM, "emco-dcm", "", "the `URL` of EMCO's DCM, where logical clouds are read")
	flags.StringVar(&c.EMCOCLM, "emco-clm", "", "the `URL` of EMCO's CLM, where clusters are read")
	flags.StringSliceVar(&c.EMCONamespaces, "emco-namespaces", release.DefaultOrchestratedNamespaces(), "the `NAMESPACES` of EMCO's app contexts with names and DNS settings for Pods: names, or prefixes with a trailing *; platform namespaces need their full names")
	flags.StringVar(&c.RsyncEndpoint, "rsync-endpoint", "", "the `HOST:PORT` of EMCO's rsync, which applies objects to clusters instead of Signpost")
	flags.IntVar(&c.ClusterMemory, "cluster-memory", clusterMemory, "the `MIB` of memory for the answers of each cluster; what does not fit is shown as unknown")
	flags.StringVar(&c.DirectoryRoot, "directory-root", "", "the `DIR` that holds the directory clusters (default clusters in --data-dir)")
	flags.BoolVar(&c.SharedDirectories, "shared-directory-root", false, "all replicas share --directory-root, as on a network file system; without it, several replicas refuse directory clusters")
	flags.StringVar(&c.ControllerCluster, "controller-cluster", "", "the `PROVIDER+CLUSTER` where external-dns runs if neither provider nor logical cloud names a cluster")
	flags.StringSliceVar(&c.AllowedImages, "allowed-images", nil, "the `PREFIXES` of the images that may be used (default external-dns, CoreDNS and Signpost)")
	flags.StringVar(&c.ImageRegistry, "image-registry", "", "the `HOST` of the registry for default images")
	flags.BoolVar(&c.AllowLocalVerify, "allow-local-verify", false, "also ask authoritative DNS servers at loopback and link-local addresses")
	flags.StringSliceVar(&c.ProbeTargets, "probe-targets", nil, "the `ADDRESSES` that may be probed, each as HOST[:PORT] with an address or a CIDR (default all public addresses)")
	flags.StringSliceVar(&c.PublisherServers, "publisher-servers", nil, "the `SERVERS` that built-in publishers may connect to, each as HOST[:PORT][=PREFIX-OR-ZONE] with a name, an address or a CIDR (default all public addresses)")
	flags.StringVar(&c.DNSBinary, "dns-binary", "", "the `FILE` of signpost-dns, which checks Corefiles (default beside signpost, else on PATH)")
}

// accessFlags adds those that say who may do what, and how much of it.
func accessFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.TokenFile, "token-file", "", "a `FILE` with a line TOKEN,SUBJECT,ROLE[,PROJECT] for each token")
	flags.StringVar(&c.PolicyFile, "policy-file", "", "a YAML `FILE` that grants roles to subjects and groups of --oidc-issuer and of certificates")
	flags.StringVar(&c.OIDC.Issuer, "oidc-issuer", "", "the `URL` of an OpenID Connect issuer whose tokens are accepted; needs --oidc-audience")
	flags.StringSliceVar(&c.OIDC.Audiences, "oidc-audience", nil, "the `NAMES` of Signpost at --oidc-issuer; the aud of a token must contain one of them")
	flags.StringSliceVar(&c.OIDC.Algorithms, "oidc-algorithms", nil, "the `ALGORITHMS` that may sign tokens of --oidc-issuer (default "+strings.Join(access.DefaultAlgorithms(), ",")+")")
	flags.StringVar(&c.OIDC.CAFile, "oidc-ca-file", "", "the `FILE` with the CA certificates of --oidc-issuer, in PEM (default those of the system)")
	flags.StringVar(&c.OIDC.SubjectClaim, "oidc-subject-claim", "sub", "the `CLAIM` of tokens that names the subject")
	flags.StringVar(&c.OIDC.GroupsClaim, "oidc-groups-claim", "groups", "the `CLAIM` of tokens with the subject's groups")
	flags.StringVar(&c.OIDC.RolesClaim, "oidc-roles-claim", "roles", "the `CLAIM` of tokens with the subject's roles, as ROLE or PROJECT:ROLE")
	flags.StringVar(&c.Console, "console-client-id", "", "the client `ID` of the web console at --oidc-issuer, a public client with PKCE (default users paste a token)")
	flags.BoolVar(&c.RequireDomains, "require-domains", false, "publish names only in domains that are granted to their project (spec.domains)")
	flags.IntVar(&c.MaxRecords, "max-records", maxRecords, "the `NUMBER` of providers (DNS update records) of a project without a quota of its own (spec.quotas); 0 for no limit")
	flags.IntVar(&c.MaxNames, "max-names", maxNames, "the `NUMBER` of names of a project without a quota of its own; 0 for no limit")
	flags.IntVar(&c.MaxExternalDNS, "max-external-dns", maxExternalDNS, "the `NUMBER` of external-dns instances of a project without a quota of its own; 0 for no limit")
	flags.IntVar(&c.MaxObjects, "max-objects", maxObjects, "the `NUMBER` of objects in clusters of a project without a quota of its own, counted on every cluster that has them; 0 for no limit")
	flags.IntVar(&c.MaxDocuments, "max-documents", maxDocuments, "the `NUMBER` of documents of a project without a quota of its own; 0 for no limit")
	flags.Int64Var(&c.MaxBytes, "max-bytes", maxBytes, "the `NUMBER` of bytes of the documents of a project without a quota of its own, and of its writes within ten minutes; 0 for no limit")
	flags.IntVar(&c.RateLimit, "rate-limit", rateLimit, "the `NUMBER` of requests per second of each subject, with bursts of ten times as many; 0 for no limit")
	flags.IntVar(&c.MaxConnections, "max-connections", maxConnections, "the `NUMBER` of connections of the REST listener, at most a quarter of the file descriptors; 0 for that quarter (gRPC may have an eighth of this number)")
}

// watchFlags adds those that say what is told of the work.
func watchFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.LogLevel, "log-level", "info", "the `LEVEL`: debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", "text", "the `FORMAT`: text or json")
	flags.StringVar(&c.OTLPEndpoint, "otlp-endpoint", "", "the `URL` that gets traces by OTLP over gRPC, as in http://127.0.0.1:4317 (default none)")
	flags.Float64Var(&c.TraceRatio, "trace-ratio", 1, "the `SHARE` of new traces that is recorded, from 0 to 1; a caller with a traceparent decides for its own")
}
