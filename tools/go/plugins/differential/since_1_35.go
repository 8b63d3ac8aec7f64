//go:build !kubernetes_before_1_35

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/util/feature"
)

func genericInitializer(c *cluster, allow rules, mapper meta.RESTMapper) admission.PluginInitializer {
	version := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor("kube")
	return initializer.New(c.client, nil, c.factory, allow, feature.DefaultFeatureGate, version, c.ctx.Done(), mapper)
}
