package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	// The kinds of a server.
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
)

// prepared is a request with its objects decoded.
type prepared struct {
	*request
	object, old runtime.Object
	options     runtime.Object
	objectKind  schema.GroupVersionKind
	name        string
}

func read(r *request) (*prepared, error) {
	p := &prepared{request: r, name: r.Name, objectKind: schema.GroupVersionKind(r.Kind)}
	var err error
	if p.object, err = decode(r.Object); err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	if p.old, err = decode(r.OldObject); err != nil {
		return nil, fmt.Errorf("oldObject: %w", err)
	}
	if p.object != nil {
		var of metav1.TypeMeta
		if err := json.Unmarshal(r.Object, &of); err == nil {
			p.objectKind = schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
		}
		// A server takes the name of a new object from the object where the path has none.
		if accessor, err := meta.Accessor(p.object); err == nil && p.name == "" && r.Operation == "CREATE" {
			p.name = accessor.GetName()
		}
	}
	switch admission.Operation(r.Operation) {
	case admission.Create:
		p.options = &metav1.CreateOptions{}
	case admission.Update:
		p.options = &metav1.UpdateOptions{}
	case admission.Delete:
		p.options = &metav1.DeleteOptions{}
	case admission.Connect:
	default:
		return nil, fmt.Errorf("operation %q", r.Operation)
	}
	if len(r.Options) > 0 && p.options != nil {
		return p, json.Unmarshal(r.Options, p.options)
	}
	return p, nil
}

// decode reads an object as the body of a request or from storage. A group that the scheme does not know is one of custom resources; a
// kind that it does not know of another group is one that the release has not.
func decode(text json.RawMessage) (runtime.Object, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	object, kind, err := legacyscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if runtime.IsNotRegisteredError(err) && (kind == nil || !legacyscheme.Scheme.IsGroupRegistered(kind.Group)) {
		custom := &unstructured.Unstructured{}
		return custom, custom.UnmarshalJSON(text)
	}
	return object, err
}

// external is the JSON of an internal object in a version.
func external(object runtime.Object, kind schema.GroupVersionKind) (any, error) {
	if object == nil {
		return nil, nil
	}
	if custom, is := object.(*unstructured.Unstructured); is {
		return plain(custom.Object)
	}
	written, err := legacyscheme.Scheme.ConvertToVersion(object.DeepCopyObject(), kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	written.GetObjectKind().SetGroupVersionKind(kind)
	return plain(written)
}

var interfaces = admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)

// pass puts the request through Admit and, where that passes, Validate.
func (p *prepared) pass(ctx context.Context, chain admission.Interface) error {
	attributes := p.attributes(p.object)
	if mutates, does := chain.(admission.MutationInterface); does && chain.Handles(attributes.GetOperation()) {
		if err := mutates.Admit(ctx, attributes, interfaces); err != nil {
			return err
		}
	}
	object := p.object
	if object != nil {
		object = object.DeepCopyObject()
	}
	attributes = p.attributes(object)
	completePodResources(attributes)
	if validates, does := chain.(admission.ValidationInterface); does && chain.Handles(attributes.GetOperation()) {
		return validates.Validate(ctx, attributes, interfaces)
	}
	return nil
}

func (p *prepared) attributes(object runtime.Object) admission.Attributes {
	who := &user.DefaultInfo{Name: p.UserInfo.Username, UID: p.UserInfo.UID, Groups: p.UserInfo.Groups, Extra: p.UserInfo.Extra}
	return admission.NewAttributesRecord(object, p.old, schema.GroupVersionKind(p.Kind), p.Namespace, p.name,
		schema.GroupVersionResource(p.Resource), p.SubResource, admission.Operation(p.Operation), p.options, p.DryRun, who)
}
