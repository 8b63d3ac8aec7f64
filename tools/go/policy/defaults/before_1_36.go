//go:build kubernetes_before_1_36

package defaults

import (
	registration "k8s.io/api/admissionregistration/v1"
	beta "k8s.io/api/admissionregistration/v1beta1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Before 1.36 the plugin reads mutating policies as v1beta1, with types of its own.
func setMutatingMatch(match *beta.MatchResources) {
	if match == nil {
		return
	}
	setIfNil(&match.MatchPolicy, beta.Equivalent)
	setIfNil(&match.NamespaceSelector, meta.LabelSelector{})
	setIfNil(&match.ObjectSelector, meta.LabelSelector{})
	for _, rules := range [][]beta.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			setIfNil(&rules[i].Scope, registration.AllScopes)
		}
	}
}
