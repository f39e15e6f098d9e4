package emco

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bundleStatus is what the monitor says of an app on a cluster: the objects
// with its label in the context's namespace, with their states.
type bundleStatus struct {
	Ready              bool                `json:"ready"`
	ResourceCount      int32               `json:"resourceCount"`
	ServiceStatuses    []corev1.Service    `json:"serviceStatuses,omitempty"`
	DeploymentStatuses []appsv1.Deployment `json:"deploymentStatuses,omitempty"`
}

// Observe writes what the monitors of all clusters see of a context's apps now:
// into that context of the group that has the statuses, which is the first one
// even after an update. A cluster that does not answer keeps what was written.
func (w *World) Observe(ctx context.Context, id string) error {
	c, err := w.Rsync.read(ctx, id)
	if err != nil {
		return err
	}
	for _, app := range c.apps {
		for _, on := range app.Clusters {
			if err := w.observe(ctx, c, app.Name, on.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Monitor observes the current contexts of all groups until ctx ends.
func (w *World) Monitor(ctx context.Context, interval time.Duration) {
	for wait(ctx, interval) == nil {
		for _, id := range w.currentContexts() {
			_ = w.Observe(ctx, id) // what fails now is seen in the next round
		}
	}
}

func (w *World) currentContexts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for _, l := range w.lives {
		if l.current != "" {
			ids = append(ids, l.current)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *World) observe(ctx context.Context, c composite, app, cluster string) error {
	key := clusterKey(c.statusID, app, cluster)
	exists, err := w.db.has(ctx, key)
	if err != nil || !exists { // nothing of it has been installed yet
		return err
	}
	from, err := w.target(cluster, levelAdmin, "")
	if err != nil || from.ping(ctx) != nil {
		return err
	}
	var before bundleStatus
	var text string
	if exists, err := w.db.get(ctx, key+statusLevel, &text); err != nil || exists && json.Unmarshal([]byte(text), &before) != nil {
		return errors.Join(errors.New("no status at "+key), err)
	}
	now, err := look(ctx, from, c.namespace, c.statusID+"-"+app, before)
	if err != nil {
		return err
	}
	if string(marshal(now)) == text {
		return nil
	}
	if err := w.db.putText(ctx, key+statusLevel, now); err != nil {
		return err
	}
	return w.noteReady(ctx, c.statusID, app, cluster, now)
}

// look reads what has the label. Of a Service that was seen before only the
// status is taken: its spec and metadata stay as they were first seen.
func look(ctx context.Context, from *target, namespace, label string, before bundleStatus) (bundleStatus, error) {
	labelled := metav1.ListOptions{LabelSelector: deploymentLabel + "=" + label}
	services, err := from.client.CoreV1().Services(namespace).List(ctx, labelled)
	if err != nil {
		return bundleStatus{}, err
	}
	deployments, err := from.client.AppsV1().Deployments(namespace).List(ctx, labelled)
	if err != nil {
		return bundleStatus{}, err
	}
	var now bundleStatus
	for _, service := range services.Items {
		known := slices.IndexFunc(before.ServiceStatuses, func(s corev1.Service) bool { return s.Name == service.Name })
		if known >= 0 {
			status := service.Status
			service = before.ServiceStatuses[known]
			service.Status = status
		}
		service.TypeMeta = metav1.TypeMeta{Kind: "Service", APIVersion: "v1"}
		service.ManagedFields = nil
		now.ServiceStatuses = append(now.ServiceStatuses, service)
	}
	for _, deployment := range deployments.Items {
		deployment.TypeMeta = metav1.TypeMeta{Kind: "Deployment", APIVersion: "apps/v1"}
		deployment.ManagedFields = nil
		now.DeploymentStatuses = append(now.DeploymentStatuses, deployment)
	}
	return now, nil
}

// noteReady notes which Services have all that they wait for, as rsync does
// when a status comes in.
func (w *World) noteReady(ctx context.Context, id, app, cluster string, status bundleStatus) error {
	all := len(status.ServiceStatuses) > 0
	for _, service := range status.ServiceStatuses {
		ready := service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(service.Status.LoadBalancer.Ingress) > 0
		all = all && ready
		if err := w.db.put(ctx, resourceKey(id, app, cluster, service.Name+"+Service")+resourceReadyLevel, ready); err != nil {
			return err
		}
	}
	return w.db.put(ctx, clusterKey(id, app, cluster)+resourcesReadyLevel, all)
}

// marshal writes what always can be written.
func marshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}
