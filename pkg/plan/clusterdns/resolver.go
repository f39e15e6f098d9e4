package clusterdns

import (
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// program is CoreDNS with what belongs to it, in the image of the same name.
const program = "signpost-dns"

const (
	hostDirectory = "/etc"          // of the node: with the directory, its hosts file can be replaced in one step
	mountPoint    = "/host/etc"     // of that in the container
	serviceHost   = "_SERVICE_HOST" // ends the variable in which Kubernetes tells pods the address of a Service
)

// nodeResolver runs "signpost-dns node-resolver" on every Linux node, with any taints,
// because it serves the node's container runtime.
func (r renderer) nodeResolver(services []string) *appsv1.DaemonSet {
	pod := nodePod(r.resolver(services))
	pod.Volumes = []corev1.Volume{{Name: "etc", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: hostDirectory, Type: new(corev1.HostPathDirectory)},
	}}}
	return r.onNodes(ResolverName, nil, pod, intstr.FromString("33%"), intstr.FromInt32(0))
}

// nodePod runs a container in the network of every Linux node.
func nodePod(container corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(true), // the address of the DNS service is found there
		HostNetwork:                  true,
		DNSPolicy:                    corev1.DNSDefault, // the node's search paths are pods' too
		PriorityClassName:            nodeCritical,
		NodeSelector:                 linux(),
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:                   []corev1.Container{container},
	}
}

// resolver keeps the node's file. It is root, the owner of the file. Its only right
// beyond that is to set the owner and the mode of its draft.
func (r renderer) resolver(services []string) corev1.Container {
	rights := root("CHOWN", "FOWNER")
	rights.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"} // no other type may write there
	rights.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	return corev1.Container{
		Name:            ResolverName,
		Image:           r.ResolverImage,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{program, "node-resolver"},
		Args: []string{
			"--hosts-file=" + path.Join(mountPoint, "hosts"),
			"--owner=" + r.Spec.Namespace, // another logical cloud's is in another one
			"--services=" + strings.Join(services, ","),
			"--cluster-domain=" + r.domain,
			"--nameserver=$(" + variable(ServiceName) + ")",
		},
		VolumeMounts:             []corev1.VolumeMount{{Name: "etc", MountPath: mountPoint}},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          rights,
		Resources:                resources("5m", "21Mi", "64Mi"),
	}
}

// variable is where Kubernetes tells the pods of a namespace the address of a
// Service there.
func variable(service string) string {
	return strings.ToUpper(strings.ReplaceAll(service, "-", "_")) + serviceHost
}
