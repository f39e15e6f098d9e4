package chart

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// The jobs of deploy/backup run as the pods of the chart do, with its key, and read or fill a
// claim that the chart mounts.
func TestTheJobsOfBackupsFitTheChart(t *testing.T) {
	var deployment appsv1.Deployment
	for _, object := range objects(t, valuesOf(t, "values.yaml")) {
		if object.GetKind() == "Deployment" {
			strictly(t, object, &deployment)
		}
	}
	pod := deployment.Spec.Template.Spec
	claims := map[string]bool{claimOf(t, pod): true}
	for _, object := range manifest(t, "claims.yaml") {
		claims[object.GetName()] = true
	}
	for file, data := range map[string]string{"backup.yaml": claimOf(t, pod), "restore.yaml": "signpost-restored"} {
		var job batchv1.Job
		strictly(t, manifest(t, file)[0], &job)
		got := job.Spec.Template.Spec
		require.Equal(t, pod.SecurityContext, got.SecurityContext, file)
		require.Equal(t, pod.Containers[0].SecurityContext, got.Containers[0].SecurityContext, file)
		require.Equal(t, pod.Containers[0].Image, got.Containers[0].Image, file)
		require.Equal(t, data, claimOf(t, got), file)
		for _, volume := range got.Volumes {
			if volume.PersistentVolumeClaim != nil {
				require.True(t, claims[volume.PersistentVolumeClaim.ClaimName], "%s: %s", file, volume.Name)
			}
			if volume.Secret != nil {
				require.Equal(t, pod.Volumes[0].Secret.SecretName, volume.Secret.SecretName, file)
				require.Contains(t, pod.Volumes[0].Secret.Items, volume.Secret.Items[0], file)
			}
		}
	}
}

// manifest are the objects of a file of deploy/backup.
func manifest(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", "backup", file))
	require.NoError(t, err)
	parsed, err := kube.Parse(string(text))
	require.NoError(t, err)
	return parsed
}

// claimOf is the claim that a pod mounts at /data.
func claimOf(t *testing.T, pod corev1.PodSpec) string {
	t.Helper()
	for _, mount := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if mount.MountPath == "/data" && volume.Name == mount.Name {
				require.NotNil(t, volume.PersistentVolumeClaim)
				return volume.PersistentVolumeClaim.ClaimName
			}
		}
	}
	t.Fatal("nothing is mounted at /data")
	return ""
}
