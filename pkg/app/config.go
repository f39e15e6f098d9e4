// Package app wires Signpost together: configuration in, running service out.
// It is the one place that knows all packages; the program and the tests use it
// alike.
package app

import (
	"time"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

// Config is what an operator sets. The fields of its parts are the flags of "signpost
// serve", with their defaults in brackets.
type Config struct {
	Listeners
	Access
	Stores
	Secrets
	EMCO
	Clusters
	DNS
	Limits
	Telemetry

	Role    string       // replicas.All, API or Worker (all)
	Build   probes.Build // what the program was built from
	Unknown []string     // variables of the environment that look like settings and are none, each with advice; the log warns of them
}

// Listeners says where Signpost listens, and which certificates it shows there.
type Listeners struct {
	Listen           string // address of the HTTP listener (127.0.0.1:9018); port 0: any free one
	TLSCertFile      string // the certificate that REST callers are shown, in PEM (plain text)
	TLSKeyFile       string // the key of TLSCertFile
	ClientCAFile     string // who signs the certificates by which REST callers may say who they are, in PEM (none is asked for)
	GRPCListen       string // address of the gRPC listener (127.0.0.1:9048)
	GRPCCertFile     string // the certificate that is shown to gRPC callers, in PEM (plain text)
	GRPCKeyFile      string // the key of GRPCCertFile
	GRPCClientCAFile string // who signs the certificates that gRPC callers have to show, in PEM (none is asked for)
	PprofListen      string // loopback address of the listener for profiles, as in 127.0.0.1:6060; empty: none
	ReadyFile        string // gets {"http":"…","grpc":"…"}, and "pprof" if there is one, once the server is ready
}

// Access says who may do what.
type Access struct {
	TokenFile  string      // tokens and what they are good for; without it, OIDC and ClientCAFile everybody may do everything, on loopback
	PolicyFile string      // what subjects of OIDC's issuer and those who show certificates may do
	OIDC       access.OIDC // the issuer whose tokens are taken, too (none)
	Console    string      // the client id of the console at OIDC's issuer; empty: users of the console paste a token
	Insecure   bool        // consents to serve everybody on any address; with authentication by gRPC alone
}

// Stores says where things are kept, and for how long.
type Stores struct {
	DataDir          string        // where the embedded etcd and the generated secret key live (./signpost-data)
	MongoURI         string        // documents go to this MongoDB, in the database that it names (signpost); empty: to etcd
	EtcdEndpoints    []string      // an external etcd, all http:// or all https://; none: the embedded one
	EtcdUser         string        // signs in to the external etcd
	EtcdPasswordFile string        // the password of EtcdUser
	EtcdCAFile       string        // who signs the external etcd's certificates, in PEM (those whom the system trusts)
	EtcdCertFile     string        // the certificate that is shown to the external etcd, in PEM
	EtcdKeyFile      string        // the key of EtcdCertFile
	HistoryAge       time.Duration // events are kept for so long (90 days); 0: for ever
	HistoryCount     int           // and so many of each project and cluster provider (2000); 0: all
	NameHistoryBytes int           // of the past of host names, of each project (16 MiB); 0: no bound
	NameHistoryLog   bool          // changes of host names go to the log, too, and to OTLPEndpoint as records
}

// Secrets has the keys of secrets at rest.
type Secrets struct {
	SecretKeyFile    string   // the key of secrets at rest; required with external stores (DataDir/secret.key)
	SecretKey        seal.Key // in place of SecretKeyFile; from the environment alone
	OldSecretKeyFile string   // the key before, which opens what it has sealed (none)
	LostSecretKeys   []string // ids of keys without which the server is to start (none)
}

// EMCO says where the services of EMCO are.
type EMCO struct {
	EMCOOrchestrator string   // the base URL of EMCO's orchestrator, which keeps projects, composite apps and deployment intent groups then
	EMCODCM          string   // the base URL of EMCO's DCM, which keeps logical clouds then
	EMCOCLM          string   // the base URL of EMCO's CLM, which keeps clusters then
	EMCONamespaces   []string // in which EMCO's app contexts may have what names are for: names, or beginnings with a trailing * (*, default)
	RsyncEndpoint    string   // host:port of EMCO's rsync, which puts objects into clusters then; empty: Signpost does
}

// Clusters says how clusters are reached.
type Clusters struct {
	DirectoryRoot     string // below it, directory clusters get their manifests (DataDir/clusters)
	SharedDirectories bool   // all processes have the same DirectoryRoot
	ControllerCluster string // "provider+cluster": the home of external-dns where nothing else says
}

// DNS says what is published, and which programs do it.
type DNS struct {
	AllowedImages    []string // prefixes of the images that may run (the projects' own registries)
	ImageRegistry    string   // replaces the registries of default images
	AllowLocalVerify bool     // authoritative servers may be asked at addresses of the machine itself and its links
	DNSBinary        string   // the program signpost-dns (beside the running program, else on PATH)
	PublisherServers []string // servers that built-in publishers may connect to, as HOST[:PORT][=PREFIX-OR-ZONE] (all public addresses)
	ProbeTargets     []string // addresses that may be probed, likewise
	RequireDomains   bool     // names are published only in domains that are granted to their project
}

// Limits bounds what projects, clusters and callers take.
type Limits struct {
	MaxRecords     int   // DNS update records of a project without a quota of its own (10000); 0: as many as it likes
	MaxNames       int   // names that such a project publishes (100000)
	MaxExternalDNS int   // external-dns that it relies on (1000)
	MaxObjects     int   // objects that its releases have in clusters (20000)
	MaxDocuments   int   // documents of such a project (100000)
	MaxBytes       int64 // and bytes of these (512 MiB)
	ClusterMemory  int   // MiB that may be kept of one cluster's answers (48)
	RateLimit      int   // requests in a second that each subject may make, ten times as many at once (1000); 0: as many as it likes
	MaxConnections int   // connections of the HTTP listener at once, never more than a quarter of the descriptors (2048); 0: that quarter
}

// Telemetry says what is logged and traced.
type Telemetry struct {
	LogLevel     string  // debug, info, warn, error (info)
	LogFormat    string  // text or json (text)
	OTLPEndpoint string  // where traces, and changes of names, are exported to, by OTLP over gRPC, as in http://127.0.0.1:4317; empty: nowhere
	TraceRatio   float64 // how many of the traces that begin here are recorded (1: all); those that callers begin say so themselves
}
