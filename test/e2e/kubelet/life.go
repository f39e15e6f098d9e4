package kubelet

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A process that ends is started again soon, and later each time that it ends
// before long, as a container is.
const (
	firstBackOff   = time.Second
	longestBackOff = 8 * time.Second
	longLife       = 20 * time.Second // after which an end counts as the first
)

// longestWords is how much of its log, in bytes, a container that failed
// leaves as its termination message.
const longestWords = 2048

// life is what a Pod's status tells of its container.
type life struct {
	state    corev1.ContainerState
	last     corev1.ContainerState // how it ended last
	restarts int32
	began    time.Time
	backOff  time.Duration
}

// prepares tells that the container has not been started yet, and why, if that
// is known.
func (l *life) prepares(err error) {
	waiting := &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
	var missing *configError
	if errors.As(err, &missing) {
		waiting.Reason, waiting.Message = "CreateContainerConfigError", missing.Error()
	}
	l.state = corev1.ContainerState{Waiting: waiting}
}

// begins tells that the container runs.
func (l *life) begins() {
	if !l.began.IsZero() {
		l.restarts++
	}
	l.began = time.Now()
	l.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(l.began)}}
}

// ends tells that the container ended, and returns how long it is to stay so.
func (l *life) ends(err error, words string) time.Duration {
	ended := &corev1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: metav1.NewTime(l.began), FinishedAt: metav1.Now(),
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		ended.Reason, ended.ExitCode, ended.Message = "Error", int32(exit.ExitCode()), words
	}
	if exit != nil && exit.ExitCode() < 0 { // by a signal
		ended.ExitCode = 137
	}
	l.backOff = min(2*l.backOff, longestBackOff)
	if l.backOff == 0 || time.Since(l.began) > longLife {
		l.backOff = firstBackOff
	}
	l.last = corev1.ContainerState{Terminated: ended}
	l.state = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason: "CrashLoopBackOff", Message: "back-off " + l.backOff.String() + " restarting failed container",
	}}
	return l.backOff
}

// configError is what keeps a container from being made.
type configError struct{ message string }

func (e *configError) Error() string { return e.message }

// missingSecret words a failed look at a Secret as a kubelet does.
func missingSecret(name string, err error) error {
	if apierrors.IsNotFound(err) {
		return &configError{message: "secret \"" + name + "\" not found"}
	}
	return err
}

// lastWords is the end of what was written to a log since an offset.
func lastWords(path string, since int64) string {
	text, err := os.ReadFile(path)
	if err != nil || int64(len(text)) < since {
		return ""
	}
	text = text[since:]
	return strings.ToValidUTF8(string(text[max(0, len(text)-longestWords):]), "")
}

// size is how long a file is, in bytes.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
