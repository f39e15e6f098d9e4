package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// credentials is what a record's environment and credentials make of a pod.
type credentials struct {
	own        surroundings      // of external-dns
	webhook    surroundings      // of its sidecar
	volumes    []corev1.Volume   // by name
	values     map[string]string // keys of our Secret → ids of sealed values
	references []reference       // by place
}

// surroundings are what one container gets.
type surroundings struct {
	environment []corev1.EnvVar      // by name
	mounts      []corev1.VolumeMount // by path
}

// literals adds variables that are no secret.
func (s *surroundings) literals(variables map[string]string) {
	for name, value := range variables {
		s.environment = append(s.environment, corev1.EnvVar{Name: name, Value: literal(value)})
	}
}

func (s *surroundings) sort() {
	slices.SortFunc(s.environment, func(a, b corev1.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.mounts, func(a, b corev1.VolumeMount) int { return cmp.Compare(a.MountPath, b.MountPath) })
}

// reference is where a credential's value is. Its place is a variable or a path.
type reference struct {
	place, secret, key, valueRef string
}

// readCredentials lists what the pod gets. Two values for one place are a
// field: an API server refuses such a pod.
func readCredentials(p plan.Provider) (credentials, []intent.Field) {
	var fields []intent.Field
	c := credentials{values: map[string]string{}}
	c.own.literals(p.Record.Spec.Environment)
	taken := map[string]bool{}
	for name := range p.Record.Spec.Environment {
		taken[intent.Credential{Environment: name}.Key()] = true
	}
	if sidecar := p.Record.Spec.Webhook; sidecar != nil {
		c.webhook.literals(sidecar.Environment)
	}
	for n, credential := range p.Record.Spec.Credentials {
		if wrong := fault(credential, taken); wrong != "" {
			fields = append(fields, intent.Field{
				Pointer: fmt.Sprintf("%s/%d", atCredentials, n), Detail: credential.Key() + " " + wrong,
			})
			continue
		}
		taken[credential.Key()] = true
		c.add(credential, p)
	}
	c.own.sort()
	c.webhook.sort()
	slices.SortFunc(c.volumes, func(a, b corev1.Volume) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(c.references, func(a, b reference) int { return cmp.Compare(a.place, b.place) })
	for _, volume := range c.volumes {
		slices.SortFunc(volume.Secret.Items, func(a, b corev1.KeyToPath) int { return cmp.Compare(a.Key, b.Key) })
	}
	return c, fields
}

// fault says what is wrong with a credential, empty when nothing is.
func fault(c intent.Credential, taken map[string]bool) string {
	switch {
	case taken[c.Key()]:
		return "is set twice; leave one out"
	case c.SecretRef == nil && c.ValueRef == "":
		return "has no value; give value or secretRef"
	}
	return ""
}

// holder is the container whose credential it is: a sidecar reaches the account
// of the DNS provider, and external-dns keeps what sets its own flags.
func (c *credentials) holder(credential intent.Credential, record intent.Record) *surroundings {
	if record.Webhook == nil || strings.HasPrefix(credential.Environment, externaldns.EnvironmentPrefix) {
		return &c.own
	}
	return &c.webhook
}

// add puts one credential in place: from the user's Secret, or from ours.
func (c *credentials) add(credential intent.Credential, p plan.Provider) {
	holder, ours := c.holder(credential, p.Record.Spec), DeploymentName(p.Record.Name, p.Scope)
	from := reference{place: credential.Key(), secret: ours, key: secretKey(credential), valueRef: credential.ValueRef}
	if credential.SecretRef != nil {
		from.secret, from.key, from.valueRef = credential.SecretRef.Name, credential.SecretRef.Key, ""
	} else {
		c.values[from.key] = from.valueRef
	}
	c.references = append(c.references, from)
	if credential.File == "" {
		holder.environment = append(holder.environment, corev1.EnvVar{Name: credential.Environment, ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: from.secret}, Key: from.key,
			},
		}})
		return
	}
	volume := c.volume(from.secret)
	if item := (corev1.KeyToPath{Key: from.key, Path: from.key}); !slices.Contains(volume.Secret.Items, item) {
		volume.Secret.Items = append(volume.Secret.Items, item)
	}
	holder.mounts = append(holder.mounts, corev1.VolumeMount{
		Name: volume.Name, MountPath: credential.File, SubPath: from.key, ReadOnly: true,
	})
}

// groupReadable lets external-dns read, by the pod's fsGroup, what root owns.
const groupReadable int32 = 0o440

// volume finds or adds the volume of a Secret.
func (c *credentials) volume(secret string) corev1.Volume {
	name := "secret-" + plan.Hash(secret)
	for _, v := range c.volumes {
		if v.Name == name {
			return v // its source is shared
		}
	}
	v := corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: new(groupReadable)},
	}}
	c.volumes = append(c.volumes, v)
	return v
}

// secretKey is the key of a credential in our Secret: the variable's name, or
// the file's with a hash of its whole path.
func secretKey(c intent.Credential) string {
	if c.File == "" {
		return c.Environment
	}
	return plan.Slug(path.Base(c.File), longestSlug) + "-" + plan.Hash(c.File)
}

// secret holds the values that were given inline, empty until the sync worker
// fills it. Nil when there are none.
func (r renderer) secret() (*corev1.Secret, error) {
	if len(r.credentials.values) == 0 {
		return nil, nil
	}
	values, err := json.Marshal(r.credentials.values)
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: r.meta(),
		Type:       corev1.SecretTypeOpaque,
	}
	secret.Annotations = map[string]string{bundle.AnnotationValuesFrom: string(values)}
	return secret, nil
}

// fingerprint changes when a credential has another source or a new value, which
// external-dns would not notice by itself. It is made of references, never of values.
// Empty without credentials.
func (c *credentials) fingerprint() string {
	if len(c.references) == 0 {
		return ""
	}
	var parts []string
	for _, r := range c.references {
		parts = append(parts, r.place, r.secret, r.key, r.valueRef)
	}
	return plan.Hash(parts...)
}
