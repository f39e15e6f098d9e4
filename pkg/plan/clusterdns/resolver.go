package clusterdns

import (
	"path"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: daemonSet},
		ObjectMeta: r.meta(ResolverName),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: r.selector(ResolverName)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: r.selector(ResolverName)},
				Spec:       r.resolverPod(services),
			},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("33%")), MaxSurge: new(intstr.FromInt32(0))},
			},
		},
	}
}

func (r renderer) resolverPod(services []string) corev1.PodSpec {
	return corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(true), // the address of the DNS service is found there
		HostNetwork:                  true,
		DNSPolicy:                    corev1.DNSDefault,
		PriorityClassName:            nodeCritical,
		NodeSelector:                 linux(),
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers:                   []corev1.Container{r.resolver(services)},
		Volumes: []corev1.Volume{{Name: "etc", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: hostDirectory, Type: new(corev1.HostPathDirectory)},
		}}},
	}
}

// resolver keeps the node's file. It is root, the owner of the file. Its only right
// beyond that is to set the owner and the mode of its draft.
func (r renderer) resolver(services []string) corev1.Container {
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
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			RunAsUser:                new(int64(0)),
			RunAsGroup:               new(int64(0)),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"CHOWN", "FOWNER"}},
			SELinuxOptions:           &corev1.SELinuxOptions{Type: "spc_t"}, // no other type may write there
			SeccompProfile:           &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("21Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
	}
}

// variable is where Kubernetes tells the pods of a namespace the address of a
// Service there.
func variable(service string) string {
	return strings.ToUpper(strings.ReplaceAll(service, "-", "_")) + serviceHost
}
