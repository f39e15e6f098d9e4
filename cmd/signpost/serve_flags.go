package main

import (
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/app"
)

// configFlag names the flag that says where the others may come from.
const configFlag = "config"

// serveFlags adds the flags of signpost serve, which fill c.
func serveFlags(flags *pflag.FlagSet, c *app.Config) {
	flags.StringVar(&c.Listen, "listen", "127.0.0.1:9018", "the `ADDRESS` of the REST API; port 0 takes a free one")
	flags.StringVar(&c.GRPCListen, "grpc-listen", "127.0.0.1:9048", "the `ADDRESS` of the gRPC services; port 0 takes a free one")
	flags.StringVar(&c.GRPCCertFile, "grpc-tls-cert", "", "the `FILE` with the certificate of the gRPC listener, in PEM (default plain text)")
	flags.StringVar(&c.GRPCKeyFile, "grpc-tls-key", "", "the `FILE` with the key of --grpc-tls-cert, in PEM")
	flags.StringVar(&c.GRPCClientCAFile, "grpc-client-ca", "", "the `FILE` with the CA certificates by which gRPC callers have to show theirs, in PEM")
	flags.StringVar(&c.DataDir, "data-dir", "./signpost-data", "the `DIR` of the embedded store and of generated keys")
	flags.StringVar(&c.MongoURI, "mongo-uri", "", "the `URI` of the MongoDB that keeps the documents, instead of etcd")
	flags.StringSliceVar(&c.EtcdEndpoints, "etcd-endpoints", nil, "the `URLS` of an etcd cluster, instead of the embedded etcd")
	flags.StringVar(&c.EtcdUser, "etcd-user", "", "the `NAME` that signs in to that etcd")
	flags.StringVar(&c.EtcdPasswordFile, "etcd-password-file", "", "the `FILE` with the password of --etcd-user")
	flags.StringVar(&c.EtcdCAFile, "etcd-ca-file", "", "the `FILE` with the CA certificates of that etcd, in PEM (default those of the system)")
	flags.StringVar(&c.EtcdCertFile, "etcd-cert-file", "", "the `FILE` with the certificate to show to that etcd, in PEM")
	flags.StringVar(&c.EtcdKeyFile, "etcd-key-file", "", "the `FILE` with the key of --etcd-cert-file, in PEM")
	flags.StringVar(&c.EMCOOrchestrator, "emco-orchestrator", "", "the `URL` of EMCO's orchestrator, where projects, composite apps and deployment intent groups are read")
	flags.StringVar(&c.EMCODCM, "emco-dcm", "", "the `URL` of EMCO's DCM, where logical clouds are read")
	flags.StringVar(&c.EMCOCLM, "emco-clm", "", "the `URL` of EMCO's CLM, where clusters are read")
	flags.StringVar(&c.RsyncEndpoint, "rsync-endpoint", "", "the `HOST:PORT` of EMCO's rsync, which puts objects into clusters instead of Signpost")
	flags.StringVar(&c.DirectoryRoot, "directory-root", "", "the `DIR` that holds the directory clusters (default clusters in --data-dir)")
	flags.StringVar(&c.ControllerCluster, "controller-cluster", "", "the `PROVIDER+CLUSTER` where external-dns runs when nothing nearer says so")
	flags.StringVar(&c.TokenFile, "token-file", "", "a `FILE` with a line TOKEN,SUBJECT,ROLE[,PROJECT] for each token")
	flags.StringVar(&c.SecretKeyFile, "secret-key-file", "", "the `FILE` with the key that encrypts secrets at rest (default secret.key in --data-dir, generated)")
	flags.BoolVar(&c.Insecure, "insecure", false, "serve everybody who reaches a listener without authentication; with --token-file that is gRPC alone, and REST asks for tokens as ever")
	flags.StringSliceVar(&c.AllowedImages, "allowed-images", nil, "the `PREFIXES` of the images that may be used (default those of external-dns, CoreDNS and Signpost)")
	flags.StringVar(&c.ImageRegistry, "image-registry", "", "the `HOST` that default images come from, instead of their own")
	flags.BoolVar(&c.AllowLocalVerify, "allow-local-verify", false, "ask authoritative DNS servers at loopback and link-local addresses, too")
	flags.StringVar(&c.DNSBinary, "dns-binary", "", "the `FILE` of signpost-dns, which lints Corefiles (default beside signpost, else on PATH)")
	flags.StringVar(&c.LogLevel, "log-level", "info", "the `LEVEL`: debug, info, warn or error")
	flags.StringVar(&c.LogFormat, "log-format", "text", "the `FORMAT`: text or json")
	flags.StringVar(&c.ReadyFile, "ready-file", "", "a `FILE` that gets the addresses, as JSON, once the server is ready")
	flags.String(configFlag, "", "a YAML `FILE` with flags")
}
