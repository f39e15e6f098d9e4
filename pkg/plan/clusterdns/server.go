package clusterdns

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// annotationCorefile is on pods of CoreDNS and holds a hash of their Corefile and the
// files beside it. Changed files roll the pods, unchanged files do not.
const annotationCorefile = "signpost.dev/corefile"

const (
	daemonSet       = "DaemonSet"
	corefileKey     = "Corefile"
	configDirectory = "/etc/coredns"

	metricsPort int32 = 9153
	healthPort  int32 = 8080 // CoreDNS' own default, as the next
	readyPort   int32 = 8181

	unprivileged int64 = 65532 // the user and group of CoreDNS' image
)

func (r renderer) configMap(name string, files map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: r.meta(name),
		Data:       files,
	}
}

// annotations tell of files. A Corefile alone is hashed as it is.
func annotations(files map[string]string) map[string]string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name != corefileKey {
			fmt.Fprintf(sum, "%s\x00%s\x00", name, files[name])
		}
	}
	sum.Write([]byte(files[corefileKey]))
	return map[string]string{annotationCorefile: hex.EncodeToString(sum.Sum(nil))}
}

// service is where queries go: the address that the cluster gives it.
func (r renderer) service() *corev1.Service {
	port := func(name string, protocol corev1.Protocol, port int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Protocol: protocol, Port: port, TargetPort: intstr.FromString(name)}
	}
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: r.meta(ServiceName),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: r.selector(ServiceName),
			Ports: []corev1.ServicePort{
				port("dns", corev1.ProtocolUDP, dnsPort),
				port("dns-tcp", corev1.ProtocolTCP, dnsPort),
				port("metrics", corev1.ProtocolTCP, metricsPort),
			},
		},
	}
}

// daemonSet runs CoreDNS on the nodes of the placement. A node's pod stays until its
// replacement answers.
func (r renderer) daemonSet() *appsv1.DaemonSet {
	return r.onNodes(ServiceName, annotations(r.files), r.dnsPod(), intstr.FromInt32(0), intstr.FromString("10%"))
}

// onNodes runs a pod on nodes. During an update, so many nodes may be without one, or have two.
func (r renderer) onNodes(name string, annotations map[string]string, pod corev1.PodSpec, without, twice intstr.IntOrString) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: daemonSet},
		ObjectMeta: r.meta(name),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: r.selector(name)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: r.selector(name), Annotations: annotations}, Spec: pod},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &without, MaxSurge: &twice},
			},
		},
	}
}

func (r renderer) dnsPod() corev1.PodSpec {
	volumes, mounts := r.volumes()
	return corev1.PodSpec{
		ServiceAccountName:           ServiceName,
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		DNSPolicy:                    corev1.DNSDefault, // the node's nameservers are the last resort
		PriorityClassName:            nodeCritical,
		NodeSelector:                 r.placement.NodeSelector,
		Tolerations:                  r.tolerations(),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(unprivileged), RunAsGroup: new(unprivileged),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{r.coreDNS(mounts)},
		Volumes:    volumes,
	}
}

// nodeCritical is the priority of what a node cannot do without.
const nodeCritical = "system-node-critical"

func (r renderer) tolerations() []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range r.placement.Tolerations {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value,
			Effect: corev1.TaintEffect(t.Effect), TolerationSeconds: t.TolerationSeconds,
		})
	}
	return out
}

func (r renderer) coreDNS(mounts []corev1.VolumeMount) corev1.Container {
	return corev1.Container{
		Name:            "dns",
		Image:           r.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         r.command(),
		Args:            []string{"-conf", path.Join(configDirectory, corefileKey)},
		VolumeMounts:    mounts,
		Ports: []corev1.ContainerPort{
			{Name: "dns", ContainerPort: corefile.DefaultPort, Protocol: corev1.ProtocolUDP},
			{Name: "dns-tcp", ContainerPort: corefile.DefaultPort, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
		},
		LivenessProbe:            probe("/health", healthPort),
		ReadinessProbe:           probe("/ready", readyPort),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			// The image's program carries this capability, and is not started without it.
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"NET_BIND_SERVICE"}},
		},
		Resources: resources("50m", "70Mi", "512Mi"),
	}
}

// resources are the CPU and the memory that a container gets, and the most memory that it may take.
func resources(cpu, memory, most string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(most)},
	}
}

// command is the program in the image: its own, but where search paths come in an
// option, which no other takes.
func (r renderer) command() []string {
	if Expands(r.ClusterDNS) {
		return []string{program}
	}
	return nil
}

func probe(path string, port int32) *corev1.Probe {
	const period, timeout, failures = 10, 5, 5 // seconds, seconds, times
	return &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}},
		PeriodSeconds: period, TimeoutSeconds: timeout, SuccessThreshold: 1, FailureThreshold: failures,
	}
}

// volumes are the Corefile and the CA bundles. A bundle that is missing keeps
// new pods from starting, and old ones running.
func (r renderer) volumes() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	add := func(volume corev1.Volume, directory string) {
		volumes = append(volumes, volume)
		mounts = append(mounts, corev1.VolumeMount{Name: volume.Name, MountPath: directory, ReadOnly: true})
	}
	add(configVolume("config", ServiceName, slices.Sorted(maps.Keys(r.files))...), configDirectory)
	for _, name := range r.bundles {
		const longest = 40
		add(configVolume("ca-"+plan.Slug(name, longest)+"-"+plan.Hash(name), name, caKey), path.Join(caDirectory, name))
	}
	return volumes, mounts
}

// configVolume has files of a ConfigMap, by the names of their keys.
func configVolume(name, configMap string, keys ...string) corev1.Volume {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}
	for _, key := range keys {
		source.Items = append(source.Items, corev1.KeyToPath{Key: key, Path: key})
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: source}}
}
