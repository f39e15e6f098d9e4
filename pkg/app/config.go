// Package app wires Signpost together: configuration in, running service out.
// It is the one place that knows all rooms; the program and the tests use it
// alike.
package app

import (
	"fmt"
	"net"
	"strings"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// Config is what an operator sets. Its fields are the flags of "signpost
// serve", with their defaults in brackets.
type Config struct {
	Listen            string    // address of the HTTP listener (127.0.0.1:9018); port 0: any free one
	GRPCListen        string    // address of the gRPC listener (127.0.0.1:9048)
	GRPCCertFile      string    // the certificate that is shown to gRPC callers, in PEM (plain text)
	GRPCKeyFile       string    // the key of GRPCCertFile
	GRPCClientCAFile  string    // who signs the certificates that gRPC callers have to show, in PEM (none is asked for)
	DataDir           string    // where the embedded etcd and the generated secret key live (./signpost-data)
	MongoURI          string    // documents go to this MongoDB, in the database that it names (signpost); empty: to etcd
	EtcdEndpoints     []string  // an external etcd, all http:// or all https://; none: the embedded one
	EtcdUser          string    // signs in to the external etcd
	EtcdPasswordFile  string    // the password of EtcdUser
	EtcdCAFile        string    // who signs the external etcd's certificates, in PEM (those whom the system trusts)
	EtcdCertFile      string    // the certificate that is shown to the external etcd, in PEM
	EtcdKeyFile       string    // the key of EtcdCertFile
	EMCOOrchestrator  string    // the base URL of EMCO's orchestrator, which keeps projects, composite apps and deployment intent groups then
	EMCODCM           string    // the base URL of EMCO's DCM, which keeps logical clouds then
	EMCOCLM           string    // the base URL of EMCO's CLM, which keeps clusters then
	RsyncEndpoint     string    // host:port of EMCO's rsync, which puts objects into clusters then; empty: Signpost does
	DirectoryRoot     string    // below it, directory clusters get their manifests (DataDir/clusters)
	ControllerCluster string    // "provider+cluster": the home of external-dns where nothing else says
	TokenFile         string    // who may do what; empty: everybody may do everything, on loopback
	SecretKeyFile     string    // the key of secrets at rest; required with external stores (DataDir/secret.key)
	Insecure          bool      // consents to serve everybody on any address; with TokenFile by gRPC alone
	AllowedImages     []string  // prefixes of the images that may run (the projects' own registries)
	ImageRegistry     string    // replaces the registries of default images
	AllowLocalVerify  bool      // authoritative servers may be asked at addresses of the machine itself and its links
	DNSBinary         string    // the program signpost-dns (beside the running program, else on PATH)
	LogLevel          string    // debug, info, warn, error (info)
	LogFormat         string    // text or json (text)
	ReadyFile         string    // gets {"http":"…","grpc":"…"} once the server is ready
	Build             api.Build // what the program was built from
}

// Check finds what cannot work together, before anything is started. Its
// errors name the flags.
func (c Config) Check() error {
	if err := c.checkAddress("--listen", c.Listen, c.TokenFile != ""); err != nil {
		return err
	}
	if err := c.checkGRPC(); err != nil {
		return err
	}
	if c.ControllerCluster != "" {
		if _, ok := release.ParseCluster(c.ControllerCluster); !ok {
			return fmt.Errorf("--controller-cluster: %q is not of the form provider+cluster", c.ControllerCluster)
		}
	}
	if (c.MongoURI != "" || len(c.EtcdEndpoints) > 0) && c.SecretKeyFile == "" {
		return fmt.Errorf("--secret-key-file is required with --mongo-uri or --etcd-endpoints: a key that was generated here would be lost to other replicas")
	}
	if err := c.checkEtcd(); err != nil {
		return err
	}
	if _, err := c.emco(); err != nil {
		return err
	}
	if _, err := c.rsync(); err != nil {
		return err
	}
	if c.DataDir == "" && (len(c.EtcdEndpoints) == 0 || c.DirectoryRoot == "") {
		return fmt.Errorf("--data-dir is required for the embedded etcd and for directory clusters")
	}
	return nil
}

// checkAddress keeps a server without authentication on loopback.
func (c Config) checkAddress(flag, address string, authenticates bool) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%s: %q is not of the form host:port", flag, address)
	}
	if authenticates || c.Insecure || onLoopback(address) {
		return nil
	}
	return fmt.Errorf("%s %s: without authentication Signpost listens on loopback only; give a --token-file, or consent to serve everybody with --insecure", flag, address)
}

// onLoopback tells whether an address host:port is for this machine alone.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// controllerCluster is ControllerCluster in parts, nil when it is not set.
func (c Config) controllerCluster() *intent.ClusterRef {
	ref, ok := release.ParseCluster(c.ControllerCluster)
	if !ok {
		return nil
	}
	return &ref
}
