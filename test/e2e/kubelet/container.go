package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// container is what a pod's process is started with.
type container struct {
	args   []string
	env    []string
	health string // host:port where it serves its health and its metrics
}

// container resolves the Deployment's first container.
func (p *pod) container(ctx context.Context, k *Kubelet) (container, error) {
	spec := p.spec()
	if len(spec.Command) > 0 {
		return container{}, errors.New("a command is not supported: the image has its own")
	}
	if len(spec.EnvFrom) > 0 {
		return container{}, errors.New("envFrom is not supported")
	}
	kubeconfig, err := p.writeKubeconfig(k)
	if err != nil {
		return container{}, err
	}
	mounts, err := p.mount(ctx, k, spec)
	if err != nil {
		return container{}, err
	}
	args, health := p.ownAddress(mounts.remapAll(spec.Args))
	result := container{args: args, health: health, env: []string{
		// What a container has of its own accord. Inside a cluster the
		// configuration is found without being told; here it is not.
		"PATH=/usr/bin:/bin", "HOME=" + p.dir, "EXTERNAL_DNS_KUBECONFIG=" + kubeconfig,
	}}
	if health == "" {
		result.health = p.hostIP() + ":" + metricsPort
		result.env = append(result.env, "EXTERNAL_DNS_METRICS_ADDRESS="+result.health)
	}
	for _, variable := range spec.Env {
		value, err := p.value(ctx, k, variable)
		if err != nil {
			return container{}, fmt.Errorf("environment %s: %w", variable.Name, err)
		}
		result.env = append(result.env, variable.Name+"="+mounts.remap(value))
	}
	return result, nil
}

// ownAddress makes "all addresses" of the metrics mean those of the pod: a
// process, unlike a container, shares the network with all others. The second
// result is where the metrics are; empty where the arguments do not say.
func (p *pod) ownAddress(args []string) (own []string, metrics string) {
	const flag = "--metrics-address="
	for _, arg := range args {
		if port, all := strings.CutPrefix(arg, flag+":"); all {
			metrics = p.hostIP() + ":" + port
			arg = flag + metrics
		}
		own = append(own, arg)
	}
	return own, metrics
}

// value is the value of an environment variable.
func (p *pod) value(ctx context.Context, k *Kubelet, variable corev1.EnvVar) (string, error) {
	from := variable.ValueFrom
	switch {
	case from == nil:
		return variable.Value, nil
	case from.SecretKeyRef != nil:
		secret, err := p.secret(ctx, k, from.SecretKeyRef.Name)
		if err != nil {
			return "", missingSecret(from.SecretKeyRef.Name, err)
		}
		value, ok := secret[from.SecretKeyRef.Key]
		if !ok {
			return "", &configError{fmt.Sprintf("couldn't find key %s in Secret %s/%s", from.SecretKeyRef.Key, p.deployment.Namespace, from.SecretKeyRef.Name)}
		}
		return string(value), nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.namespace":
		return p.deployment.Namespace, nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
		return p.name(), nil
	case from.FieldRef != nil && from.FieldRef.FieldPath == "status.podIP":
		return p.hostIP(), nil
	default:
		return "", errors.New("this kind of source is not supported")
	}
}

func (p *pod) secret(ctx context.Context, k *Kubelet, name string) (map[string][]byte, error) {
	secret, err := k.server.Client.CoreV1().Secrets(p.deployment.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return secret.Data, nil
}

// mounts are the places of a container's files on this machine, by the path in
// the container, longest first.
type mounts []struct{ inside, outside string }

// mount writes the container's files below the pod's directory. Only Secrets
// and empty directories are known.
func (p *pod) mount(ctx context.Context, k *Kubelet, spec corev1.Container) (mounts, error) {
	var result mounts
	for _, mount := range spec.VolumeMounts {
		outside := filepath.Join(p.dir, "root", mount.MountPath)
		files, err := p.volume(ctx, k, mount.Name)
		if err != nil {
			return nil, fmt.Errorf("volume %s: %w", mount.Name, err)
		}
		if mount.SubPath != "" {
			content, ok := files[mount.SubPath]
			if !ok {
				return nil, fmt.Errorf("volume %s has no %s", mount.Name, mount.SubPath)
			}
			files, outside = map[string][]byte{filepath.Base(outside): content}, filepath.Dir(outside)
		}
		if err := writeVolume(outside, files); err != nil {
			return nil, err
		}
		if files != nil { // an empty directory needs no other place
			result = append(result, struct{ inside, outside string }{
				mount.MountPath, filepath.Join(p.dir, "root", mount.MountPath)})
		}
	}
	slices.SortFunc(result, func(a, b struct{ inside, outside string }) int { return len(b.inside) - len(a.inside) })
	return result, nil
}

// volume returns the files of a volume; nil for an empty directory.
func (p *pod) volume(ctx context.Context, k *Kubelet, name string) (map[string][]byte, error) {
	for _, volume := range p.deployment.Spec.Template.Spec.Volumes {
		switch {
		case volume.Name != name:
		case volume.EmptyDir != nil:
			return nil, nil
		case volume.Secret != nil:
			data, err := p.secret(ctx, k, volume.Secret.SecretName)
			if err != nil {
				return nil, err
			}
			return project(data, volume.Secret.Items)
		default:
			return nil, errors.New("this kind of volume is not supported")
		}
	}
	return nil, errors.New("there is no such volume")
}

// project picks keys of a Secret and names the files; no items: all keys.
func project(data map[string][]byte, items []corev1.KeyToPath) (map[string][]byte, error) {
	if len(items) == 0 {
		return data, nil
	}
	files := map[string][]byte{}
	for _, item := range items {
		content, ok := data[item.Key]
		if !ok {
			return nil, fmt.Errorf("the secret has no key %s", item.Key)
		}
		files[item.Path] = content
	}
	return files, nil
}

func writeVolume(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// remap replaces the paths of mounted files: a process, unlike a container,
// shares the file system with all others.
func (m mounts) remap(text string) string {
	for _, mount := range m {
		if strings.Contains(text, mount.inside) {
			return strings.ReplaceAll(text, mount.inside, mount.outside)
		}
	}
	return text
}

func (m mounts) remapAll(texts []string) []string {
	result := make([]string, 0, len(texts))
	for _, text := range texts {
		result = append(result, m.remap(text))
	}
	return result
}
