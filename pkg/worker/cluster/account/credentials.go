package account

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Credentials are what a kubeconfig shows to an API server.
type Credentials struct {
	Issued, Expires time.Time // zero: not known, or never
	Namespace, Name string    // of the ServiceAccount whose token it is; empty: it is none
}

// CredentialsOf reads the credentials of a connection, and trusts them: nobody decides
// anything by them but when to renew them.
func CredentialsOf(config *rest.Config) Credentials {
	if config.BearerToken != "" {
		return ofToken(config.BearerToken)
	}
	block, _ := pem.Decode(config.CertData)
	if block == nil {
		return Credentials{}
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Credentials{}
	}
	return Credentials{Issued: certificate.NotBefore.UTC(), Expires: certificate.NotAfter.UTC()}
}

// ofToken reads the claims that API servers write into tokens of ServiceAccounts. Other
// tokens tell nothing, or when they end.
func ofToken(token string) Credentials {
	parts := strings.Split(token, ".")
	const segments = 3
	if len(parts) != segments {
		return Credentials{}
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return Credentials{}
	}
	var claims struct {
		Issued     float64 `json:"iat"`
		Expires    float64 `json:"exp"`
		Kubernetes struct {
			Namespace      string `json:"namespace"`
			ServiceAccount struct {
				Name string `json:"name"`
			} `json:"serviceaccount"`
		} `json:"kubernetes.io"`
	}
	if json.Unmarshal(raw, &claims) != nil || claims.Expires <= 0 {
		return Credentials{}
	}
	at := func(seconds float64) time.Time { return time.Unix(int64(seconds), 0).UTC() }
	return Credentials{
		Issued: at(claims.Issued), Expires: at(claims.Expires),
		Namespace: claims.Kubernetes.Namespace, Name: claims.Kubernetes.ServiceAccount.Name,
	}
}

// Renewable tells whether an account can get new credentials for itself.
func (c Credentials) Renewable() bool {
	return c.Name != "" && c.Namespace != "" && !c.Expires.IsZero()
}

// Due tells whether it is time to renew the credentials: in the second half of their life.
func (c Credentials) Due(now time.Time) bool {
	return c.Renewable() && now.Sub(c.Issued) >= c.Expires.Sub(c.Issued)/2
}

// WithToken is a kubeconfig whose current user shows another token.
func WithToken(kubeconfig []byte, token Token) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil || config.AuthInfos[current.AuthInfo] == nil {
		return nil, fmt.Errorf("the kubeconfig has no user in its context %q", config.CurrentContext)
	}
	config.AuthInfos[current.AuthInfo].Token = token.Value
	return clientcmd.Write(*config)
}
