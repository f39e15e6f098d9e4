// Package release proves what a release consists of: that the same commit gives
// the same programs wherever it is built, that kubectl runs the program as a
// plugin, and, at length, that goreleaser builds the archives.
package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/tools"
)

// root is the directory of the repository.
const root = "../.."

// TestTwoDirectoriesGiveTheSamePrograms: no path of the machine and no time is
// in a program. Ring 3 also compiles each package twice, with caches of their
// own, and signpost-dns.
func TestTwoDirectoriesGiveTheSamePrograms(t *testing.T) {
	deep := sample.Cases(0, 0, 1) == 1
	targets := []string{"build-signpost"}
	if deep {
		targets = append(targets, "build-signpost-dns")
	}
	var sums []map[string]string
	for _, dir := range []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "another", "directory")} {
		clone(t, dir)
		var env []string
		if deep {
			env = append(env, "GOCACHE="+t.TempDir())
		}
		run(t, dir, env, "make", targets...)
		sums = append(sums, sumsOf(t, filepath.Join(dir, "bin")))
	}
	require.Len(t, sums[0], len(targets))
	require.Equal(t, sums[0], sums[1])
}

// kubectl runs the program kubectl-signpost of the PATH for "kubectl signpost".
func TestThePluginIsTheSameProgram(t *testing.T) {
	dir := t.TempDir()
	program, err := fixture.Build(t.Context(), dir)
	require.NoError(t, err)
	plugin := filepath.Join(dir, "kubectl-signpost")
	require.NoError(t, os.Link(program, plugin))
	require.Contains(t, run(t, dir, nil, plugin, "get", "--help"), "\n  kubectl signpost get PATH")
	require.Contains(t, run(t, dir, nil, program, "get", "--help"), "\n  signpost get PATH")
	require.Contains(t, run(t, dir, nil, plugin, "__complete", "instan"), "instantiate\t")
}

// TestTheImagesOfAReleaseAreThoseOfTheDockerfile but for where the programs come
// from.
func TestTheImagesOfAReleaseAreThoseOfTheDockerfile(t *testing.T) {
	built, released := lastStage(t, "Dockerfile"), lastStage(t, "Dockerfile.release")
	require.Greater(t, len(built), 5)
	require.Equal(t, built, released)
}

// lastStage are the instructions of the last stage of a file in deploy, without
// what copies files.
func lastStage(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", name))
	require.NoError(t, err)
	var stage []string
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "FROM":
			base, _, _ := strings.Cut(rest, " AS ")
			stage = []string{word + " " + base}
		case "", "#", "ARG", "COPY":
		default:
			stage = append(stage, word+" "+rest)
		}
	}
	return stage
}

// TestASnapshotHasWhatAReleaseHas for amd64: each platform has its archives, each
// program its modules, and each file its checksum. Two directories give the same
// files. What it cannot show: images and signatures, which need their services.
func TestASnapshotHasWhatAReleaseHas(t *testing.T) {
	goreleaser, err := tools.Path(t.Context(), tools.Goreleaser)
	require.NoError(t, err)
	gomod, err := tools.Path(t.Context(), tools.CycloneDXGomod)
	require.NoError(t, err)
	programs := t.TempDir()
	require.NoError(t, os.Symlink(gomod, filepath.Join(programs, "cyclonedx-gomod")))
	path := "PATH=" + programs + string(os.PathListSeparator) + os.Getenv("PATH")
	run(t, root, nil, goreleaser, "check", "--quiet")

	var sums []map[string]string
	var dir string
	for _, place := range []string{"a", filepath.Join("another", "directory")} {
		dir = filepath.Join(t.TempDir(), place)
		clone(t, dir)
		config := filepath.Join(t.TempDir(), "goreleaser.yaml")
		amd64Alone(t, filepath.Join(dir, ".goreleaser.yaml"), config)
		run(t, dir, []string{path}, goreleaser, "release", "--snapshot", "--clean", "--skip=docker,sign", "--config="+config)
		sums = append(sums, sumsOf(t, filepath.Join(dir, "dist")))
	}
	for _, file := range []string{"artifacts.json", "config.yaml", "metadata.json"} { // they tell of the run
		delete(sums[0], file)
		delete(sums[1], file)
	}
	require.Equal(t, sums[0], sums[1])
	complete(t, filepath.Join(dir, "dist"), sums[0])
}

