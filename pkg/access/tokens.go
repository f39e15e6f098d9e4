package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// tokens are who the tokens of a file stand for, by the token's hash, so that
// looking one up tells nothing about it.
type tokens map[[sha256.Size]byte]Subject

// find answers who a token stands for.
func (t tokens) find(token string) (Subject, bool) {
	who, ok := t[sha256.Sum256([]byte(token))]
	return who, ok
}

// parseTokens reads a token file, which has a token on each line:
//
//	TOKEN,SUBJECT,ROLE[,PROJECT]
//
// Lines that are empty or begin with # are comments. Its errors name the line;
// they never quote a token.
func parseTokens(content []byte) (tokens, error) {
	known, number := tokens{}, 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		token, who, err := parseToken(line)
		hash := sha256.Sum256([]byte(token))
		if _, twice := known[hash]; err == nil && twice {
			err = errors.New("the token is already on an earlier line")
		}
		if err != nil {
			return nil, fmt.Errorf(", line %d: %w", number, err)
		}
		known[hash] = who
	}
	if len(known) == 0 {
		return nil, errors.New(" holds no token; give lines of TOKEN,SUBJECT,ROLE[,PROJECT]")
	}
	return known, nil
}

func parseToken(line string) (token string, who Subject, err error) {
	const least, most = 3, 4
	parts := strings.Split(line, ",")
	if len(parts) < least || len(parts) > most {
		return "", who, errors.New("want TOKEN,SUBJECT,ROLE[,PROJECT]")
	}
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return "", who, errors.New("a field is empty; want TOKEN,SUBJECT,ROLE[,PROJECT]")
		}
	}
	if ofOthers(parts[1]) {
		return "", who, fmt.Errorf("subject %q would collide with another kind of subject; choose one that is not %s and begins neither with %s nor with %s", parts[1], intent.Itself, ofIssuer, ofCertificate)
	}
	granted, ok := ParseRole(parts[2])
	if !ok {
		return "", who, errors.New("unknown role; want one of " + strings.Join(RoleNames(), ", "))
	}
	grant := Grant{Role: granted}
	if len(parts) == most {
		if err := checkProject(parts[3]); err != nil {
			return "", who, err
		}
		grant.Project = parts[3]
	}
	return parts[0], Subject{Name: parts[1], Grants: []Grant{grant}}, nil
}

// ofOthers tells whether a subject's name is that of somebody whom no token file
// lets in, which it would have in the history.
func ofOthers(name string) bool {
	return name == intent.Itself || strings.HasPrefix(name, ofIssuer) || strings.HasPrefix(name, ofCertificate)
}
