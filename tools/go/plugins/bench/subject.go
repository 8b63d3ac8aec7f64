package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

type setup struct {
	Plugins json.RawMessage              `json:"plugins"`
	Objects []json.RawMessage            `json:"objects"`
	Request admissionv1.AdmissionRequest `json:"request"`
	// Whole asks for the whole way of a request: from its body to the answer.
	Whole bool `json:"whole"`
	// Directory has the policies of the cluster, as YAML; none where it is empty.
	Directory string `json:"directory"`
}

// subject is a request before a chain of plugins.
type subject struct {
	chain   admission.Interface
	cluster *cluster
	request *admissionv1.AdmissionRequest
	// original is the decoded and defaulted object.
	original runtime.Object
}

// started gives a cluster, and the plugins that look it up.
func started(given *setup) (*cluster, admission.Interface, error) {
	names, err := pluginNames(given.Plugins)
	if err != nil {
		return nil, nil, err
	}
	objects := given.Objects
	if given.Directory != "" {
		policies, err := documents(given.Directory)
		if err != nil {
			return nil, nil, err
		}
		names, objects = append(names, "ValidatingAdmissionPolicy"), append(objects, policies...)
	}
	cluster, err := newCluster(objects)
	if err != nil {
		return nil, nil, err
	}
	chain, err := cluster.start(names)
	return cluster, chain, err
}

func newSubject(given *setup) (*subject, error) {
	cluster, chain, err := started(given)
	if err != nil {
		return nil, err
	}
	original, _, err := legacyscheme.Codecs.UniversalDecoder().Decode(given.Request.Object.Raw, nil, nil)
	if err != nil {
		return nil, err
	}
	return &subject{admission.WithAudit(chain), cluster, &given.Request, original}, nil
}

// once puts an object through the chain: what Validate sees is a copy, as in a server.
func (s *subject) once(object runtime.Object) error {
	ctx, err := recorded()
	if err != nil {
		return err
	}
	attributes := s.attributes(object)
	if chain, ok := s.chain.(admission.MutationInterface); ok && s.chain.Handles(attributes.GetOperation()) {
		if err := chain.Admit(ctx, attributes, interfaces); err != nil {
			return err
		}
	}
	attributes = s.attributes(object.DeepCopyObject())
	if chain, ok := s.chain.(admission.ValidationInterface); ok && s.chain.Handles(attributes.GetOperation()) {
		return chain.Validate(ctx, attributes, interfaces)
	}
	return nil
}

// recorded is the context of a request whose warnings and audit annotations are recorded.
func recorded() (context.Context, error) {
	ctx := warning.WithWarningRecorder(audit.WithAuditContext(context.Background()), &recorder{})
	return ctx, audit.AuditContextFrom(ctx).Init(audit.RequestAuditConfig{Level: auditinternal.LevelMetadata}, nil)
}

var interfaces = admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)

func (s *subject) attributes(object runtime.Object) admission.Attributes {
	r := s.request
	resource := schema.GroupVersionResource(r.Resource)
	dryRun := r.DryRun != nil && *r.DryRun
	return admission.NewAttributesRecord(object, nil, schema.GroupVersionKind(r.Kind), r.Namespace, r.Name, resource,
		r.SubResource, admission.Operation(r.Operation), &metav1.CreateOptions{}, dryRun, requester(r))
}

// requester is who sends a request.
func requester(r *admissionv1.AdmissionRequest) *user.DefaultInfo {
	return &user.DefaultInfo{Name: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups}
}

// batch puts so many copies through the chain, one after another.
func (s *subject) batch(size int, now func() time.Duration) time.Duration {
	objects := make([]runtime.Object, size)
	for i := range objects {
		objects[i] = s.original.DeepCopyObject()
	}
	began := now()
	for _, object := range objects {
		_ = s.once(object)
	}
	taken := now() - began
	// The client that stands for the server remembers what it was asked.
	s.cluster.client.ClearActions()
	return taken
}

// generated is the random name of the volume that ServiceAccount adds.
var generated = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}"`)

// facts is what becomes of the request.
func (s *subject) facts() (map[string]any, error) {
	object := s.original.DeepCopyObject()
	if err := s.once(object); err != nil {
		if _, ok := err.(apierrors.APIStatus); !ok {
			return nil, err
		}
		return map[string]any{"allowed": false, "message": err.Error(), "object": nil}, nil
	}
	kind := schema.GroupVersionKind(s.request.Kind)
	written, err := legacyscheme.Scheme.ConvertToVersion(object, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	shown := json.RawMessage(generated.ReplaceAll(text, []byte(`kube-api-access-xxxxx"`)))
	return map[string]any{"allowed": true, "message": "", "object": shown}, nil
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

// decoded is an object as an informer has it: in its version, and defaulted.
func decoded(text []byte) (runtime.Object, error) {
	object, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	legacyscheme.Scheme.Default(object)
	return object, nil
}
