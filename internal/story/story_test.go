package story

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

type input struct {
	Name string `json:"name"`
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.txtar")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestStoryIsInputAndOutput(t *testing.T) {
	file := write(t, "What is wanted.\n\n-- input.yaml --\nname: lab\n-- output.yaml --\nwas\n")
	stories, err := all[input](filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, stories, 1)
	assert.Equal(t, "a", stories[0].Name)
	assert.Equal(t, input{Name: "lab"}, stories[0].Input)
	want, err := stories[0].settle("is\n")
	require.NoError(t, err)
	assert.Equal(t, "was\n", want)
}

func TestOutputIsWrittenOnRequest(t *testing.T) {
	file := write(t, "What is wanted.\n\n-- input.yaml --\nname: lab\n-- output.yaml --\nwas\n")
	t.Setenv("SIGNPOST_GOLDEN", "write")
	s, err := read[input](file)
	require.NoError(t, err)
	want, err := s.settle("is\n")
	require.NoError(t, err)
	assert.Equal(t, "is\n", want)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "What is wanted.\n\n-- input.yaml --\nname: lab\n-- output.yaml --\nis\n", string(text))
}

func TestMistakesInStoriesAreErrors(t *testing.T) {
	for reason, text := range map[string]string{
		"a field that the shape lacks": "-- input.yaml --\ntitle: lab\n",
		"a field twice":                "-- input.yaml --\nname: a\nname: b\n",
		"a misspelt file":              "-- inputs.yaml --\nname: a\n",
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := read[input](write(t, text))
			assert.Error(t, err)
		})
	}
	_, err := all[input](t.TempDir())
	assert.ErrorContains(t, err, "no stories")
}

func TestObjectsAreWrittenAsYAML(t *testing.T) {
	o, err := bundle.Parse("edge+hub", "web", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	assert.Equal(t, "--- # edge+hub, app web\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n", Objects(t, []bundle.Object{o}))
}

func TestStoriesAreThoseOfTestdata(t *testing.T) {
	dir := filepath.Dir(write(t, "-- input.yaml --\nname: lab\n-- output.yaml --\nlab!"))
	require.NoError(t, os.Rename(dir, filepath.Join(filepath.Dir(dir), testdata)))
	t.Chdir(filepath.Dir(dir))
	told := 0
	Check(t, func(_ *testing.T, in input) string {
		told++
		return in.Name + "!\n"
	})
	assert.Equal(t, 1, told)
	assert.Equal(t, input{Name: "lab"}, Input[input](t, "a"))
}
