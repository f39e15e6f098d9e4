package kube

import "net"

// auditPolicy notes every write, by whom and of what, without bodies. Of Signpost it also
// notes reads, and which rights it hands out by Roles.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    users: [` + Signpost + `]
    verbs: [create, patch]
    omitStages: [ResponseStarted]
    resources: [{group: rbac.authorization.k8s.io}]
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
    omitStages: [ResponseStarted]
  - level: Metadata
    users: [` + Signpost + `]
    verbs: [get, list, watch]
  - level: None
`

// args are the arguments of kube-apiserver: a server as it comes, with RBAC,
// and without what needs further parts of a control plane.
func (s *Server) args(options Options, address string) ([]string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	args := []string{
		"--etcd-servers=" + options.Etcd,
		"--etcd-prefix=/registry/" + s.Name,
		"--bind-address=" + host,
		"--advertise-address=" + host,
		"--secure-port=" + port,
		"--endpoint-reconciler-type=none",
		"--tls-cert-file=" + s.file("serving.crt"),
		"--tls-private-key-file=" + s.file("serving.key"),
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--token-auth-file=" + s.file("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.file("accounts.key"),
		"--service-account-signing-key-file=" + s.file("accounts.key"),
		// There is no controller that makes the default ServiceAccounts.
		"--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112",
		"--audit-policy-file=" + s.file("audit-policy.yaml"),
		"--audit-log-path=" + s.file("audit.log"),
		"--profiling=false",
	}
	if options.PodProxy == "" {
		return args, nil
	}
	selector := s.file("egress.yaml")
	err = writeFiles(map[string][]byte{selector: []byte(egressSelector(options.PodProxy))})
	return append(args, "--egress-selector-config-file="+selector), err
}

// egressSelector sends what the server says to pods through a proxy.
func egressSelector(socket string) string {
	return `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
  - name: cluster
    connection:
      proxyProtocol: HTTPConnect
      transport:
        uds:
          udsName: ` + socket + "\n"
}
