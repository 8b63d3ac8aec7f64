package main

import (
	"github.com/pratique/pratique/tools/go/policy/defaults"
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
				accept(defaults.ValidatingPolicy),
				accept(defaults.ValidatingBinding),
				func(b *registration.ValidatingAdmissionPolicyBinding) string { return b.Spec.PolicyName },
			)
		},
		LoadMutatingPolicyManifests: func(directory string) ([]*registration.MutatingAdmissionPolicy, []*registration.MutatingAdmissionPolicyBinding, string, error) {
			return loader.LoadPolicyManifests(directory, decoder,
				accept(defaults.MutatingPolicy),
				accept(defaults.MutatingBinding),
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
