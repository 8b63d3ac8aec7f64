//go:build !kubernetes_before_1_37

package main

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	api "k8s.io/kubernetes/pkg/apis/core"
)

// completePodResources does what the strategy of pods does between the phases, as LimitRanger and ResourceQuota count it. Before 1.37,
// decoding did it.
func completePodResources(a admission.Attributes) {
	pod, is := a.GetObject().(*api.Pod)
	if !is || a.GetResource().GroupResource() != api.Resource("pods") {
		return
	}
	isCreated := a.GetOperation() == admission.Create && a.GetSubresource() == ""
	if isCreated || a.GetOperation() == admission.Update && a.GetSubresource() == "resize" {
		podutil.DefaultPodLevelResources(pod)
	}
}

func (r rules) ConditionsAwareAuthorize(ctx context.Context, check authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(r.Authorize(ctx, check))
}

func (rules) EvaluateConditions(context.Context, authorizer.ConditionsAwareDecision, authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", authorizer.ErrorConditionEvaluationNotSupported
}
