package kubeapi

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Share implements Target: a server-side apply under a manager of the
// installation's own, which owns these keys and nothing else.
func (k *Kubernetes) Share(ctx context.Context, o bundle.Object) (cluster.Live, error) {
	raw, err := keysOf(o)
	if err != nil {
		return cluster.Live{}, err
	}
	return k.share(ctx, o.ID, raw)
}

// Unshare implements Target: applying no keys gives up those that were applied.
// The UID keeps the request from making an object that is gone.
func (k *Kubernetes) Unshare(ctx context.Context, id bundle.ID) error {
	live, err := k.Get(ctx, id)
	if err != nil || live == nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": id.Kind, "metadata": map[string]any{"name": id.Name, "namespace": id.Namespace, "uid": live.UID},
	})
	if err != nil {
		return err
	}
	_, err = k.share(ctx, id, raw)
	return err
}

func (k *Kubernetes) share(ctx context.Context, id bundle.ID, raw []byte) (cluster.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	at, err := k.resource(ctx, id, "")
	if err != nil {
		return cluster.Live{}, err
	}
	force := true
	manager := FieldManager + "-" + k.options.Installation
	object, err := at.Patch(ctx, id.Name, types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: manager, Force: &force})
	if apierrors.IsNotFound(err) {
		return cluster.Live{}, &fault.Error{Fault: cluster.NoNamespace, Code: 404, Message: "the namespace " + id.Namespace + " of somebody else's " + id.Kind + " is not there", Err: err}
	}
	if err != nil {
		return cluster.Live{}, cluster.Classify(err, cluster.Applying)
	}
	return liveOf(object), nil
}

// keysOf is a shared object with nothing but its name and its keys: no label of
// ours belongs on somebody else's object. ConfigMaps alone are shared.
func keysOf(o bundle.Object) ([]byte, error) {
	var content map[string]json.RawMessage
	if err := json.Unmarshal(o.JSON, &content); err != nil || o.Kind != "ConfigMap" || o.Group != "" {
		return nil, cluster.Refuse(o.ID.String() + " has no keys that could be shared")
	}
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": o.Kind, "data": content["data"],
		"metadata": map[string]string{"name": o.Name, "namespace": o.Namespace},
	})
}
