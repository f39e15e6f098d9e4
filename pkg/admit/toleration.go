package admit

import "github.com/signpost-dns/signpost/pkg/intent"

// nodePlacement checks which nodes DNS pods run on, as Kubernetes checks a
// pod's nodeSelector and tolerations.
func (r *review) nodePlacement(in *intent.NodePlacement) {
	const at = spec + "/nodePlacement"
	if in == nil {
		return
	}
	r.labels(at.key("nodeSelector"), in.NodeSelector)
	for i, toleration := range in.Tolerations {
		r.toleration(at.key("tolerations").index(i), toleration)
	}
}

func (r *review) toleration(at pointer, in intent.Toleration) {
	if in.Key != "" && !isQualifiedName(in.Key) {
		r.refusef(at.key("key"), "%s is no key of a taint; %s", quote(in.Key), keyAdvice)
	}
	switch in.Operator {
	case "", "Equal":
		if in.Key == "" {
			r.refusef(at.key("operator"), "must be Exists when there is no key, which tolerates every taint; give that, or a key")
		}
		if in.Value != "" && !isLabelValue(in.Value) {
			r.refusef(at.key("value"), "%s is no value of a taint; %s", quote(in.Value), valueAdvice)
		}
	case "Exists":
		if in.Value != "" {
			r.refusef(at.key("value"), "has no place beside operator Exists, which tolerates every value; leave it out, or give operator Equal")
		}
	default:
		r.refusef(at.key("operator"), "%s is no operator; give Exists or Equal", quote(in.Operator))
	}
	switch in.Effect {
	case "", "NoSchedule", "PreferNoSchedule", "NoExecute":
	default:
		r.refusef(at.key("effect"), "%s is no effect; give NoSchedule, PreferNoSchedule or NoExecute, or leave it out for all", quote(in.Effect))
		return
	}
	if in.TolerationSeconds != nil && in.Effect != "NoExecute" {
		r.refusef(at.key("tolerationSeconds"), "is for effect NoExecute alone; give that, or leave it out")
	}
}
