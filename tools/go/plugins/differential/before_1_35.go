//go:build kubernetes_before_1_35

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

func quotaConfiguration(informers.SharedInformerFactory) (quota.Configuration, error) {
	return quotainstall.NewQuotaConfigurationForAdmission(), nil
}

func genericInitializer(c *cluster, allow rules, mapper meta.RESTMapper) admission.PluginInitializer {
	return initializer.New(c.client, nil, c.factory, allow, feature.DefaultFeatureGate, c.ctx.Done(), mapper)
}
