package tools

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCacheKeyFollowsItsInputs(t *testing.T) {
	base := map[string]string{"go.mod": "module a\n", "go.sum": "x\n", "main.go": "package main\n"}
	args := []string{"build", "."}
	want := keyOf(t, "go1 linux amd64", args, base)

	changes := map[string]string{
		"other go.mod":  keyOf(t, "go1 linux amd64", args, with(base, "go.mod", "module b\n")),
		"other go.sum":  keyOf(t, "go1 linux amd64", args, with(base, "go.sum", "y\n")),
		"other main.go": keyOf(t, "go1 linux amd64", args, with(base, "main.go", "package main // x\n")),
		"one more file": keyOf(t, "go1 linux amd64", args, with(base, "more.go", "package main\n")),
		"other Go":      keyOf(t, "go2 linux amd64", args, base),
		"other flags":   keyOf(t, "go1 linux amd64", []string{"build", "-x", "."}, base),
	}
	seen := map[string]string{want: "base"}
	for change, key := range changes {
		if other, ok := seen[key]; ok {
			t.Errorf("%s has the key of %s: %s", change, other, key)
		}
		seen[key] = change
	}
}

func TestCacheKeyIgnoresTheRest(t *testing.T) {
	base := map[string]string{"go.mod": "module a\n", "main.go": "package main\n"}
	want := keyOf(t, "go1", nil, base)
	if len(want) != keyLength {
		t.Errorf("key %q has %d digits, want %d", want, len(want), keyLength)
	}
	for _, name := range []string{"README.md", "main_test.go"} {
		if got := keyOf(t, "go1", nil, with(base, name, "whatever")); got != want {
			t.Errorf("with %s the key is %s, want %s", name, got, want)
		}
	}
}

func TestCacheKeyNeedsTheModule(t *testing.T) {
	if _, err := cacheKey("go1", nil, filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error for a directory that is not there")
	}
}

// keyOf is the cache key of a module with these files.
func keyOf(t *testing.T, toolchain string, args []string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	key, err := cacheKey(toolchain, args, dir)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// with returns a copy of files with one file set.
func with(files map[string]string, name, content string) map[string]string {
	changed := map[string]string{name: content}
	for other, text := range files {
		if other != name {
			changed[other] = text
		}
	}
	return changed
}

// writeFiles puts the files into dir, which is made if need be.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
