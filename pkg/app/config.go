// Package app wires Signpost together: configuration in, running service out.
// It is the one place that knows all rooms; the program and the tests use it
// alike.
package app

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

// Config is what an operator sets. Its fields are the flags of "signpost
// serve", with their defaults in brackets.
type Config struct {
	Listen            string       // address of the HTTP listener (127.0.0.1:9018); port 0: any free one
	TLSCertFile       string       // the certificate that REST callers are shown, in PEM (plain text)
	TLSKeyFile        string       // the key of TLSCertFile
	ClientCAFile      string       // who signs the certificates by which REST callers may say who they are, in PEM (none is asked for)
	GRPCListen        string       // address of the gRPC listener (127.0.0.1:9048)
	GRPCCertFile      string       // the certificate that is shown to gRPC callers, in PEM (plain text)
	GRPCKeyFile       string       // the key of GRPCCertFile
	GRPCClientCAFile  string       // who signs the certificates that gRPC callers have to show, in PEM (none is asked for)
	DataDir           string       // where the embedded etcd and the generated secret key live (./signpost-data)
	MongoURI          string       // documents go to this MongoDB, in the database that it names (signpost); empty: to etcd
	EtcdEndpoints     []string     // an external etcd, all http:// or all https://; none: the embedded one
	EtcdUser          string       // signs in to the external etcd
	EtcdPasswordFile  string       // the password of EtcdUser
	EtcdCAFile        string       // who signs the external etcd's certificates, in PEM (those whom the system trusts)
	EtcdCertFile      string       // the certificate that is shown to the external etcd, in PEM
	EtcdKeyFile       string       // the key of EtcdCertFile
	EMCOOrchestrator  string       // the base URL of EMCO's orchestrator, which keeps projects, composite apps and deployment intent groups then
	EMCODCM           string       // the base URL of EMCO's DCM, which keeps logical clouds then
	EMCOCLM           string       // the base URL of EMCO's CLM, which keeps clusters then
	EMCONamespaces    []string     // in which EMCO's app contexts may have what names are for: names, or beginnings with a trailing * (*, default)
	RsyncEndpoint     string       // host:port of EMCO's rsync, which puts objects into clusters then; empty: Signpost does
	Role              string       // replicas.All, API or Worker (all)
	DirectoryRoot     string       // below it, directory clusters get their manifests (DataDir/clusters)
	SharedDirectories bool         // all processes have the same DirectoryRoot
	ControllerCluster string       // "provider+cluster": the home of external-dns where nothing else says
	TokenFile         string       // tokens and what they are good for; without it, OIDC and ClientCAFile everybody may do everything, on loopback
	PolicyFile        string       // what subjects of OIDC's issuer and those who show certificates may do
	SecretKeyFile     string       // the key of secrets at rest; required with external stores (DataDir/secret.key)
	Insecure          bool         // consents to serve everybody on any address; with authentication by gRPC alone
	AllowedImages     []string     // prefixes of the images that may run (the projects' own registries)
	ImageRegistry     string       // replaces the registries of default images
	AllowLocalVerify  bool         // authoritative servers may be asked at addresses of the machine itself and its links
	DNSBinary         string       // the program signpost-dns (beside the running program, else on PATH)
	RequireDomains    bool         // names are published only in domains that are granted to their project
	MaxRecords        int          // DNS update records of a project without a quota of its own (10000); 0: as many as it likes
	MaxNames          int          // names that such a project publishes (100000)
	MaxExternalDNS    int          // external-dns that it relies on (1000)
	MaxObjects        int          // objects that its releases have in clusters (20000)
	ClusterMemory     int          // MiB that may be kept of one cluster's answers (48)
	MaxDocuments      int          // documents of such a project (100000)
	MaxBytes          int64        // and bytes of these (512 MiB)
	RateLimit         int          // requests in a second that each subject may make, ten times as many at once (1000); 0: as many as it likes
	MaxConnections    int          // connections of the HTTP listener at once, never more than a quarter of the descriptors (2048); 0: that quarter
	OTLPEndpoint      string       // where traces are exported to, by OTLP over gRPC, as in http://127.0.0.1:4317; empty: nowhere
	TraceRatio        float64      // how many of the traces that begin here are recorded (1: all); those that callers begin say so themselves
	PprofListen       string       // loopback address of the listener for profiles, as in 127.0.0.1:6060; empty: none
	LogLevel          string       // debug, info, warn, error (info)
	LogFormat         string       // text or json (text)
	ReadyFile         string       // gets {"http":"…","grpc":"…"}, and "pprof" if there is one, once the server is ready
	Build             probes.Build // what the program was built from

	HistoryAge   time.Duration // events are kept for so long (90 days); 0: for ever
	HistoryCount int           // and so many of each project and cluster provider (2000); 0: all

	OIDC access.OIDC // the issuer whose tokens are taken, too (none)

	SecretKey        seal.Key // in place of SecretKeyFile; from the environment alone
	OldSecretKeyFile string   // the key before, which opens what it has sealed (none)
	LostSecretKeys   []string // ids of keys without which the server is to start (none)
}

