package kube

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is a kubeconfig for one of the users, all data inline.
func (s *Server) Kubeconfig(user string) ([]byte, error) {
	return s.kubeconfig(user, &clientcmdapi.AuthInfo{Token: s.tokens[user]})
}

// KubeconfigWithTokenFile is a kubeconfig whose token is read from a file, as
// often as its reader likes.
func (s *Server) KubeconfigWithTokenFile(user, tokenFile string) ([]byte, error) {
	return s.kubeconfig(user, &clientcmdapi.AuthInfo{TokenFile: tokenFile})
}

func (s *Server) kubeconfig(user string, auth *clientcmdapi.AuthInfo) ([]byte, error) {
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{s.Name: {Server: s.URL, CertificateAuthorityData: s.ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: auth},
		Contexts:       map[string]*clientcmdapi.Context{s.Name: {Cluster: s.Name, AuthInfo: user}},
		CurrentContext: s.Name,
	})
}
