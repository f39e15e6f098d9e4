package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/publisher/guard"
)

// Check finds what cannot work together, before anything is started. Its
// errors name the flags.
func (c Config) Check() error {
	if err := c.checkAddresses(); err != nil { // before others quote them
		return err
	}
	_, emcoFault := c.emco()
	_, rsyncFault := c.rsync()
	if err := errors.Join(c.checkAccess(), c.checkSecretKey(), c.checkRole(), c.checkLimits(), c.checkEtcd(), c.checkTracing(), c.checkProfiles(), emcoFault, rsyncFault); err != nil {
		return err
	}
	if c.ControllerCluster != "" && c.controllerCluster() == nil {
		return fmt.Errorf("--controller-cluster: %q is not of the form provider+cluster", c.ControllerCluster)
	}
	for flag, rules := range map[string][]string{guard.Servers: c.PublisherServers, guard.Probes: c.ProbeTargets} {
		if _, err := guard.Parse(flag, rules); err != nil {
			return err
		}
	}
	if at := slices.IndexFunc(c.EMCONamespaces, func(text string) bool { return !grant.IsPattern(text) }); at >= 0 {
		return fmt.Errorf("--emco-namespaces: %q is not a namespace; give names such as shop, or beginnings such as team-a-*", c.EMCONamespaces[at])
	}
	if c.NameHistoryBytes < 0 {
		return fmt.Errorf("--name-history-bytes: a number must not be below 0; 0 sets no bound")
	}
	if c.HistoryAge < 0 || c.HistoryCount < 0 {
		return fmt.Errorf("--history-age and --history-count: a number must not be below 0; 0 keeps the whole history")
	}
	if c.DataDir == "" && (len(c.EtcdEndpoints) == 0 || c.DirectoryRoot == "") {
		return fmt.Errorf("--data-dir is required for the embedded etcd and for directory clusters")
	}
	return nil
}

// checkAddresses refuses addresses with a user, a password or parameters. Nothing would
// use these, and errors and logs would show them to everybody. The error does not quote
// the wrong text.
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
func (c Clusters) controllerCluster() *intent.ClusterRef {
	ref, ok := intent.ParseCluster(c.ControllerCluster)
	if !ok {
		return nil
	}
	return &ref
}
