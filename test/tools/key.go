package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyLength is the number of hexadecimal digits of the hash in a cached
// binary's name.
const keyLength = 16

// toolchain describes the compiler that builds the module in dir: the Go
// version, the platform it builds for and whether it uses cgo.
func toolchain(ctx context.Context, dir string, env []string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH", "CGO_ENABLED")
	cmd.Dir = dir
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask go for its version: %w", err)
	}
	return strings.Join(strings.Fields(string(out)), " "), nil
}

// cacheKey hashes everything that decides what the binary is: the compiler,
// how it is called, and the go.mod, go.sum and Go files in dir.
func cacheKey(toolchain string, args []string, dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("read module: %w", err)
	}
	hash := sha256.New()
	writePart(hash, "toolchain", []byte(toolchain))
	for _, arg := range args {
		writePart(hash, "argument", []byte(arg))
	}
	for _, entry := range entries {
		if entry.IsDir() || !isInput(entry.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return "", fmt.Errorf("read module: %w", err)
		}
		writePart(hash, entry.Name(), content)
	}
	return hex.EncodeToString(hash.Sum(nil))[:keyLength], nil
}

// isInput tells whether a file of that name takes part in the build.
func isInput(name string) bool {
	if name == "go.mod" || name == "go.sum" {
		return true
	}
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// writePart adds one named part to the hash such that no two lists of parts
// give the same bytes. A hash does not fail to write.
func writePart(hash io.Writer, name string, content []byte) {
	_, _ = fmt.Fprintf(hash, "%q %d\n", name, len(content))
	_, _ = hash.Write(content)
}
