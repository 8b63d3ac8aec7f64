//go:build !kubernetes_before_1_35

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

func genericInitializer(client kubernetes.Interface, params dynamic.Interface, factory informers.SharedInformerFactory, allow rules, stop chan struct{}, mapper meta.RESTMapper) admission.PluginInitializer {
	return initializer.New(client, params, factory, allow, feature.DefaultFeatureGate, nil, stop, mapper)
}
