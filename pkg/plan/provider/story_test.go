package provider

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/internal/story"
)

func TestStories(t *testing.T) {
	story.Run(t, func(t *testing.T, p plan.Provider) string {
		objects, fields, err := Render(p)
		require.NoError(t, err)
		if len(fields) > 0 {
			require.Empty(t, objects)
			text, err := yaml.Marshal(fields)
			require.NoError(t, err)
			return string(text)
		}
		return story.Objects(t, objects)
	})
}