// amd64Alone writes the configuration with one architecture instead of two.
func amd64Alone(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	var config map[string]any
	require.NoError(t, yaml.Unmarshal(text, &config))
	for _, build := range config["builds"].([]any) {
		require.Equal(t, []any{"amd64", "arm64"}, build.(map[string]any)["goarch"])
		build.(map[string]any)["goarch"] = []any{"amd64"}
	}
	text, err = yaml.Marshal(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

// complete requires the files of a snapshot in dist.
func complete(t *testing.T, dist string, sums map[string]string) {
	t.Helper()
	checksums, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	require.NoError(t, err)
	var archives, documents int
	for name, sum := range sums {
		if name == "checksums.txt" {
			continue
		}
		require.Contains(t, string(checksums), sum+"  "+name+"\n")
		switch {
		case strings.HasSuffix(name, ".cdx.json"):
			documents++
			text, err := os.ReadFile(filepath.Join(dist, name))
			require.NoError(t, err)
			require.Contains(t, string(text), `"name": "k8s.io/client-go"`, name)
		case strings.HasPrefix(name, "kubectl-signpost_"):
			archives++
			require.ElementsMatch(t, []string{program(name, "kubectl-signpost"), "LICENSE", "kubectl_complete-signpost"}, inside(t, filepath.Join(dist, name)), name)
		default:
			archives++
			files := inside(t, filepath.Join(dist, name))
			require.Subset(t, files, []string{program(name, "signpost"), "LICENSE", "README.md", "CHANGELOG.md", "man/signpost.1", "man/signpost-serve.1", "completions/_signpost", "completions/signpost.bash"}, name)
			if strings.Contains(name, "linux") {
				require.Contains(t, files, "signpost-dns", name)
			}
		}
	}
	require.Equal(t, 6, archives, "two for each system")
	require.Equal(t, 4, documents, "signpost for each system, and signpost-dns for Linux")
}

// program is the file of a program in an archive.
func program(archive, name string) string {
	if strings.Contains(archive, "windows") {
		return name + ".exe"
	}
	return name
}

// inside are the files of an archive. Nobody's account is in it.
func inside(t *testing.T, archive string) (files []string) {
	t.Helper()
	if strings.HasSuffix(archive, ".zip") {
		opened, err := zip.OpenReader(archive)
		require.NoError(t, err)
		defer opened.Close()
		for _, file := range opened.File {
			files = append(files, file.Name)
		}
		return files
	}
	opened, err := os.Open(archive)
	require.NoError(t, err)
	defer opened.Close()
	packed, err := gzip.NewReader(opened)
	require.NoError(t, err)
	for reader := tar.NewReader(packed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		require.Equal(t, "root", header.Uname, header.Name)
		files = append(files, header.Name)
	}
}

// clone puts the last commit into a new directory.
func clone(t *testing.T, dir string) {
	t.Helper()
	origin, err := filepath.Abs(root)
	require.NoError(t, err)
	run(t, root, nil, "git", "clone", "--quiet", "--shared", origin, dir)
}

// run runs a program and answers what it printed.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), output)
	return string(output)
}

// sumsOf are the SHA-256 sums of the files in a directory.
func sumsOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	sums := map[string]string{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		file, err := os.Open(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		require.NoError(t, errors.Join(err, file.Close()))
		sums[entry.Name()] = fmt.Sprintf("%x", sum.Sum(nil))
	}
	return sums
}
