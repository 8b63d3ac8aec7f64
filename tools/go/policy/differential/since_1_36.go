//go:build !kubernetes_before_1_36

package main

import (
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

func init() {
	// The policies of files: alpha in 1.36.
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(map[string]bool{"ManifestBasedAdmissionControlConfig": true}); err != nil {
		panic(err)
	}
}

// mutatingInformers are those of the version that the plugin reads.
func mutatingInformers(factory informers.SharedInformerFactory) []cache.SharedIndexInformer {
	registered := factory.Admissionregistration().V1()
	return []cache.SharedIndexInformer{
		registered.MutatingAdmissionPolicies().Informer(), registered.MutatingAdmissionPolicyBindings().Informer(),
	}
}

// checkRelease tells whether the release can have the policies.
func (p *policies) checkRelease() error { return nil }

// give hands the policies to a plugin as those of its directory.
func (p *policies) give(plugin admission.Interface) {
	if wants, does := plugin.(initializer.WantsManifestLoaders); does {
		wants.SetManifestLoaders(p.loaders())
	}
}

// loaders give the policies in the order that those of a directory would have.
func (p *policies) loaders() *initializer.ManifestLoaders {
	return &initializer.ManifestLoaders{
		LoadValidatingPolicyManifests: func(string) ([]*registration.ValidatingAdmissionPolicy, []*registration.ValidatingAdmissionPolicyBinding, string, error) {
			return byName(p.validating), byName(p.validatingBindings), "", nil
		},
		LoadMutatingPolicyManifests: func(string) ([]*mutating.Policy, []*mutating.PolicyBinding, string, error) {
			return byName(p.mutating), byName(p.mutatingBindings), "", nil
		},
	}
}

func byName[T interface{ GetName() string }](all []T) []T {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(one, other T) int { return strings.Compare(one.GetName(), other.GetName()) })
	return sorted
}
