package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	admission1 "k8s.io/api/admission/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"
)

// subject is a request and the plugin that it goes through.
type subject struct {
	plugin     *plugin
	object     runtime.Object
	attributes func(object runtime.Object) admission.Attributes
	interfaces admission.ObjectInterfaces
}

func newSubject(given setup) (*subject, error) {
	var namespace core.Namespace
	if err := read(given.Namespace, &namespace); err != nil {
		return nil, err
	}
	var request admission1.AdmissionRequest
	if err := read(given.Request, &request); err != nil {
		return nil, err
	}
	kind := schema.GroupVersionKind(request.Kind)
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(request.Object.Raw, &kind, nil)
	if err != nil {
		return nil, err
	}
	// An API server's internal objects do not say what they are.
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	p, err := newPlugin(given.Plugin, given.Directory, given.OpenAPI, &namespace)
	if err != nil {
		return nil, err
	}
	who := &user.DefaultInfo{Name: request.UserInfo.Username, UID: request.UserInfo.UID, Groups: request.UserInfo.Groups}
	attributes := func(object runtime.Object) admission.Attributes {
		return admission.NewAttributesRecord(object, nil, kind, request.Namespace, request.Name,
			schema.GroupVersionResource(request.Resource), "", admission.Operation(request.Operation), nil, false, who)
	}
	return &subject{p, object, attributes, newInterfaces(kind, schema.GroupVersionResource(request.Resource))}, nil
}

// admit has the plugin decide; what it mutates are the attributes.
func (s *subject) admit(attributes admission.Attributes) error {
	if s.plugin.mutates != nil {
		return s.plugin.mutates.Admit(context.Background(), attributes, s.interfaces)
	}
	return s.plugin.validates.Validate(context.Background(), attributes, s.interfaces)
}

// facts admits once and tells what came of it, in the terms of both sides.
func (s *subject) facts() (map[string]any, error) {
	attributes := s.attributes(s.object.DeepCopyObject())
	err := s.admit(attributes)
	// The plugin reads schemas in the background, and refuses what needs one until it has.
	for try := 0; apierrors.IsServiceUnavailable(err) && try < 100; try++ {
		time.Sleep(20 * time.Millisecond)
		attributes = s.attributes(s.object.DeepCopyObject())
		err = s.admit(attributes)
	}
	found := map[string]any{"allowed": err == nil, "message": nil, "object": nil}
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		found["message"] = status.Status().Message
	case err != nil:
		return nil, fmt.Errorf("the request is not evaluated: %w", err)
	case s.plugin.mutates != nil:
		text, err := json.Marshal(attributes.GetObject())
		if err != nil {
			return nil, err
		}
		found["object"] = json.RawMessage(text)
	}
	return found, nil
}

// batch admits so often, and says how long that took. Each mutation has an object of its own.
func (s *subject) batch(size int, now func() time.Duration) time.Duration {
	all := make([]admission.Attributes, size)
	same := s.attributes(s.object)
	for i := range all {
		all[i] = same
		if s.plugin.mutates != nil {
			all[i] = s.attributes(s.object.DeepCopyObject())
		}
	}
	began := now()
	for _, attributes := range all {
		_ = s.admit(attributes)
	}
	return now() - began
}
