package main

// The inputs of an evaluation, from JSON into the types of the admission plugins.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// inputs are what expressions can read.
type inputs struct {
	Object          json.RawMessage              `json:"object"`
	OldObject       json.RawMessage              `json:"oldObject"`
	Params          json.RawMessage              `json:"params"`
	NamespaceObject json.RawMessage              `json:"namespaceObject"`
	Request         admissionv1.AdmissionRequest `json:"request"`
	Allow           []rule                       `json:"allow"`
}

// rule is one permission; what it leaves empty matches anything. With an error, asking fails.
type rule struct {
	User        string `json:"user"`
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Path        string `json:"path"`
	Reason      string `json:"reason"`
	Error       string `json:"error"`
}

type prepared struct {
	attributes *admission.VersionedAttributes
	request    *admissionv1.AdmissionRequest
	optional   plugincel.OptionalVariableBindings
	namespace  *corev1.Namespace
}

func (in *inputs) prepare(declared declared) (*prepared, error) {
	object, err := untyped(in.Object)
	if err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	old, err := untyped(in.OldObject)
	if err != nil {
		return nil, fmt.Errorf("oldObject: %w", err)
	}
	options, err := options(in.Request.Options.Raw)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	attributes := in.attributes(object, old, options)
	versioned := &admission.VersionedAttributes{
		Attributes:    attributes,
		VersionedKind: schema.GroupVersionKind(in.Request.Kind),
	}
	setObjects(versioned, object, old)
	p := &prepared{
		attributes: versioned,
		request:    plugincel.CreateAdmissionRequest(attributes, in.Request.Resource, in.Request.Kind),
	}
	if declared.Authorizer {
		p.optional.Authorizer = &rules{in.Allow}
	}
	if declared.Params {
		params, err := untyped(in.Params)
		if err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
		if params != nil {
			p.optional.VersionedParams = params
		}
	}
	if !absent(in.NamespaceObject) {
		namespace := &corev1.Namespace{}
		if err := json.Unmarshal(in.NamespaceObject, namespace); err != nil {
			return nil, fmt.Errorf("namespaceObject: %w", err)
		}
		p.namespace = plugincel.CreateNamespaceObject(namespace)
	}
	return p, nil
}

func (in *inputs) attributes(object, old, options runtime.Object) admission.Attributes {
	r := &in.Request
	kind, resource := r.Kind, r.Resource
	if r.RequestKind != nil {
		kind = *r.RequestKind
	}
	if r.RequestResource != nil {
		resource = *r.RequestResource
	}
	who := &user.DefaultInfo{Name: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups}
	for key, values := range r.UserInfo.Extra {
		if who.Extra == nil {
			who.Extra = map[string][]string{}
		}
		who.Extra[key] = values
	}
	dryRun := r.DryRun != nil && *r.DryRun
	return admission.NewAttributesRecord(object, old, schema.GroupVersionKind(kind), r.Namespace, r.Name,
		schema.GroupVersionResource(resource), r.SubResource, admission.Operation(r.Operation), options, dryRun, who)
}

func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}

// untyped keeps integers apart from floats, as the API server's decoder does.
func untyped(raw json.RawMessage) (runtime.Object, error) {
	if absent(raw) {
		return nil, nil
	}
	content := map[string]any{}
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// options are those of a verb, in its type.
func options(raw json.RawMessage) (runtime.Object, error) {
	if absent(raw) {
		return nil, nil
	}
	var of metav1.TypeMeta
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	known := map[string]runtime.Object{
		"CreateOptions": &metav1.CreateOptions{},
		"UpdateOptions": &metav1.UpdateOptions{},
		"DeleteOptions": &metav1.DeleteOptions{},
	}
	typed, ok := known[of.Kind]
	if !ok {
		return nil, fmt.Errorf("there are no options of kind %q", of.Kind)
	}
	return typed, json.Unmarshal(raw, typed)
}

// rules is an authorizer that allows what a rule matches and has no opinion on anything else.
type rules struct{ all []rule }

func (own *rules) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	name := ""
	if who := asked.GetUser(); who != nil {
		name = who.GetName()
	}
	is := func(wanted, own string) bool { return wanted == "" || wanted == own }
	for _, r := range own.all {
		matches := is(r.User, name) && is(r.Verb, asked.GetVerb()) && is(r.Group, asked.GetAPIGroup()) &&
			is(r.Resource, asked.GetResource()) && is(r.Subresource, asked.GetSubresource()) &&
			is(r.Namespace, asked.GetNamespace()) && is(r.Name, asked.GetName()) && is(r.Path, asked.GetPath())
		switch {
		case matches && r.Error != "":
			return authorizer.DecisionNoOpinion, r.Reason, errors.New(r.Error)
		case matches:
			return authorizer.DecisionAllow, r.Reason, nil
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}
