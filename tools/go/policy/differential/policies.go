package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pratique/pratique/tools/go/policy/defaults"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/client-go/kubernetes/scheme"
)

// policies are those of one origin, with their defaults.
type policies struct {
	validating         []*registration.ValidatingAdmissionPolicy
	validatingBindings []*registration.ValidatingAdmissionPolicyBinding
	mutating           []*mutating.Policy
	mutatingBindings   []*mutating.PolicyBinding
}

func readPolicies(texts []json.RawMessage) (*policies, error) {
	found := &policies{}
	for _, text := range texts {
		var of struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(text, &of); err != nil {
			return nil, err
		}
		var err error
		switch of.Kind {
		case "ValidatingAdmissionPolicy":
			err = add(&found.validating, text, defaults.ValidatingPolicy)
		case "ValidatingAdmissionPolicyBinding":
			err = add(&found.validatingBindings, text, defaults.ValidatingBinding)
		case "MutatingAdmissionPolicy":
			err = add(&found.mutating, text, defaults.MutatingPolicy)
		case "MutatingAdmissionPolicyBinding":
			err = add(&found.mutatingBindings, text, defaults.MutatingBinding)
		default:
			err = fmt.Errorf("no policy is of the kind %q", of.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func add[T any](to *[]*T, text []byte, setDefaults func(*T)) error {
	read := new(T)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(read); err != nil {
		return err
	}
	setDefaults(read)
	*to = append(*to, read)
	return nil
}

// objects are all of them, as the API stores them.
func (p *policies) objects() []runtime.Object {
	var all []runtime.Object
	for _, one := range p.validating {
		all = append(all, one)
	}
	for _, one := range p.validatingBindings {
		all = append(all, one)
	}
	for _, one := range p.mutating {
		all = append(all, one)
	}
	for _, one := range p.mutatingBindings {
		all = append(all, one)
	}
	return all
}

// paramKind is that of either version.
type paramKind registration.ParamKind

// customParams counts the plugins that watch each kind of params for which there is no informer of its own: those with a
// policy that is bound and names it.
func (p *policies) customParams(mapper meta.RESTMapper) map[schema.GroupVersionResource]int {
	validating, mutating := []*paramKind{}, []*paramKind{}
	for _, binding := range p.validatingBindings {
		for _, policy := range p.validating {
			if policy.Name == binding.Spec.PolicyName {
				validating = append(validating, (*paramKind)(policy.Spec.ParamKind))
			}
		}
	}
	for _, binding := range p.mutatingBindings {
		for _, policy := range p.mutating {
			if policy.Name == binding.Spec.PolicyName {
				mutating = append(mutating, (*paramKind)(policy.Spec.ParamKind))
			}
		}
	}
	often := map[schema.GroupVersionResource]int{}
	for _, kinds := range [][]*paramKind{validating, mutating} {
		seen := map[schema.GroupVersionResource]bool{}
		for _, kind := range kinds {
			if kind == nil {
				continue
			}
			of := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
			mapping, err := mapper.RESTMapping(of.GroupKind(), of.Version)
			if err == nil && !scheme.Scheme.Recognizes(of) && !seen[mapping.Resource] {
				seen[mapping.Resource] = true
				often[mapping.Resource]++
			}
		}
	}
	return often
}
