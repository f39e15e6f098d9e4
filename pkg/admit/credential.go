package admit

import (
	"path"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// inheritCredentials lets a body without any list of credentials have the
// stored inline ones; their values are kept like those of any other.
func inheritCredentials(in, old *intent.Record) {
	if in.Credentials != nil || old == nil {
		return
	}
	for _, c := range old.Credentials {
		if c.ValueRef != "" {
			in.Credentials = append(in.Credentials, intent.Credential{Environment: c.Environment, File: c.File})
		}
	}
}

// credentials checks the credentials of a record and takes their values out.
// A value that is missing is kept from old.
func (r *review) credentials(in, old *intent.Record) {
	at := spec + "/credentials"
	stored := map[string]string{}
	if old != nil {
		for _, c := range old.Credentials {
			if c.ValueRef != "" {
				stored[c.Key()] = c.ValueRef
			}
		}
	}
	places := map[string]pointer{}
	for i := range in.Credentials {
		here, c := at.index(i), &in.Credentials[i]
		c.ValueRef = "" // the server's own
		if !r.credentialPlace(here, *c) {
			continue
		}
		key := c.Key()
		if first, twice := places[key]; twice {
			r.refusef(here, "sets the same as %s; leave one out", first)
			continue
		}
		places[key] = here
		r.credentialValue(here, c, stored[key])
	}
	r.nestedFiles(at, in.Credentials)
}

// credentialPlace checks where external-dns finds the credential. Nothing of a
// credential is quoted: its value may be in the wrong field.
func (r *review) credentialPlace(at pointer, c intent.Credential) bool {
	switch {
	case c.Environment == "" && c.File == "":
		r.refusef(at, "has no place; give environment or file")
	case c.Environment != "" && c.File != "":
		r.refusef(at, "has two places; give environment or file, not both")
	case c.File != "":
		if wrong := fileFault(c.File); wrong != "" {
			r.refusef(at.key("file"), "%s; give an absolute path such as /etc/kubernetes/azure.json", wrong)
			return false
		}
		return true
	default:
		if wrong := credentialVariableFault(c.Environment); wrong != "" {
			r.refusef(at.key("environment"), "%s", wrong)
			return false
		}
		return true
	}
	return false
}

// credentialValue checks that there is one value, and takes it out or keeps
// the stored one.
func (r *review) credentialValue(at pointer, c *intent.Credential, storedID string) {
	switch {
	case c.Value != "" && c.SecretRef != nil:
		r.refusef(at, "has two values; give value or secretRef, not both")
	case c.SecretRef != nil:
		if !isSubdomain(c.SecretRef.Name) {
			r.refusef(at.key("secretRef").key("name"), "is no name of a Secret; use lower-case letters, digits, '-' and '.'")
		}
		if len(c.SecretRef.Key) > longestSubdomain || !secretKeyPattern.MatchString(c.SecretRef.Key) {
			r.refusef(at.key("secretRef").key("key"), "is no key of a Secret; use letters, digits, '-', '_' and '.'")
		}
	case c.Value != "":
		value := []byte(c.Value)
		if c.Environment != "" && strings.ContainsRune(c.Value, 0) {
			r.refusef(at.key("value"), "holds a NUL character, which no variable can; give it as a file")
		}
		c.Value = ""
		r.take((spec + "/credentials").key(c.Key()), value, func(id string) { c.ValueRef = id })
	case storedID != "":
		c.ValueRef = storedID
		r.keep(storedID)
	default:
		r.refusef(at, "has no value, and none is stored; give value or secretRef")
	}
}

// fileFault says what is wrong with the path of a credential, empty when
// nothing is.
func fileFault(file string) string {
	const longest = 1024
	switch {
	case !strings.HasPrefix(file, "/"):
		return "is not absolute"
	case path.Clean(file) != file || file == "/":
		return "is not the clean path of a file"
	case len(file) > longest:
		return "is longer than 1024 characters"
	case strings.ContainsFunc(file, func(c rune) bool { return c < ' ' || c == 0x7f || c == ':' || c == 0xfffd }):
		return "holds a colon or a character that cannot be printed"
	}
	for _, taken := range []string{"/proc", "/sys", "/dev", "/var/run/secrets/kubernetes.io", "/run/secrets/kubernetes.io"} {
		if within(file, taken) || within(taken, file) {
			return "lies where Kubernetes puts its own files"
		}
	}
	return ""
}

// nestedFiles refuses a file where another one needs a directory.
func (r *review) nestedFiles(at pointer, credentials []intent.Credential) {
	for i, inner := range credentials {
		for _, outer := range credentials {
			if outer.File != "" && strings.HasPrefix(inner.File, outer.File+"/") {
				r.refusef(at.index(i).key("file"), "%s lies below %s, which is a file, too", quote(inner.File), quote(outer.File))
			}
		}
	}
}
