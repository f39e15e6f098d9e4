package tools

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestPathBuildsOnce(t *testing.T) {
	builder, progress := newTestBuilder(t)
	tool := Tool{Name: "hello", Hint: "takes no time"}

	if built, err := builder.Built(t.Context(), tool); err != nil || built {
		t.Errorf("built before it was: %t, error %v", built, err)
	}
	path, err := builder.Path(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	if built, err := builder.Built(t.Context(), tool); err != nil || !built {
		t.Errorf("built: %t, error %v", built, err)
	}
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err != nil || string(out) != "hello\n" {
		t.Errorf("the program says %q, error %v", out, err)
	}
	if text := progress.String(); !strings.HasPrefix(text, "building hello (takes no time)\nbuilt hello in ") {
		t.Errorf("progress is %q", text)
	}

	progress.Reset()
	again, err := builder.Path(t.Context(), tool)
	if err != nil || again != path {
		t.Errorf("the second time the path is %q, error %v, want %q", again, err, path)
	}
	if progress.Len() > 0 {
		t.Errorf("the second time it says %q", progress)
	}
}

func TestPathBuildsAgainAfterAChange(t *testing.T) {
	builder, _ := newTestBuilder(t)
	tool := Tool{Name: "hello"}
	before, err := builder.Path(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, filepath.Join(builder.Source, "hello"), map[string]string{
		"main.go": "package main\n\nfunc main() { println(\"changed\") }\n",
	})
	after, err := builder.Path(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	if before == after {
		t.Errorf("a changed program is still %s", before)
	}
	if _, err := os.Stat(before); err != nil {
		t.Errorf("the program before the change is gone: %v", err)
	}
}

func TestPathInParallelBuildsOnce(t *testing.T) {
	builder, progress := newTestBuilder(t)
	var group sync.WaitGroup
	for range 4 {
		// Each has a builder of its own, as parallel processes have.
		other := &Builder{Source: builder.Source, Cache: builder.Cache, Progress: builder.Progress}
		group.Go(func() {
			if _, err := other.Path(t.Context(), Tool{Name: "hello"}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if built := strings.Count(progress.String(), "building hello"); built != 1 {
		t.Errorf("built %d times: %s", built, progress)
	}
	leftovers, err := filepath.Glob(filepath.Join(builder.Cache, "*.partial"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("left behind %v, error %v", leftovers, err)
	}
}

func TestPathTellsWhatTheCompilerSays(t *testing.T) {
	builder, _ := newTestBuilder(t)
	writeFiles(t, filepath.Join(builder.Source, "hello"), map[string]string{
		"main.go": "package main\n\nfunc main() { nonsense() }\n",
	})
	_, err := builder.Path(t.Context(), Tool{Name: "hello"})
	if err == nil || !strings.Contains(err.Error(), "build hello") || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("error is %v", err)
	}
	binaries, globErr := filepath.Glob(filepath.Join(builder.Cache, "hello-????????????????"))
	if globErr != nil || len(binaries) > 0 {
		t.Errorf("a failed build left %v, error %v", binaries, globErr)
	}
}

func TestPathLeavesOutWhatIsTrimmed(t *testing.T) {
	builder, _ := newTestBuilder(t)
	// What is trimmed is a module of its own, in the module cache.
	proxy := writeProxy(t, "example.com/parts", "v1.0.0", map[string]string{
		"go.mod": "module example.com/parts\n\ngo 1.26.0\n",
		"parts.go": `package main

import (
	"example.com/parts/a"
	"example.com/parts/b"
	"example.com/parts/key"
)

func main() {
	for name, run := range map[string]func(){
		key.A: a.Run,
		key.B: b.Run,
	} {
		println(name)
		run()
	}
}
`,
		"key/key.go": "package key\n\nconst A, B = \"first\", \"second\"\n",
		"a/a.go":     "package a\n\nfunc Run() { println(\"a runs\") }\n",
		"b/b.go":     "package b\n\nfunc Run() { nonsense() }\n",
	})
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.ToSlash(proxy), "GOMODCACHE": t.TempDir(), "GOFLAGS": "-modcacherw", "GOSUMDB": "off",
	} {
		t.Setenv(name, value)
	}
	dir := filepath.Join(builder.Source, "parts")
	writeFiles(t, dir, map[string]string{
		"go.mod": "module example.com/tool\n\ngo 1.26.0\n\ntool example.com/parts\n\nrequire example.com/parts v1.0.0 // indirect\n",
		"go.sum": "",
	})
	sum := exec.CommandContext(t.Context(), "go", "mod", "tidy")
	sum.Dir, sum.Env = dir, Tool{}.buildEnv()
	if output, err := sum.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	tool := Tool{Name: "parts", Module: "example.com/parts", Package: "example.com/parts"}
	if _, err := builder.Path(t.Context(), tool); err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Fatalf("untrimmed, the error is %v", err)
	}
	tool.Trims = []Trim{{File: "parts.go", Keep: []string{"A"}}}
	path, err := builder.Path(t.Context(), tool)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path).CombinedOutput()
	if err != nil || string(out) != "first\na runs\n" {
		t.Errorf("the program says %q, error %v", out, err)
	}
	if left, err := filepath.Glob(filepath.Join(builder.Cache, "*.source")); err != nil || len(left) > 0 {
		t.Errorf("left behind %v, error %v", left, err)
	}
	tool.Trims = []Trim{{File: "parts.go", Keep: []string{"C"}}}
	if _, err := builder.Path(t.Context(), tool); err == nil || !strings.Contains(err.Error(), `parts.go is not as expected`) || !strings.Contains(err.Error(), `no key ["C"]`) {
		t.Errorf("error is %v", err)
	}
}

func TestPathEndsWithItsContext(t *testing.T) {
	builder, _ := newTestBuilder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := builder.Path(ctx, Tool{Name: "hello"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
}

func TestNewBuilderFindsToolsAndCache(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv(CacheVariable, cache)
	for _, dir := range []string{".", "cmd/buildtools", "..", "../.."} {
		t.Run(dir, func(t *testing.T) {
			t.Chdir(filepath.Join(here, dir))
			builder, err := NewBuilder(&bytes.Buffer{})
			if err != nil {
				t.Fatal(err)
			}
			if builder.Source != here || builder.Cache != cache {
				t.Errorf("source %s, cache %s, want %s and %s", builder.Source, builder.Cache, here, cache)
			}
		})
	}
}

func TestNewBuilderOutsideTheRepository(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := NewBuilder(&bytes.Buffer{}); err == nil {
		t.Error("no error outside the repository")
	}
}

// newTestBuilder returns a builder of the tool hello, which needs nothing but
// the standard library, with what the builder says.
func newTestBuilder(t *testing.T) (*Builder, *safeBuffer) {
	t.Helper()
	source := t.TempDir()
	writeFiles(t, filepath.Join(source, "hello"), map[string]string{
		"go.mod":  "module example.com/hello\n\ngo 1.26.0\n",
		"main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
	})
	progress := &safeBuffer{}
	return &Builder{Source: source, Cache: filepath.Join(t.TempDir(), "cache"), Progress: progress}, progress
}

// writeProxy writes a directory that serves one version of a module to the go
// command, as GOPROXY.
func writeProxy(t *testing.T, module, version string, files map[string]string) string {
	t.Helper()
	proxy := t.TempDir()
	var packed bytes.Buffer
	writer := zip.NewWriter(&packed)
	for name, content := range files {
		file, err := writer.Create(module + "@" + version + "/" + name)
		if err == nil {
			_, err = file.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, filepath.Join(proxy, module, "@v"), map[string]string{
		"list": version + "\n", version + ".info": `{"Version": "` + version + `"}`,
		version + ".mod": files["go.mod"], version + ".zip": packed.String(),
	})
	return proxy
}

// safeBuffer is a buffer that several builders may write to.
type safeBuffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

func (b *safeBuffer) Reset() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text.Reset()
}

func (b *safeBuffer) Len() int {
	return len(b.String())
}
