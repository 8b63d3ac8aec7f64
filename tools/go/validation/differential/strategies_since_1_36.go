//go:build !kubernetes_before_1_36

package main

import (
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourcepoolstatusrequest"
	"k8s.io/kubernetes/pkg/registry/scheduling/podgroup"
)

// Claims ask an authorizer who may write the status of devices since 1.36.
func init() {
	claims := resourceclaim.NewStrategy(namespaces, authorizerfactory.NewAlwaysAllowAuthorizer())
	strategies["resource.k8s.io/ResourceClaim"] = claims
	parts["resource.k8s.io/ResourceClaim/status"] = resourceclaim.NewStatusStrategy(claims)
	strategies["resource.k8s.io/ResourcePoolStatusRequest"] = resourcepoolstatusrequest.Strategy
	parts["resource.k8s.io/ResourcePoolStatusRequest/status"] = resourcepoolstatusrequest.StatusStrategy
	strategies["scheduling.k8s.io/PodGroup"] = podgroup.NewStrategy()
}
