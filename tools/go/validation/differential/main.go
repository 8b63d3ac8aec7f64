// Command differential validates objects of built-in kinds as kube-apiserver's registry does before it stores them, for
// `cargo xtask differential validation`.
//
// It reads lines of JSON, {"kind": {group, version, kind}, "resource": …, "namespace": …, "subresource": …, "object": …,
// "oldObject": …, "times": …}, and answers each with {"outcomes": [[…]]}, where an outcome is {"accepted": true} or
// {"status": …}, or with {"error": …}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"reflect"
	"slices"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/capabilities"
)

type question struct {
	Kind        metav1.GroupVersionKind `json:"kind"`
	Resource    string                  `json:"resource"`
	Namespace   string                  `json:"namespace"`
	Subresource string                  `json:"subresource"`
	Object      json.RawMessage         `json:"object"`
	OldObject   *json.RawMessage        `json:"oldObject"`
	Times       int                     `json:"times"`
}

type outcome struct {
	Accepted bool           `json:"accepted,omitempty"`
	Status   *metav1.Status `json:"status,omitempty"`
}

type answer struct {
	Outcomes [][]outcome `json:"outcomes,omitempty"`
	Error    string      `json:"error,omitempty"`
}

func main() {
	// As kubeadm starts a server.
	capabilities.Setup(true, 0)
	// The registry logs each difference between its two kinds of rules.
	klog.SetLogger(logr.Discard())
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for in.More() {
		var asked question
		if err := in.Decode(&asked); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(asked.answer()); err != nil {
			log.Fatal(err)
		}
	}
}

// answer validates the object as often as is asked, and keeps the outcomes that differ.
func (q *question) answer() (given answer) {
	defer func() {
		if crash := recover(); crash != nil {
			given = answer{Error: fmt.Sprintf("crash: %v", crash)}
		}
	}()
	var outcomes []outcome
	for range max(q.Times, 1) {
		found, err := q.validate()
		if err != nil {
			return answer{Error: err.Error()}
		}
		isNew := true
		for _, known := range outcomes {
			isNew = isNew && !reflect.DeepEqual(known, found)
		}
		if isNew {
			outcomes = append(outcomes, found)
		}
	}
	return answer{Outcomes: [][]outcome{outcomes}}
}

func (q *question) validate() (outcome, error) {
	key := q.Kind.Group + "/" + q.Kind.Kind
	whole, ok := strategies[key]
	var changes rest.RESTUpdateStrategy = whole
	if q.Subresource != "" {
		changes, ok = parts[key+"/"+q.Subresource]
	}
	isService := key == "/Service" && q.Subresource == ""
	if !ok && !isService {
		return outcome{}, errors.New("no strategy for " + q.Kind.Kind + "/" + q.Subresource)
	}
	object, err := q.decode(q.Object)
	if err != nil {
		return refused(err), nil
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return outcome{}, err
	}
	ctx := q.context()
	if q.OldObject == nil {
		if q.Subresource != "" {
			return outcome{}, errors.New("a part is not created")
		}
		rest.WipeObjectMetaSystemFields(accessor)
		if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(q.Namespace, accessor); err != nil {
			return refused(err), nil
		}
		if isService {
			return refused(validateService(ctx, object, nil)), nil
		}
		rest.FillObjectMetaSystemFields(accessor)
		return refused(rest.BeforeCreate(whole, ctx, object)), nil
	}
	old, err := q.decode(*q.OldObject)
	if err != nil {
		return outcome{}, fmt.Errorf("old object: %w", err)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(q.Namespace, accessor); err != nil {
		return refused(err), nil
	}
	if isService {
		return refused(validateService(ctx, object, old)), nil
	}
	return refused(rest.BeforeUpdate(changes, ctx, object, old)), nil
}

func (q *question) decode(body []byte) (runtime.Object, error) {
	kind := schema.GroupVersionKind(q.Kind)
	decoder := codecs(kind.Group).UniversalDecoder(schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	object, _, err := decoder.Decode(body, &kind, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	references := accessor.GetOwnerReferences()
	if kept := distinct(references); len(kept) < len(references) {
		accessor.SetOwnerReferences(kept)
	}
	return object, nil
}

// distinct drops owners that were there before: before a strategy sees an object, its handler drops them.
// Upstream: apiserver/pkg/endpoints/handlers/rest.go, dedupOwnerReferences
func distinct(references []metav1.OwnerReference) []metav1.OwnerReference {
	var kept []metav1.OwnerReference
	for _, reference := range references {
		isEqual := func(other metav1.OwnerReference) bool { return reflect.DeepEqual(other, reference) }
		if !slices.ContainsFunc(kept, isEqual) {
			kept = append(kept, reference)
		}
	}
	return kept
}

// context is that of a request to the resource: declarative rules are those of its version.
func (q *question) context() context.Context {
	verb := "create"
	if q.OldObject != nil {
		verb = "update"
	}
	ctx := request.WithUser(context.Background(), &user.DefaultInfo{
		Name: "admin", UID: "uid-admin", Groups: []string{"system:masters", "system:authenticated"},
	})
	ctx = request.WithNamespace(ctx, q.Namespace)
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: verb, APIGroup: q.Kind.Group, APIVersion: q.Kind.Version,
		Resource: q.Resource, Subresource: q.Subresource, Namespace: q.Namespace,
	})
}

func refused(err error) outcome {
	if err == nil {
		return outcome{Accepted: true}
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		found := status.Status()
		return outcome{Status: &found}
	}
	found := apierrors.NewInternalError(err).Status()
	return outcome{Status: &found}
}
