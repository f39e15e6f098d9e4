package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// CacheVariable is the environment variable that names the directory of the
// built programs.
const CacheVariable = "SIGNPOST_TOOLS_CACHE"

// modulePath is the module that the directory of the tools belongs to.
const modulePath = "github.com/signpost-dns/signpost/test"

// Builder builds programs into a cache. Several builders, also in several
// processes, may share one cache.
type Builder struct {
	// Source is the directory with one directory per tool.
	Source string
	// Cache is the directory of the built programs.
	Cache string
	// Progress is told when a build starts and ends. Nothing is written for a
	// program that is in the cache.
	Progress io.Writer
}

// Path returns the path of the named program, building it if it is not in the
// cache. It finds the tools from the working directory, which must be inside
// the repository, as it is in a test. Progress goes to standard error: a first
// build takes minutes, which is longer than some tests may run, so build
// beforehand with the command in cmd/buildtools.
func Path(ctx context.Context, name string) (string, error) {
	builder, err := NewBuilder(os.Stderr)
	if err != nil {
		return "", err
	}
	tool, err := Find(name)
	if err != nil {
		return "", err
	}
	return builder.Path(ctx, tool)
}

// NewBuilder returns a builder of the repository's tools, with the cache where
// the environment puts it.
func NewBuilder(progress io.Writer) (*Builder, error) {
	source, err := sourceDir()
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	return &Builder{Source: source, Cache: cache, Progress: progress}, nil
}

// cacheDir is the directory of the built programs.
func cacheDir() (string, error) {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache for tools, set %s: %w", CacheVariable, err)
	}
	return filepath.Join(dir, "signpost", "tools"), nil
}

// sourceDir looks for the directory of the tools in the working directory and
// those above it.
func sourceDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, module := range []string{dir, filepath.Join(dir, "test")} {
			if isTestModule(module) {
				return filepath.Join(module, "tools"), nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no module %s in or above %s", modulePath, start)
		}
	}
}

// isTestModule tells whether dir is the root of the module of the tests.
func isTestModule(dir string) bool {
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(goMod)) {
		if strings.TrimSpace(line) == "module "+modulePath {
			return true
		}
	}
	return false
}

// Path returns the path of the program, building it if it is not in the cache.
func (b *Builder) Path(ctx context.Context, tool Tool) (string, error) {
	dir := filepath.Join(b.Source, tool.Name)
	version, err := tool.version(dir)
	if err != nil {
		return "", err
	}
	compiler, err := toolchain(ctx, dir)
	if err != nil {
		return "", err
	}
	key, err := cacheKey(compiler, tool.buildArgs(version, ""), dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(b.Cache, tool.Name+"-"+key)
	if found, err := exists(binary); err != nil || found {
		return binary, err
	}
	if err := b.buildOnce(ctx, tool, version, binary); err != nil {
		return "", err
	}
	return binary, nil
}

// buildOnce builds the program unless another process does so meanwhile.
func (b *Builder) buildOnce(ctx context.Context, tool Tool, version, binary string) error {
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return fmt.Errorf("make cache for tools: %w", err)
	}
	unlock, err := lock(ctx, binary+".lock", func() {
		b.printf("waiting for another process that builds %s\n", tool.Name)
	})
	if err != nil {
		return err
	}
	defer unlock()
	if found, err := exists(binary); err != nil || found {
		return err
	}
	b.printf("building %s\n", describe(tool, version))
	start := time.Now()
	if err := b.build(ctx, tool, version, binary); err != nil {
		return fmt.Errorf("build %s: %w", tool.Name, err)
	}
	b.printf("built %s in %s, cached at %s\n", tool.Name, time.Since(start).Round(time.Second), binary)
	return nil
}

// build runs the compiler. The caller holds the lock, so the temporary file is
// its own; the rename makes sure that no one ever sees half a program.
func (b *Builder) build(ctx context.Context, tool Tool, version, binary string) error {
	partial := binary + ".partial"
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", tool.buildArgs(version, partial)...)
	cmd.Dir = filepath.Join(b.Source, tool.Name)
	cmd.Env = buildEnv()
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(output.Bytes()))
	}
	return os.Rename(partial, binary)
}

// printf reports progress. A report that cannot be written is no reason to
// fail.
func (b *Builder) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format, args...)
}

// describe names the program for a progress line.
func describe(tool Tool, version string) string {
	text := strings.TrimSpace(tool.Name + " " + version)
	if tool.Hint != "" {
		text += " (" + tool.Hint + ")"
	}
	return text
}

// buildEnv is the environment of the compiler: the tools are plain Go, and the
// workspace of a developer must not change what they are.
func buildEnv() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
}

// exists tells whether there is a file at path.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
