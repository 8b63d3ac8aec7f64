//go:build kubernetes_before_1_36

package main

import "k8s.io/kubernetes/pkg/registry/resource/resourceclaim"

func init() {
	claims := resourceclaim.NewStrategy(namespaces)
	strategies["resource.k8s.io/ResourceClaim"] = claims
	parts["resource.k8s.io/ResourceClaim/status"] = resourceclaim.NewStatusStrategy(claims)
}
