// Package defaults sets what an API server sets in policies and bindings: the code that does so there is in no published
// module.
package defaults

import (
	registration "k8s.io/api/admissionregistration/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
)

// ValidatingPolicy sets the defaults of a ValidatingAdmissionPolicy.
func ValidatingPolicy(p *registration.ValidatingAdmissionPolicy) {
	setIfNil(&p.Spec.FailurePolicy, registration.Fail)
	setMatch(p.Spec.MatchConstraints)
}

// ValidatingBinding sets the defaults of a ValidatingAdmissionPolicyBinding.
func ValidatingBinding(b *registration.ValidatingAdmissionPolicyBinding) {
	setMatch(b.Spec.MatchResources)
}

// MutatingPolicy sets the defaults of a MutatingAdmissionPolicy, in the version that the release's plugin reads.
func MutatingPolicy(p *mutating.Policy) {
	setIfNil(&p.Spec.FailurePolicy, "Fail")
	setMutatingMatch(p.Spec.MatchConstraints)
}

// MutatingBinding sets the defaults of a MutatingAdmissionPolicyBinding.
func MutatingBinding(b *mutating.PolicyBinding) {
	setMutatingMatch(b.Spec.MatchResources)
}

func setMatch(match *registration.MatchResources) {
	if match == nil {
		return
	}
	setIfNil(&match.MatchPolicy, registration.Equivalent)
	setIfNil(&match.NamespaceSelector, meta.LabelSelector{})
	setIfNil(&match.ObjectSelector, meta.LabelSelector{})
	for _, rules := range [][]registration.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			setIfNil(&rules[i].Scope, registration.AllScopes)
		}
	}
}

func setIfNil[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
