//go:build kubernetes_before_1_36

package main

import (
	"errors"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func init() {
	// Mutating policies are beta, and off unless somebody sets their gate.
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{string(features.MutatingAdmissionPolicy): true}); err != nil {
		panic(err)
	}
}

// mutatingInformers are those of the version that the plugin reads.
func mutatingInformers(factory informers.SharedInformerFactory) []cache.SharedIndexInformer {
	registered := factory.Admissionregistration().V1beta1()
	return []cache.SharedIndexInformer{
		registered.MutatingAdmissionPolicies().Informer(), registered.MutatingAdmissionPolicyBindings().Informer(),
	}
}

// checkRelease tells whether the release can have the policies: static ones came with 1.36.
func (p *policies) checkRelease() error {
	if len(p.mutating)+len(p.mutatingBindings)+len(p.validating)+len(p.validatingBindings) > 0 {
		return errors.New("static: the release has no static policies")
	}
	return nil
}

func (p *policies) give(admission.Interface) {}
