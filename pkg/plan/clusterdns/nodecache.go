package clusterdns

import (
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// nodeCache runs a DNS cache on every Linux node, with any taints, because any pod may
// have it as its nameserver. It declares no port: on the network of a node no second pod
// with that port would be placed, and so no replacement.
func (r renderer) nodeCache(c corefile.NodeCache, text string) []any {
	files := map[string]string{corefileKey: text}
	pod := nodePod(r.cache(c))
	pod.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	pod.InitContainers = []corev1.Container{r.localAddress(c)}
	pod.Volumes = []corev1.Volume{configVolume("config", CacheName, corefileKey)}
	told := annotations(files)
	told[bundle.AnnotationMetrics] = strconv.Itoa(corefile.CacheMetricsPort)
	set := r.onNodes(CacheName, told, pod, intstr.FromInt32(0), intstr.FromInt32(1))
	set.Spec.MinReadySeconds = 10 // while both listen, it may be the old one that calls itself healthy
	return []any{r.configMap(CacheName, files), set}
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
		Resources:                resources("5m", "21Mi", "64Mi"),
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
		Resources:                resources("25m", "70Mi", "256Mi"),
	}
}

// root has some rights of root's. The image's own user could not use them.
func root(capabilities ...corev1.Capability) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		RunAsUser:                new(int64(0)),
		RunAsGroup:               new(int64(0)),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}, Add: capabilities},
	}
}
