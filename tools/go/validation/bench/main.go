// Command bench times how an API server decodes, defaults and validates a new object, for `cargo xtask bench validate`.
//
// The first line of stdin is the setup: {"object": OBJECT, "work": "validate" or "request"}. The answer is what the server says
// of the object: {"message": …}, empty where it stores it. Package contest has the rest.
//
// # What is fair
//
// The work "validate" is what both halves of a server do to an object that is in order: strict decoding with defaults into the
// internal version, then the strategy's validation, that of the metadata and the declarative one. The work "request" also
// fills in metadata, prepares the object for its storage, and asks for warnings.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/pratique/pratique/tools/go/contest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
	_ "k8s.io/kubernetes/pkg/controlplane"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

type setup struct {
	Object json.RawMessage `json:"object"`
	Work   string          `json:"work"`
}

func main() {
	capabilities.Setup(true, 0)
	klog.SetLogger(logr.Discard())
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func begin(given setup) (any, contest.Measure, error) {
	s, err := newSubject(&given)
	if err != nil {
		return nil, nil, err
	}
	message := ""
	if refused := s.work(); refused != nil {
		message = refused.Error()
	}
	measure := func(o contest.Order) (contest.Sample, error) {
		now := o.Clock(contest.Thread)
		batch := func(size int) time.Duration {
			began := now()
			for range size {
				_ = s.work()
			}
			return now() - began
		}
		return contest.Batches(o.Length(), most, batch), nil
	}
	return map[string]any{"message": message}, measure, nil
}

// most is how often the work is done in a batch.
const most = 1 << 16

// subject is an object as a person writes it.
type subject struct {
	text     []byte
	kind     schema.GroupVersionKind
	strategy rest.RESTCreateStrategy
	decoder  runtime.Decoder
	context  context.Context
	// work decodes and validates the object.
	work func() error
}

var strategies = map[string]struct {
	strategy rest.RESTCreateStrategy
	resource string
}{
	"ConfigMap":  {configmap.Strategy, "configmaps"},
	"Deployment": {deployment.Strategy, "deployments"},
	"Pod":        {pod.Strategy, "pods"},
}

func newSubject(given *setup) (*subject, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, given.Object); err != nil {
		return nil, err
	}
	var of struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(given.Object, &of); err != nil {
		return nil, err
	}
	known, ok := strategies[of.Kind]
	if !ok {
		return nil, fmt.Errorf("no strategy for %q", of.Kind)
	}
	info, ok := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		return nil, fmt.Errorf("there is no serializer of JSON")
	}
	kind := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	internal := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	s := &subject{
		text:     compact.Bytes(),
		kind:     kind,
		strategy: known.strategy,
		decoder:  legacyscheme.Codecs.DecoderToVersion(info.StrictSerializer, internal),
		context:  requestContext(kind, known.resource, of.Metadata.Namespace),
	}
	switch given.Work {
	case "validate":
		s.work = s.validate
	case "request":
		s.work = s.request
	default:
		return nil, fmt.Errorf("no work is named %q", given.Work)
	}
	return s, nil
}

func requestContext(kind schema.GroupVersionKind, resource, namespace string) context.Context {
	ctx := request.WithUser(context.Background(), &user.DefaultInfo{
		Name: "admin", UID: "uid-admin", Groups: []string{"system:masters", "system:authenticated"},
	})
	ctx = request.WithNamespace(ctx, namespace)
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: kind.Group, APIVersion: kind.Version,
		Resource: resource, Namespace: namespace,
	})
}

func (s *subject) decode() (runtime.Object, error) {
	object, _, err := s.decoder.Decode(s.text, &s.kind, nil)
	return object, err
}

func (s *subject) validate() error {
	object, err := s.decode()
	if err != nil {
		return err
	}
	return refused(s.kind, object, rest.ValidateCreate(s.context, object, s.strategy))
}

func refused(kind schema.GroupVersionKind, object runtime.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	return apierrors.NewInvalid(kind.GroupKind(), accessor.GetName(), errs)
}

func (s *subject) request() error {
	object, err := s.decode()
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	rest.WipeObjectMetaSystemFields(accessor)
	rest.FillObjectMetaSystemFields(accessor)
	ctx := warning.WithWarningRecorder(s.context, &recorder{})
	return rest.BeforeCreate(s.strategy, ctx, object)
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }
