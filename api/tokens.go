package api

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Tokens are the tokens of a file, one on each line:
//
//	TOKEN,SUBJECT,ROLE[,PROJECT]
//
// Lines that are empty or begin with # are comments. The file is read again
// when it changes; while it is broken or missing the last good state holds.
// Tokens is safe for concurrent use.
type Tokens struct {
	file string
	log  *slog.Logger

	mu    sync.RWMutex
	known map[[sha256.Size]byte]subject // by the token's hash, so that looking up tells nothing about it
	seen  stamp                         // of the file when it was last read
}

// stamp tells versions of a file apart.
type stamp struct {
	modified time.Time
	size     int64
}

// LoadTokens reads a token file. Its errors name the line; they never quote a
// token. log is told when the file is broken later on.
func LoadTokens(file string, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{file: file, log: log}
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	t.seen = stamp{info.ModTime(), info.Size()}
	t.known, err = readTokens(file)
	return t, err
}

// find answers who a token stands for.
func (t *Tokens) find(token string) (subject, bool) {
	t.refresh()
	t.mu.RLock()
	defer t.mu.RUnlock()
	who, ok := t.known[sha256.Sum256([]byte(token))]
	return who, ok
}

// refresh reads the file again if it changed.
func (t *Tokens) refresh() {
	var now stamp
	if info, err := os.Stat(t.file); err == nil {
		now = stamp{info.ModTime(), info.Size()}
	}
	t.mu.RLock()
	same := now == t.seen
	t.mu.RUnlock()
	if same {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if now == t.seen {
		return
	}
	t.seen = now
	known, err := readTokens(t.file)
	if err != nil {
		t.log.Error("the token file is broken; its last good state holds", slog.Any("error", err))
		return
	}
	t.known = known
	t.log.Info("the token file was read again", slog.Int("tokens", len(known)))
}

func readTokens(file string) (map[[sha256.Size]byte]subject, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	known, number := map[[sha256.Size]byte]subject{}, 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		token, who, err := parseToken(line)
		hash := sha256.Sum256([]byte(token))
		if _, twice := known[hash]; err == nil && twice {
			err = errors.New("the token is on an earlier line already")
		}
		if err != nil {
			return nil, fmt.Errorf("token file %s, line %d: %w", file, number, err)
		}
		known[hash] = who
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("token file %s holds no token; give lines of TOKEN,SUBJECT,ROLE[,PROJECT]", file)
	}
	return known, nil
}

// parseToken reads one line.
func parseToken(line string) (token string, who subject, err error) {
	const least, most = 3, 4
	parts := strings.Split(line, ",")
	if len(parts) < least || len(parts) > most {
		return "", who, errors.New("want TOKEN,SUBJECT,ROLE[,PROJECT]")
	}
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return "", who, errors.New("a part is empty; want TOKEN,SUBJECT,ROLE[,PROJECT]")
		}
	}
	granted, ok := parseRole(parts[2])
	if !ok {
		return "", who, errors.New("unknown role; want one of " + strings.Join(roleNames(), ", "))
	}
	who = subject{name: parts[1], role: granted}
	if len(parts) == most {
		who.project = parts[3]
	}
	return parts[0], who, nil
}
