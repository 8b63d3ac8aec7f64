//go:build !kubernetes_before_1_37

package main

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/discovery"
)

// discoveryClient is what tells the kinds of a server: since 1.37 with contexts, too.
type discoveryClient = discovery.DiscoveryInterfaces

func (r rules) ConditionsAwareAuthorize(ctx context.Context, check authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(r.Authorize(ctx, check))
}

func (rules) EvaluateConditions(context.Context, authorizer.ConditionsAwareDecision, authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}
