package clusterdns

import (
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// checkNodePlacement checks which nodes DNS pods run on, as Kubernetes checks a
// pod's nodeSelector and tolerations.
func checkNodePlacement(r *review.Review, in *intent.NodePlacement) {
	const at = review.Spec + "/nodePlacement"
	if in == nil {
		return
	}
	review.CheckLabels(r, at.Key("nodeSelector"), in.NodeSelector)
	for i, toleration := range in.Tolerations {
		checkToleration(r, at.Key("tolerations").Index(i), toleration)
	}
}

func checkToleration(r *review.Review, at review.Pointer, in intent.Toleration) {
	if in.Key != "" && !review.IsQualifiedName(in.Key) {
		r.Refusef(at.Key("key"), "%s is not a key of a taint; %s", review.Quote(in.Key), review.KeyAdvice)
	}
	switch in.Operator {
	case "", "Equal":
		if in.Key == "" {
			r.Refusef(at.Key("operator"), "must be Exists if there is no key, which tolerates every taint; use Exists, or give a key")
		}
		if in.Value != "" && !review.IsLabelValue(in.Value) {
			r.Refusef(at.Key("value"), "%s is not a value of a taint; %s", review.Quote(in.Value), review.ValueAdvice)
		}
	case "Exists":
		if in.Value != "" {
			r.Refusef(at.Key("value"), "must be absent with operator Exists, which tolerates every value; remove it, or use operator Equal")
		}
	default:
		r.Refusef(at.Key("operator"), "%s is not an operator; give Exists or Equal", review.Quote(in.Operator))
	}
	switch in.Effect {
	case "", "NoSchedule", "PreferNoSchedule", "NoExecute":
	default:
		r.Refusef(at.Key("effect"), "%s is no effect; give NoSchedule, PreferNoSchedule or NoExecute, or leave it out for all", review.Quote(in.Effect))
		return
	}
	if in.TolerationSeconds != nil && in.Effect != "NoExecute" {
		r.Refusef(at.Key("tolerationSeconds"), "is only for effect NoExecute; use that effect, or remove it")
	}
}
