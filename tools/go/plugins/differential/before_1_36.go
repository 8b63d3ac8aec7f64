//go:build kubernetes_before_1_36

package main

import (
	_ "unsafe" // for go:linkname

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
)

//go:linkname newLifecycleWithClock k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.newLifecycleWithClock
func newLifecycleWithClock(immortal sets.String, clock utilcache.Clock) (*lifecycle.Lifecycle, error)

func timedLifecycle(clock utilcache.Clock) (admission.Interface, error) {
	return newLifecycleWithClock(sets.NewString(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic), clock)
}
