package kubeapi

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/signpost-dns/signpost/pkg/domain/redact"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// ParseKubeconfig reads a kubeconfig (YAML or JSON) and answers how to reach the cluster
// of its current context. It refuses settings that would run a program, read a file of
// Signpost's machine, or go through a proxy, and names the field.
func ParseKubeconfig(raw []byte) (*rest.Config, error) {
	if err := safeyaml.Check(raw); err != nil {
		return nil, fmt.Errorf("not a kubeconfig: %s", redact.YAML(raw, err))
	}
	config, err := clientcmd.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("not a kubeconfig: %s", redact.YAML(raw, err))
	}
	if err := refuseReferences(config); err != nil {
		return nil, err
	}
	if err := checkContext(config); err != nil {
		return nil, err
	}
	rc, err := clientcmd.NewNonInteractiveClientConfig(*config, config.CurrentContext, nil, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("not a usable kubeconfig: %w", err)
	}
	return rc, nil
}

// Source says in words where the cluster of a connection is found: its server,
// and the certificate authority that it is known by.
func Source(config *rest.Config) string {
	server := config.Host
	if at, err := url.Parse(config.Host); err == nil {
		server = at.Redacted()
	}
	if len(config.CAData) == 0 {
		return server
	}
	const enough = 8 // bytes, to tell authorities apart
	sum := sha256.Sum256(config.CAData)
	return fmt.Sprintf("%s (CA sha256:%x)", server, sum[:enough])
}

func refuseReferences(config *api.Config) error {
	for _, name := range slices.Sorted(maps.Keys(config.AuthInfos)) {
		user := config.AuthInfos[name]
		for _, field := range []struct {
			name, why string
			set       bool
		}{
			{"exec", "would run a program here: use a token or client-certificate-data", user.Exec != nil},
			{"auth-provider", "is gone from Kubernetes: use a token or client-certificate-data", user.AuthProvider != nil},
			{"client-certificate", "names a file: use client-certificate-data", user.ClientCertificate != ""},
			{"client-key", "names a file: use client-key-data", user.ClientKey != ""},
			{"tokenFile", "names a file: use token", user.TokenFile != ""},
		} {
			if field.set {
				return fmt.Errorf("users[%s].user.%s %s", name, field.name, field.why)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(config.Clusters)) {
		if config.Clusters[name].CertificateAuthority != "" {
			return fmt.Errorf("clusters[%s].cluster.certificate-authority names a file: use certificate-authority-data", name)
		}
		if config.Clusters[name].ProxyURL != "" {
			return fmt.Errorf("clusters[%s].cluster.proxy-url would send Signpost's requests to another server: remove it, and set HTTPS_PROXY for the server if there is a proxy", name)
		}
	}
	return nil
}

func checkContext(config *api.Config) error {
	if config.CurrentContext == "" {
		names := slices.Sorted(maps.Keys(config.Contexts))
		return fmt.Errorf("current-context is missing: name one of the contexts (%s)", strings.Join(names, ", "))
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return fmt.Errorf("current-context names %q, which contexts does not hold", config.CurrentContext)
	}
	at := config.Clusters[current.Cluster]
	if at == nil {
		return fmt.Errorf("contexts[%s].context.cluster names %q, which clusters does not hold", config.CurrentContext, current.Cluster)
	}
	if current.AuthInfo != "" && config.AuthInfos[current.AuthInfo] == nil {
		return fmt.Errorf("contexts[%s].context.user names %q, which users does not hold", config.CurrentContext, current.AuthInfo)
	}
	server, err := url.Parse(at.Server)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" {
		return fmt.Errorf("clusters[%s].cluster.server is not a URL of the form https://host:port", current.Cluster)
	}
	return nil
}
