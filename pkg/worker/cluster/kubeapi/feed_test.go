package kubeapi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// Who may list and not watch would know for a moment, from time to time: what is
// seen would come and go.
func TestAFeedThatMayOnlyListKnowsNothing(t *testing.T) {
	t.Parallel()
	var refusal error = &fault.Error{Fault: fault.Refused, Code: 403, Message: "no watch"}
	f := &feed{
		notify: func(change) {},
		list: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.ServiceList{}, nil
		},
		watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			if refusal != nil {
				return nil, refusal
			}
			return watch.NewEmptyWatch(), nil
		},
	}
	turn := func() {
		require.NoError(t, f.relist(t.Context()))
		f.fail(f.once(t.Context()))
	}
	turn()
	require.ErrorIs(t, f.missing(), refusal)
	require.NoError(t, f.relist(t.Context()))
	require.ErrorIs(t, f.missing(), refusal, "a list alone changes nothing")
	refusal = nil
	require.Error(t, f.once(t.Context()), "the watch ended at once")
	require.NoError(t, f.missing(), "it may be watched now")
}