// Check finds what cannot work together, before anything is started. Its
// errors name the flags.
func (c Config) Check() error {
	if err := c.checkAddresses(); err != nil {
		return err
	}
	if err := c.checkAccess(); err != nil {
		return err
	}
	if c.ControllerCluster != "" {
		if _, ok := intent.ParseCluster(c.ControllerCluster); !ok {
			return fmt.Errorf("--controller-cluster: %q is not of the form provider+cluster", c.ControllerCluster)
		}
	}
	if err := c.checkSecretKey(); err != nil {
		return err
	}
	if err := c.checkRole(); err != nil {
		return err
	}
	if err := c.checkLimits(); err != nil {
		return err
	}
	if err := c.checkEtcd(); err != nil {
		return err
	}
	if err := c.checkTracing(); err != nil {
		return err
	}
	if err := c.checkProfiles(); err != nil {
		return err
	}
	if _, err := c.emco(); err != nil {
		return err
	}
	if _, err := c.rsync(); err != nil {
		return err
	}
	if at := slices.IndexFunc(c.EMCONamespaces, func(text string) bool { return !grant.IsPattern(text) }); at >= 0 {
		return fmt.Errorf("--emco-namespaces: %q is no namespace; give names such as shop, or beginnings such as team-a-*", c.EMCONamespaces[at])
	}
	if c.HistoryAge < 0 || c.HistoryCount < 0 {
		return fmt.Errorf("--history-age and --history-count: give nothing below 0; with 0 the history is kept whole")
	}
	if c.DataDir == "" && (len(c.EtcdEndpoints) == 0 || c.DirectoryRoot == "") {
		return fmt.Errorf("--data-dir is required for the embedded etcd and for directory clusters")
	}
	return nil
}

// checkAddresses refuses addresses with a user, a password or parameters: nothing
// would use them, and errors and logs would tell them to everybody. What is wrong is
// not quoted.
func (c Config) checkAddresses() error {
	for _, at := range []struct {
		flag  string
		given []string
		help  string
	}{
		{"--listen", []string{c.Listen}, ""},
		{"--grpc-listen", []string{c.GRPCListen}, ""},
		{"--pprof-listen", []string{c.PprofListen}, ""},
		{"--etcd-endpoints", c.EtcdEndpoints, "; --etcd-user and --etcd-password-file are for those"},
		{"--rsync-endpoint", []string{c.RsyncEndpoint}, ""},
		{"--otlp-endpoint", []string{c.OTLPEndpoint}, ""},
		{"--image-registry", []string{c.ImageRegistry}, "; records' imagePullSecrets are for those"},
	} {
		if slices.ContainsFunc(at.given, func(address string) bool { return strings.ContainsAny(address, "@?#") }) {
			return fmt.Errorf("%s: give addresses alone, without a user, a password or parameters%s", at.flag, at.help)
		}
	}
	return nil
}

// controllerCluster is ControllerCluster in parts, nil when it is not set.
func (c Config) controllerCluster() *intent.ClusterRef {
	ref, ok := intent.ParseCluster(c.ControllerCluster)
	if !ok {
		return nil
	}
	return &ref
}
