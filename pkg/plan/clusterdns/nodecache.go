package clusterdns

import (
	"path"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// nodeCache runs a DNS cache on every Linux node, with any taints, because any pod may
// have it as its nameserver. It declares no port: on the network of a node no second pod
// with that port would be placed, and so no replacement.
func (r renderer) nodeCache(c corefile.NodeCache, text string) []any {
	files := map[string]string{corefileKey: text}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: r.selector(CacheName), Annotations: annotations(files)},
		Spec:       r.cachePod(c),
	}
	template.Annotations[bundle.AnnotationMetrics] = strconv.Itoa(corefile.CacheMetricsPort)
	const settled = 10 // seconds: while both listen, it may be the old one that calls itself healthy
	return []any{r.configMap(CacheName, files), &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: daemonSet},
		ObjectMeta: r.meta(CacheName),
		Spec: appsv1.DaemonSetSpec{
			Selector:        &metav1.LabelSelector{MatchLabels: r.selector(CacheName)},
			Template:        template,
			MinReadySeconds: settled,
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(0)), MaxSurge: new(intstr.FromInt32(1))},
			},
		},
	}}
}

func (r renderer) cachePod(c corefile.NodeCache) corev1.PodSpec {
	return corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(true), // the address of the DNS service is found there
		HostNetwork:                  true,
		DNSPolicy:                    corev1.DNSDefault, // the node's search paths are pods' too
		PriorityClassName:            nodeCritical,
		NodeSelector:                 linux(),
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		SecurityContext:              &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		InitContainers:               []corev1.Container{r.localAddress(c)},
		Containers:                   []corev1.Container{r.cache(c)},
		Volumes:                      []corev1.Volume{configVolume("config", CacheName, corefileKey)},
	}
}

// localAddress gives the node the address, if it has not got it yet.
func (r renderer) localAddress(c corefile.NodeCache) corev1.Container {
	return corev1.Container{
		Name:                     "local-ip",
		Image:                    r.ResolverImage,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Command:                  []string{program, "local-ip"},
		Args:                     []string{c.LocalIP.String()},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          root("NET_ADMIN"),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("21Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
	}
}

func (r renderer) cache(c corefile.NodeCache) corev1.Container {
	health := probe("/health", corefile.CacheHealthPort)
	health.HTTPGet.Host = c.LocalIP.String()
	return corev1.Container{
		Name:                     "cache",
		Image:                    r.ResolverImage,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Command:                  []string{program},
		Args:                     []string{"-conf", path.Join(configDirectory, corefileKey)},
		VolumeMounts:             []corev1.VolumeMount{{Name: "config", MountPath: configDirectory, ReadOnly: true}},
		LivenessProbe:            health,
		ReadinessProbe:           health,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          root("NET_BIND_SERVICE"),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("25m"), corev1.ResourceMemory: resource.MustParse("70Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
	}
}

// root has one right of root's. The image's own user could not use it.
func root(capability corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		RunAsUser:                new(int64(0)),
		RunAsGroup:               new(int64(0)),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{capability}},
	}
}
