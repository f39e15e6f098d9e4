package kubelet

import (
	"context"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tokenSeconds is how long a token is valid: longer than any test.
const tokenSeconds = 4 * 60 * 60

// refreshToken mints a token for the Deployment's ServiceAccount, at first and
// when another account of that name took its place.
func (p *pod) refreshToken(ctx context.Context, k *Kubelet) error {
	accounts := k.server.Client.CoreV1().ServiceAccounts(p.deployment.Namespace)
	account, err := accounts.Get(ctx, p.accountName(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if account.UID == p.account {
		return nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(tokenSeconds)),
	}}
	answer, err := accounts.CreateToken(ctx, account.Name, request, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(p.tokenFile(), []byte(answer.Status.Token), 0o600); err != nil {
		return err
	}
	p.account = account.UID
	return nil
}

// accountName is the ServiceAccount that the pod runs under.
func (p *pod) accountName() string {
	if name := p.deployment.Spec.Template.Spec.ServiceAccountName; name != "" {
		return name
	}
	return "default"
}

func (p *pod) tokenFile() string { return filepath.Join(p.dir, "token") }

// writeKubeconfig writes what a process inside the cluster finds by itself.
func (p *pod) writeKubeconfig(k *Kubelet) (string, error) {
	kubeconfig, err := k.server.KubeconfigWithTokenFile(p.accountName(), p.tokenFile())
	if err != nil {
		return "", err
	}
	path := filepath.Join(p.dir, "kubeconfig")
	return path, os.WriteFile(path, kubeconfig, 0o600)
}
