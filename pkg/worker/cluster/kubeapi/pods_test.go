package kubeapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// ailing is a pod whose one container is in a state.
func ailing(state, last corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "lab-1"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "external-dns"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "external-dns", Image: "registry.example/external-dns:v0.22.0", RestartCount: 4, State: state, LastTerminationState: last,
			}},
		},
	}
}

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func ended(code int32, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message}}
}

func TestPodsTellWhyTheyDoNotRun(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"running":                     {ailing(running, corev1.ContainerState{}), ""},
		"running again after a crash": {ailing(running, ended(1, "x")), ""},
		"crash loop": {
			ailing(waits("CrashLoopBackOff", "back-off 5m0s"), ended(1, "level=info msg=a\nlevel=fatal msg=\"no such zone\"\n\n")),
			`pod lab-1: container external-dns is in a crash loop: exit code 1, 4 restarts; its last words: level=fatal msg="no such zone"`,
		},
		"crash loop without a word": {
			ailing(waits("CrashLoopBackOff", ""), corev1.ContainerState{}),
			"pod lab-1: container external-dns is in a crash loop: 4 restarts",
		},
		"between two lives": {
			ailing(ended(137, ""), corev1.ContainerState{}),
			"pod lab-1: container external-dns ended and is started again: exit code 137, 4 restarts",
		},
		"missing Secret": {
			ailing(waits("CreateContainerConfigError", `secret "tsig" not found`), corev1.ContainerState{}),
			`pod lab-1: container external-dns cannot be started: secret "tsig" not found`,
		},
		"missing ConfigMap": {
			ailing(waits("CreateContainerConfigError", `configmap "zones" not found`), corev1.ContainerState{}),
			`pod lab-1: container external-dns cannot be started: configmap "zones" not found`,
		},
		"image that cannot be pulled": {
			ailing(waits("ImagePullBackOff", "not found"), corev1.ContainerState{}),
			"pod lab-1: container external-dns: image registry.example/external-dns:v0.22.0 cannot be pulled: not found",
		},
		"being prepared": {ailing(waits("ContainerCreating", ""), corev1.ContainerState{}), ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, podOf(c.pod).Trouble) })
	}
}

func TestPodsTellThatTheyAreNotScheduledOrNotReady(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "lab-1"}, Status: corev1.PodStatus{
		Phase:      corev1.PodPending,
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available"}},
	}}
	assert.Equal(t, "pod lab-1 cannot be scheduled: 0/3 nodes are available", podOf(pod).Trouble)
	assert.False(t, podOf(pod).Waiting, "there is a reason")
	pod.Status = corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
	}
	assert.Equal(t, "pod lab-1 runs and is not ready", podOf(pod).Trouble)
	assert.False(t, podOf(pod).Ready)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "external-dns", RestartCount: 2, LastTerminationState: ended(1, "no such zone")}}
	assert.Equal(t, "pod lab-1 runs and is not ready; container external-dns ended before: exit code 1, 2 restarts; its last words: no such zone", podOf(pod).Trouble)
	pod.Status.Conditions[0].Status = corev1.ConditionTrue
	assert.Empty(t, podOf(pod).Trouble)
	assert.True(t, podOf(pod).Ready)
}

func TestPodsTellWhatTheyNeed(t *testing.T) {
	t.Parallel()
	optional := true
	reference := func(name string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	}
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{
				{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "files"}}},
				{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "spare", Optional: &optional}}},
				{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Containers: []corev1.Container{{
				Args: []string{"--interval=5s"}, Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 8080}},
				Env: []corev1.EnvVar{{Name: "A", ValueFrom: reference("tsig")}, {Name: "B", ValueFrom: reference("files")}, {Name: "C", Value: "c"}},
			}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	seen := podOf(pod)
	assert.Equal(t, []string{"files", "tsig"}, seen.Secrets)
	assert.Equal(t, int32(8080), seen.Ports["metrics"])
	assert.Equal(t, []string{"--interval=5s"}, seen.Args)
	assert.True(t, seen.Waiting)
	pod.DeletionTimestamp = &metav1.Time{}
	assert.Nil(t, podOf(pod), "on its way out")
}

func TestLastWordsAreShort(t *testing.T) {
	t.Parallel()
	assert.Empty(t, lastLine(" \n"))
	assert.Equal(t, "b", lastLine("a\n b \n\n"))
	long := lastLine(strings.Repeat("ä", longestWords))
	assert.LessOrEqual(t, len(long), longestWords+len("…"))
	assert.True(t, strings.HasSuffix(long, "ä…"))
}

func TestMetricsAreReadByName(t *testing.T) {
	t.Parallel()
	metrics, err := cluster.ParseMetrics([]byte(`# HELP up whether it is
# TYPE up gauge
up 1
# TYPE errors_total counter
errors_total{of="a"} 2
errors_total{of="b"} 3
# TYPE took summary
took{quantile="0.5"} NaN
took_sum 1
took_count 1
plain 7
`))
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"up": 1, "errors_total": 5, "plain": 7}, metrics.Sums(), "summed over labels")
	assert.Contains(t, metrics, cluster.Sample{Name: "errors_total", Labels: map[string]string{"of": "b"}, Value: 3})
	for _, text := range []string{"<html>", strings.Repeat("#", cluster.LongestMetrics+1), strings.Repeat("a 1\n", cluster.MostLines+1)} {
		_, err := cluster.ParseMetrics([]byte(text))
		assert.Equal(t, fault.Unreachable, fault.Of(err))
		assert.NotContains(t, err.Error(), "<html>", "a stranger's answer is not repeated")
	}
}

// TestAPodWithoutAPortForMetricsHasItInAnAnnotation: on the network of a node
// none is declared. What is no port is none, and what is declared counts.
func TestAPodWithoutAPortForMetricsHasItInAnAnnotation(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string]int32{"9253": 9253, "": 0, "0": 0, "-1": 0, "metrics": 0, "65536": 0} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"prometheus.io/port": annotation}}}
		require.Equal(t, want, podOf(pod).Ports["metrics"], annotation)
		pod.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9153}}}}
		require.Equal(t, int32(9153), podOf(pod).Ports["metrics"], annotation)
	}
}

// FuzzMetrics: whatever a pod answers is read, or refused.
func FuzzMetrics(f *testing.F) {
	for _, text := range []string{
		"# HELP up whether it is\n# TYPE up gauge\nup{a=\"b\"} 1\n", "x_bucket{le=\"+Inf\"} 3\nx_sum 1\nx_count 3\n", "# TYPE x histogram\nx_bucket{le=\"1\"} NaN\n",
		"# TYPE x summary\nx{quantile=\"0.5\"} 1\n", "up 1 1700000000000\nup 2\n", "<html>", "", "\x00", "up{a=\"", "# TYPE up counter\n# TYPE up gauge\nup 1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		metrics, err := cluster.ParseMetrics(text)
		if err != nil {
			require.Empty(t, metrics)
			return
		}
		for _, sample := range metrics {
			require.NotEmpty(t, sample.Name)
			require.NotNil(t, sample.Labels)
		}
	})
}
