package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// metricsPort is where external-dns serves its metrics and its health unless
// told otherwise.
const metricsPort = "7979"

const (
	retryDelay = time.Second     // after a container could not be made
	stopGrace  = 5 * time.Second // between SIGTERM and SIGKILL
)

// pod is the one pod of a Deployment. Its address is 10.a.b.c for the cluster
// and 127.a.b.c on this machine, where every address of 127.0.0.0/8 can be
// listened on: so each external-dns has its metrics on the usual port.
type pod struct {
	deployment *appsv1.Deployment
	owner      types.UID // of the Deployment
	template   string    // hash
	ip         string
	dir        string

	process *process.Process
	health  string    // host:port where the process serves its health
	account types.UID // of the ServiceAccount that the token is for
	retry   time.Time // no start before
	life    life
	logged  int64            // size of the log when the process was started
	told    corev1.PodStatus // as written last
}

func (p *pod) name() string { return p.deployment.Name + "-" + p.template }

// hostIP is the pod's address on this machine.
func (p *pod) hostIP() string { return HostIP(p.ip) }

// HostIP is the address on this machine of the pod with this address.
func HostIP(podIP string) string { return "127" + strings.TrimPrefix(podIP, "10") }

// keepRunning starts the process where it does not run, and tells whether it
// is ready.
func (p *pod) keepRunning(ctx context.Context, k *Kubelet) (bool, error) {
	if err := p.refreshToken(ctx, k); err != nil {
		return false, fmt.Errorf("token: %w", err)
	}
	if p.process != nil && p.process.Running() {
		ready := p.healthy(ctx) == nil
		return ready, p.writeStatus(ctx, k, ready)
	}
	failed := p.launch(ctx, k)
	return false, errors.Join(failed, p.writeStatus(ctx, k, false))
}

// launch starts the process unless it ended, or could not be started, just
// now.
func (p *pod) launch(ctx context.Context, k *Kubelet) error {
	if p.life.state.Running != nil {
		err := p.process.Err()
		p.retry = time.Now().Add(p.life.ends(err, p.words()))
		k.log.WarnContext(ctx, "the process ended", "pod", p.name(), "error", err)
	}
	if time.Now().Before(p.retry) {
		return nil
	}
	container, err := p.container(ctx, k)
	if err != nil {
		p.retry = time.Now().Add(retryDelay)
		p.life.prepares(err)
		return fmt.Errorf("prepare container: %w", err)
	}
	p.health = container.health
	p.process = &process.Process{
		Name: p.name(), Path: k.program, Args: container.args, Env: container.env, Dir: p.dir,
		Log: filepath.Join(k.dir, p.deployment.Namespace+"_"+p.name()+".log"),
	}
	k.log.InfoContext(ctx, "start a process", "pod", p.name(), "args", container.args)
	p.logged = size(p.process.Log)
	p.life.begins()
	return p.process.Launch()
}

// words is the termination message of the container: the end of its log, where
// the Deployment asks for that.
func (p *pod) words() string {
	if p.spec().TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		return ""
	}
	return lastWords(p.process.Log, p.logged)
}

// spec is the container's.
func (p *pod) spec() corev1.Container { return p.deployment.Spec.Template.Spec.Containers[0] }

// healthy asks external-dns as a probe does.
func (p *pod) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.health+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// end ends the process and removes the pod's files.
func (p *pod) end() {
	if p.process != nil {
		// Whether it ended politely is not the tests' concern.
		_ = p.process.Stop(stopGrace)
	}
	_ = os.RemoveAll(p.dir)
}

// tail reads the last lines of a log.
func tail(path string, lines int) string {
	log := process.Process{Log: path}
	return log.Tail(lines)
}
