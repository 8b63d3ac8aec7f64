package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pratique/pratique/tools/go/policy/defaults"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/initializer"
)

// policies are those of one origin, with their defaults.
type policies struct {
	validating         []*registration.ValidatingAdmissionPolicy
	validatingBindings []*registration.ValidatingAdmissionPolicyBinding
	mutating           []*registration.MutatingAdmissionPolicy
	mutatingBindings   []*registration.MutatingAdmissionPolicyBinding
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

// loaders give the policies in the order that those of a directory would have.
func (p *policies) loaders() *initializer.ManifestLoaders {
	return &initializer.ManifestLoaders{
		LoadValidatingPolicyManifests: func(string) ([]*registration.ValidatingAdmissionPolicy, []*registration.ValidatingAdmissionPolicyBinding, string, error) {
			return byName(p.validating), byName(p.validatingBindings), "", nil
		},
		LoadMutatingPolicyManifests: func(string) ([]*registration.MutatingAdmissionPolicy, []*registration.MutatingAdmissionPolicyBinding, string, error) {
			return byName(p.mutating), byName(p.mutatingBindings), "", nil
		},
	}
}

func byName[T interface{ GetName() string }](all []T) []T {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(one, other T) int { return strings.Compare(one.GetName(), other.GetName()) })
	return sorted
}
