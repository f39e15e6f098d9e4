// Package account makes Signpost's account in a cluster by the kubeconfig of somebody who
// may, and gets tokens and kubeconfigs for it.
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

// fieldManager owns the fields of the account and its roles.
const fieldManager = "signpost-connect"

// TokenLasts is for how long a token is asked for. An API server may give a shorter one.
const TokenLasts = 30 * 24 * time.Hour

// Cluster is a cluster that somebody reaches by a context of a kubeconfig.
type Cluster struct {
	config *rest.Config
}

// Token is a token of Signpost's account.
type Token struct {
	Value   string
	Expires time.Time
}

// Open reads a context of a kubeconfig: of the file, else of the files that kubectl would
// read. It connects to nothing.
func Open(file, context string) (*Cluster, error) {
	loading := clientcmd.NewDefaultClientConfigLoadingRules()
	loading.ExplicitPath = file
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loading, &clientcmd.ConfigOverrides{CurrentContext: context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	if config.Insecure {
		return nil, fmt.Errorf("context %q does not verify the API server's certificate; give the cluster certificate-authority-data instead of insecure-skip-tls-verify", context)
	}
	config.Timeout = cluster.RequestDeadline
	config.UserAgent, config.ContentType = fieldManager, "application/json"
	config.WarningHandler = rest.NoWarnings{}
	return &Cluster{config: config}, nil
}

// Server is the URL of the API server.
func (c *Cluster) Server() string { return c.config.Host }

// Apply applies the objects of a manifest, and returns them in words, as in
// "namespaces signpost".
func (c *Cluster) Apply(ctx context.Context, manifest []byte) ([]string, error) {
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return nil, err
	}
	var applied []string
	for text := range strings.SplitSeq(string(manifest), "\n---\n") {
		raw, err := safeyaml.ToJSON([]byte(text))
		if err != nil {
			return applied, err
		}
		var o unstructured.Unstructured
		if err := o.UnmarshalJSON(raw); err != nil {
			return applied, err
		}
		kind := o.GroupVersionKind()
		known, _ := cluster.Lookup(cluster.Kind{Group: kind.Group, Kind: kind.Kind})
		at := client.Resource(schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: known.Plural}).Namespace(o.GetNamespace())
		force := true
		if _, err := at.Patch(ctx, o.GetName(), types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: fieldManager, Force: &force}); err != nil {
			return applied, fmt.Errorf("apply %s %s: %w", known.Plural, o.GetName(), cluster.Classify(err, cluster.Applying))
		}
		applied = append(applied, known.Plural+" "+o.GetName())
	}
	return applied, nil
}

// Token gets a token of Signpost's account.
func (c *Cluster) Token(ctx context.Context) (Token, error) {
	client, err := coreclient.NewForConfig(c.config)
	if err != nil {
		return Token{}, err
	}
	return Request(ctx, client, rights.Account, rights.Account, TokenLasts)
}

// Request gets a token of a ServiceAccount that lasts no longer than TokenLasts.
func Request(ctx context.Context, client coreclient.ServiceAccountsGetter, namespace, name string, lasts time.Duration) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	seconds := int64(min(lasts, TokenLasts).Seconds())
	answer, err := client.ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return Token{}, fmt.Errorf("get a token of ServiceAccount %s/%s: %w", namespace, name, cluster.Classify(err, cluster.Creating))
	}
	if answer.Status.Token == "" {
		return Token{}, errors.New("the API server gave an empty token")
	}
	return Token{Value: answer.Status.Token, Expires: answer.Status.ExpirationTimestamp.UTC()}, nil
}

// Kubeconfig writes a kubeconfig with a token, for a server that clients reach at another
// URL than this; empty: at the same.
func (c *Cluster) Kubeconfig(server string, token Token) ([]byte, error) {
	authority := c.config.CAData
	if len(authority) == 0 && c.config.CAFile != "" {
		var err error
		if authority, err = os.ReadFile(c.config.CAFile); err != nil {
			return nil, err
		}
	}
	const name = rights.Account
	return clientcmd.Write(api.Config{
		Clusters: map[string]*api.Cluster{name: {
			Server: cmp.Or(server, c.config.Host), CertificateAuthorityData: authority, TLSServerName: c.config.ServerName,
		}},
		AuthInfos:      map[string]*api.AuthInfo{name: {Token: token.Value}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
}
