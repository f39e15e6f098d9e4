package provider

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Annotations of the Deployment and of its pods.
const (
	// annotationUsers names the groups that use the external-dns, for people
	// with kubectl. It is on the Deployment, so that a new user rolls no pod.
	annotationUsers = "signpost.dev/users"
	// annotationAdoption is on the Deployment while it takes names over: the
	// owner id that they are marked with.
	annotationAdoption = "signpost.dev/adoption"
	// annotationCredentials is on the pods, so that a new credential rolls them.
	annotationCredentials = "signpost.dev/credentials"
)

// labelName tells external-dns' pods from others in the namespace.
const labelName = "app.kubernetes.io/name"

const (
	unprivileged    int64 = 65532 // the user and group of external-dns' image
	keptRevisions   int32 = 3
	metricsPortName       = "metrics"
)

// deployment runs one external-dns: there is no leader election, so a second
// pod starts only when the first is gone.
func (r renderer) deployment() *appsv1.Deployment {
	replicas := int32(1)
	if r.Record.Spec.Suspend || r.Waiting {
		replicas = 0
	}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: r.meta(),
		Spec: appsv1.DeploymentSpec{
			Replicas:             &replicas,
			RevisionHistoryLimit: new(keptRevisions),
			Strategy:             appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector:             &metav1.LabelSelector{MatchLabels: r.selector()},
			Template:             corev1.PodTemplateSpec{ObjectMeta: r.podMeta(), Spec: r.pod()},
		},
	}
	deployment.Annotations = r.annotations()
	return deployment
}

// annotations tell people with kubectl what the external-dns is for.
func (r renderer) annotations() map[string]string {
	told := map[string]string{}
	isName := func(user string) bool { return intent.IsName(intent.Path(user)) }
	if groups := slices.DeleteFunc(slices.Clone(r.Users), isName); len(groups) > 0 { // a name that comes or goes changes no Deployment
		told[annotationUsers] = users(groups)
	}
	if r.Adopts != "" {
		told[annotationAdoption] = r.Adopts
	}
	if len(told) == 0 {
		return nil
	}
	return told
}

// selector are the labels that tell the pods of this external-dns. They do not
// carry the installation: what does is one of the objects that Signpost
// applied, and pods are not.
func (r renderer) selector() map[string]string {
	labels := r.Record.Labels(r.Scope)
	delete(labels, bundle.LabelInstallation)
	delete(labels, bundle.LabelManagedBy)
	labels[labelName] = App
	return labels
}

func (r renderer) podMeta() metav1.ObjectMeta {
	labels := maps.Clone(r.Record.Spec.PodLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	delete(labels, bundle.LabelInstallation)
	maps.Copy(labels, r.selector())
	meta := metav1.ObjectMeta{Labels: labels}
	if fingerprint := r.credentials.fingerprint(); fingerprint != "" {
		meta.Annotations = map[string]string{annotationCredentials: fingerprint}
	}
	return meta
}

func (r renderer) pod() corev1.PodSpec {
	pod := corev1.PodSpec{
		ServiceAccountName:           r.name,
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false), // external-dns reads EXTERNAL_DNS_…, which a Service's name could forge
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(unprivileged),
			RunAsGroup:     new(unprivileged),
			FSGroup:        new(unprivileged),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: r.containers(),
		Volumes:    r.credentials.volumes,
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(r.Record.Spec.ImagePullSecrets))) {
		pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	return pod
}

// containers are external-dns and, with provider webhook, its sidecar.
func (r renderer) containers() []corev1.Container {
	containers := []corev1.Container{r.externalDNS()}
	if sidecar := r.Record.Spec.Webhook; sidecar != nil {
		containers = append(containers, r.webhook(*sidecar))
	}
	return containers
}

func (r renderer) externalDNS() corev1.Container {
	return corev1.Container{
		Name:            App,
		Image:           r.Record.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            literals(r.arguments.args),
		Env:             r.credentials.own.environment,
		VolumeMounts:    r.credentials.own.mounts,
		Ports:           []corev1.ContainerPort{{Name: metricsPortName, ContainerPort: r.arguments.metricsPort, Protocol: corev1.ProtocolTCP}},
		LivenessProbe:   probe(livenessPeriod),
		ReadinessProbe:  probe(readinessPeriod),
		// The last words of one that fails are for the status.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
		Resources:                modest(),
	}
}

// webhook is the sidecar. It is probed by external-dns alone, which does not
// start without an answer: as a rule it listens on the pod's loopback.
func (r renderer) webhook(sidecar intent.Webhook) corev1.Container {
	return corev1.Container{
		Name:            "webhook",
		Image:           sidecar.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            literals(sidecar.Args),
		Env:             r.credentials.webhook.environment,
		VolumeMounts:    r.credentials.webhook.mounts,

		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
		Resources:                modest(),
	}
}

func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		Privileged:               new(false),
		ReadOnlyRootFilesystem:   new(true),
		RunAsNonRoot:             new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func modest() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
	}
}

// Seconds between two questions for external-dns' health, and before the first.
const (
	livenessPeriod  int32 = 30
	readinessPeriod int32 = 5
	probeTimeout    int32 = 5
)

// probe asks for external-dns' health.
func probe(period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/healthz", Port: intstr.FromString(metricsPortName), Scheme: corev1.URISchemeHTTP,
		}},
		InitialDelaySeconds: period, PeriodSeconds: period, TimeoutSeconds: probeTimeout, SuccessThreshold: 1, FailureThreshold: 3,
	}
}
