package podspec

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	const containers = `{"containers":[{"name":"web"}]}`
	for _, c := range []struct {
		reason, manifest, fields string
		known                    bool
	}{
		{"Pod", `{"apiVersion":"v1","kind":"Pod","spec":` + containers + `}`, "spec", true},
		{"Deployment", `{"apiVersion":"apps/v1","kind":"Deployment","spec":{"template":{"spec":` + containers + `}}}`, "spec.template.spec", true},
		{"StatefulSet", `{"apiVersion":"apps/v1","kind":"StatefulSet"}`, "spec.template.spec", true},
		{"DaemonSet", `{"apiVersion":"apps/v1","kind":"DaemonSet"}`, "spec.template.spec", true},
		{"ReplicaSet", `{"apiVersion":"apps/v1","kind":"ReplicaSet"}`, "spec.template.spec", true},
		{"Job", `{"apiVersion":"batch/v1","kind":"Job"}`, "spec.template.spec", true},
		{"CronJob", `{"apiVersion":"batch/v1","kind":"CronJob"}`, "spec.jobTemplate.spec.template.spec", true},
		{"another kind with a pod template", `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","spec":{"template":{"spec":` + containers + `}}}`, "spec.template.spec", false},
		{"a kind of the same name", `{"apiVersion":"x.example/v1","kind":"Deployment","spec":{"template":{"spec":` + containers + `}}}`, "spec.template.spec", false},
		{"PodTemplate", `{"apiVersion":"v1","kind":"PodTemplate","template":{"spec":` + containers + `}}`, "template.spec", true},
		{"ReplicationController", `{"apiVersion":"v1","kind":"ReplicationController","spec":{"template":{"spec":` + containers + `}}}`, "spec.template.spec", true},
	} {
		place, ok := Find(read(t, c.manifest))
		require.True(t, ok, c.reason)
		require.Equal(t, c.fields, strings.Join(place.Fields, "."), c.reason)
		require.Equal(t, c.known, place.Known, c.reason)
	}
	for _, none := range []string{
		`{"apiVersion":"v1","kind":"Service","spec":{"selector":{"a":"b"}}}`,
		`{"apiVersion":"x.example/v1","kind":"Letter","spec":{"template":"Dear {{.}}"}}`,
		`{"apiVersion":"x.example/v1","kind":"Letter","spec":{"template":{"spec":{"containers":"none"}}}}`,
		`{}`,
	} {
		_, ok := Find(read(t, none))
		require.False(t, ok, none)
	}
}

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	var manifest map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &manifest))
	return manifest
}
