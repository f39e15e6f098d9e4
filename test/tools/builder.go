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
	"slices"
	"strings"
	"time"
)

// CacheVariable is the environment variable that names the directory of the
// built programs.
const CacheVariable = "SIGNPOST_TOOLS_CACHE"

// WholeVariable is the environment variable that, unless it is empty, has [Path]
// give the complete program instead of a small form of it.
const WholeVariable = "SIGNPOST_TOOLS_WHOLE"

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
	if tool.Of != "" && os.Getenv(WholeVariable) != "" {
		if tool, err = Find(tool.Of); err != nil {
			return "", err
		}
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
	binary, version, err := b.binary(ctx, tool)
	if err != nil {
		return "", err
	}
	if found, err := exists(binary); err != nil || found {
		return binary, err
	}
	if err := b.buildOnce(ctx, tool, version, binary); err != nil {
		return "", err
	}
	return binary, nil
}

// Built tells whether the program is in the cache.
func (b *Builder) Built(ctx context.Context, tool Tool) (bool, error) {
	binary, _, err := b.binary(ctx, tool)
	if err != nil {
		return false, err
	}
	return exists(binary)
}

// binary is where the program is or will be, and its version.
func (b *Builder) binary(ctx context.Context, tool Tool) (path, version string, err error) {
	dir := filepath.Join(b.Source, tool.dir())
	if version, err = tool.version(dir); err != nil {
		return "", "", err
	}
	compiler, err := toolchain(ctx, dir, tool.buildEnv())
	if err != nil {
		return "", "", err
	}
	key, err := cacheKey(compiler, tool.identity(version), dir)
	if err != nil {
		return "", "", err
	}
	return filepath.Join(b.Cache, tool.Name+"-"+key), version, nil
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
	spent, err := b.build(ctx, tool, version, binary)
	if err != nil {
		return fmt.Errorf("build %s: %w", tool.Name, err)
	}
	b.printf("built %s in %.0f s, with %.0f s of processor time, cached at %s\n",
		tool.Name, time.Since(start).Seconds(), spent.Seconds(), binary)
	return nil
}

// build runs the compiler and returns how much processor time that took. The
// caller holds the lock, so the temporary files are its own; the rename makes
// sure that no one ever sees half a program.
func (b *Builder) build(ctx context.Context, tool Tool, version, binary string) (time.Duration, error) {
	partial, source := binary+".partial", binary+".source"
	dir, args := filepath.Join(b.Source, tool.dir()), tool.buildArgs(version, partial)
	if len(tool.Trims) > 0 {
		defer func() { _ = os.RemoveAll(source) }()
		modfile, err := tool.trimmed(ctx, dir, source)
		if err != nil {
			return 0, err
		}
		args = slices.Insert(args, 1, "-modfile="+modfile)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = tool.buildEnv()
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return 0, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(output.Bytes()))
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), os.Rename(partial, binary)
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

// exists tells whether there is a file at path.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
