package providers

import (
	"path"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/clusters"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
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

// checkCredentials checks the credentials of a record and takes their values out.
// A value that is missing is kept from old.
func checkCredentials(r *review.Review, in, old *intent.Record) {
	at := review.Spec + "/credentials"
	stored := map[string]string{}
	if old != nil {
		for _, c := range old.Credentials {
			if c.ValueRef != "" {
				stored[c.Key()] = c.ValueRef
			}
		}
	}
	places := map[string]review.Pointer{}
	for i := range in.Credentials {
		here, c := at.Index(i), &in.Credentials[i]
		c.ValueRef = "" // the server's own
		if !checkCredentialPlace(r, here, *c) {
			continue
		}
		key := c.Key()
		if first, twice := places[key]; twice {
			r.Refusef(here, "sets the same as %s; remove one of them", first)
			continue
		}
		places[key] = here
		checkCredentialValue(r, here, c, stored[key])
	}
	checkNestedFiles(r, at, in.Credentials)
}

// checkCredentialPlace checks where external-dns finds the credential. Nothing of a
// credential is quoted: its value may be in the wrong field.
func checkCredentialPlace(r *review.Review, at review.Pointer, c intent.Credential) bool {
	switch {
	case c.Environment == "" && c.File == "":
		r.Refusef(at, "has no target; give environment or file")
	case c.Environment != "" && c.File != "":
		r.Refusef(at, "has two targets; give environment or file, not both")
	case c.File != "":
		if wrong := fileFault(c.File); wrong != "" {
			r.Refusef(at.Key("file"), "%s; give an absolute path such as /etc/kubernetes/azure.json", wrong)
			return false
		}
		return true
	default:
		if wrong := credentialVariableFault(c.Environment); wrong != "" {
			r.Refusef(at.Key("environment"), "%s", wrong)
			return false
		}
		return true
	}
	return false
}

// checkCredentialValue checks that there is one value, and takes it out or keeps
// the stored one.
func checkCredentialValue(r *review.Review, at review.Pointer, c *intent.Credential, storedID string) {
	switch {
	case c.Value != "" && c.SecretRef != nil:
		r.Refusef(at, "has two values; give value or secretRef, not both")
	case c.SecretRef != nil:
		if !review.IsSubdomain(c.SecretRef.Name) {
			r.Refusef(at.Key("secretRef").Key("name"), "is not a name of a Secret; use lower-case letters, digits, '-' and '.'")
		}
		if len(c.SecretRef.Key) > review.LongestSubdomain || !review.SecretKeyPattern.MatchString(c.SecretRef.Key) {
			r.Refusef(at.Key("secretRef").Key("key"), "is not a key of a Secret; use letters, digits, '-', '_' and '.'")
		}
	case c.Value != "":
		value := []byte(c.Value)
		if c.Environment != "" && strings.ContainsRune(c.Value, 0) {
			r.Refusef(at.Key("value"), "holds a NUL character, which a variable cannot hold; give it as a file")
		}
		c.Value = ""
		r.Take((review.Spec + "/credentials").Key(c.Key()), value, func(id string) { c.ValueRef = id })
	case storedID != "":
		c.ValueRef = storedID
		r.Keep(storedID)
	default:
		r.Refusef(at, "has no value, and none is stored; give value or secretRef")
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
		if clusters.Within(file, taken) || clusters.Within(taken, file) {
			return "lies in a directory where Kubernetes puts its own files"
		}
	}
	return ""
}

// checkNestedFiles refuses a file where another one needs a directory.
func checkNestedFiles(r *review.Review, at review.Pointer, credentials []intent.Credential) {
	for i, inner := range credentials {
		for _, outer := range credentials {
			if outer.File != "" && strings.HasPrefix(inner.File, outer.File+"/") {
				r.Refusef(at.Index(i).Key("file"), "%s lies below %s, which is also a file", review.Quote(inner.File), review.Quote(outer.File))
			}
		}
	}
}
