package intent

import (
	"maps"
	"slices"
)

// Record is a DNS update record: one DNS provider account with its
// external-dns parameters (seed 004).
type Record struct {
	Provider                  string            `json:"provider"`
	Parameters                map[string]any    `json:"external-dns-parameters,omitempty"`
	Environment               map[string]string `json:"environment,omitempty"`
	Webhook                   *Webhook          `json:"webhook,omitempty"` // the sidecar of provider webhook
	Version                   string            `json:"version,omitempty"` // of external-dns, as in v0.22.0; excludes Image
	Image                     string            `json:"image,omitempty"`   // excludes Version
	DeployOn                  *Home             `json:"deployOn,omitempty"`
	LogicalClouds             []string          `json:"logicalClouds,omitempty"` // of the project, that it serves beside those whose KV pairs name it
	Clusters                  []string          `json:"clusters,omitempty"`      // "provider/cluster", that it serves in the same way
	Credentials               []Credential      `json:"credentials,omitempty"`
	ServiceAccountAnnotations map[string]string `json:"serviceAccountAnnotations,omitempty"`
	PodLabels                 map[string]string `json:"podLabels,omitempty"`
	ImagePullSecrets          []string          `json:"imagePullSecrets,omitempty"`
	ExtraArgs                 []string          `json:"extraArgs,omitempty"`
	Verify                    *Verify           `json:"verify,omitempty"`
	TargetFilter              *TargetFilter     `json:"targetFilter,omitempty"`
	AllowPrivate              bool              `json:"allowPrivate,omitempty"`
	AllowUnownedDeletion      bool              `json:"allowUnownedDeletion,omitempty"`
	ReleaseTimeout            string            `json:"releaseTimeout,omitempty"` // a duration; default twice the interval plus 60 s, for coredns an interval more for each target
	MaxRemoval                *Percent          `json:"maxRemoval,omitempty"`     // of the record's names, how many may go at once unconfirmed; nil: 25; 100: all
	Suspend                   bool              `json:"suspend,omitempty"`
}

// Variables names, in order, what the record sets in external-dns' environment
// or, by a credential, in its sidecar's.
func (r Record) Variables() []string {
	names := slices.Collect(maps.Keys(r.Environment))
	for _, c := range r.Credentials {
		if c.Environment != "" {
			names = append(names, c.Environment)
		}
	}
	slices.Sort(names)
	return names
}

// Files are the paths of the files that credentials give.
func (r Record) Files() []string {
	var paths []string
	for _, c := range r.Credentials {
		if c.File != "" {
			paths = append(paths, c.File)
		}
	}
	return paths
}

// Webhook is the sidecar that speaks to the DNS provider in external-dns' stead,
// which asks it at localhost. The record's credentials are its own, but for
// those that set flags of external-dns (EXTERNAL_DNS_…).
type Webhook struct {
	Image       string            `json:"image"`
	Args        []string          `json:"args,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Port        int               `json:"port,omitempty"` // where it listens; default 8888
}

// Credential is a secret that external-dns needs: as a variable of its environment or as
// a file, with its value given inline or in a Secret.
type Credential struct {
	Environment string     `json:"environment,omitempty"` // a variable's name; excludes File
	File        string     `json:"file,omitempty"`        // an absolute path; excludes Environment
	Value       string     `json:"value,omitempty"`       // write-only; never stored here
	ValueRef    string     `json:"valueRef,omitempty"`    // stored form: the id of the sealed value
	SecretRef   *SecretRef `json:"secretRef,omitempty"`   // a Secret in the project's namespace of the home cluster
}

// Key identifies the credential within its record.
func (c Credential) Key() string {
	if c.File != "" {
		return "file " + c.File
	}
	return "environment " + c.Environment
}

// SecretRef names a key of a Secret.
type SecretRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Verify names the authoritative servers to ask ("192.0.2.53:53").
type Verify struct {
	Servers []string `json:"servers,omitempty"`
}

// TargetFilter holds networks in CIDR form.
type TargetFilter struct {
	Allow []string `json:"allow,omitempty"` // none: everything
	Deny  []string `json:"deny,omitempty"`
}

// Warning tells of input that was stored but does not do what it may seem to.
type Warning struct {
	Parameter string `json:"parameter"` // the parameter or field that it is about
	Message   string `json:"message"`
}
