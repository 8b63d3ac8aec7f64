//go:build !kubernetes_before_1_36

package main

import (
	_ "unsafe" // for go:linkname

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

func quotaConfiguration(factory informers.SharedInformerFactory) (quota.Configuration, error) {
	return quotainstall.NewQuotaConfigurationForAdmission(factory, nil)
}

//go:linkname newLifecycleWithClock k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.newLifecycleWithClock
func newLifecycleWithClock(immortal sets.Set[string], clock utilcache.Clock) (*lifecycle.Lifecycle, error)

func timedLifecycle(clock utilcache.Clock) (admission.Interface, error) {
	return newLifecycleWithClock(sets.New(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic), clock)
}
