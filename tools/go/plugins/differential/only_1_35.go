//go:build kubernetes_before_1_36 && !kubernetes_before_1_35

package main

import (
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/client-go/informers"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

func quotaConfiguration(factory informers.SharedInformerFactory) (quota.Configuration, error) {
	return quotainstall.NewQuotaConfigurationForAdmission(factory), nil
}
