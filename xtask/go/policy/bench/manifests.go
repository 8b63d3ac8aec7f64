package main

import (
	registration "k8s.io/api/admissionregistration/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/loader"
)

// decoder reads static manifests strictly.
var decoder = func() runtime.Decoder {
	known := runtime.NewScheme()
	utilruntime.Must(registration.AddToScheme(known))
	known.AddKnownTypes(schema.GroupVersion{Version: "v1"}, &meta.List{})
	return serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
}()

// manifestLoaders load what a benchmark has: one object a document. They default it, and leave out the validation,
// which the published modules do not have: this side has less to do.
func manifestLoaders() *initializer.ManifestLoaders {
	return &initializer.ManifestLoaders{
		LoadValidatingPolicyManifests: func(directory string) ([]*registration.ValidatingAdmissionPolicy, []*registration.ValidatingAdmissionPolicyBinding, string, error) {
			return loader.LoadPolicyManifests(directory, decoder,
				accept(func(p *registration.ValidatingAdmissionPolicy) {
					setIfNil(&p.Spec.FailurePolicy, registration.Fail)
					setMatch(p.Spec.MatchConstraints)
				}),
				accept(func(b *registration.ValidatingAdmissionPolicyBinding) { setMatch(b.Spec.MatchResources) }),
				func(b *registration.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName },
			)
		},
		LoadMutatingPolicyManifests: func(directory string) ([]*registration.MutatingAdmissionPolicy, []*registration.MutatingAdmissionPolicyBinding, string, error) {
			return loader.LoadPolicyManifests(directory, decoder,
				accept(func(p *registration.MutatingAdmissionPolicy) {
					setIfNil(&p.Spec.FailurePolicy, registration.Fail)
					setMatch(p.Spec.MatchConstraints)
				}),
				accept(func(b *registration.MutatingAdmissionPolicyBinding) { setMatch(b.Spec.MatchResources) }),
				func(b *registration.MutatingAdmissionPolicyBinding) string { return b.Spec.PolicyName },
			)
		},
	}
}

// accept takes objects of one type, with their defaults.
func accept[T runtime.Object](setDefaults func(T)) func(runtime.Object) ([]T, error) {
	return func(object runtime.Object) ([]T, error) {
		own, is := object.(T)
		if !is {
			return nil, loader.ErrUnrecognizedType
		}
		setDefaults(own)
		return []T{own}, nil
	}
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
