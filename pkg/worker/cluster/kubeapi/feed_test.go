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
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// A kind that is refused or not served counts as seen, and one that does not answer does not.
func TestAFeedTellsThatItFailsForAnotherReason(t *testing.T) {
	t.Parallel()
	told := 0
	f := &feed{notify: func(change) { told++ }}
	silent, none := &fault.Error{Fault: fault.Unreachable, Message: "no answer"}, &fault.Error{Fault: cluster.NotServed, Code: 404, Message: "no such kind"}
	for n, c := range []struct {
		because error
		told    int
	}{{silent, 1}, {silent, 1}, {none, 2}, {none, 2}, {&fault.Error{Fault: fault.Unreachable, Code: 500, Message: "broken"}, 3}} {
		f.fail(c.because)
		require.Equal(t, c.told, told, n)
	}
}

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
