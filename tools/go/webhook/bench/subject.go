package main

import (
	"context"
	"encoding/json"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// subject is a request, and the plugins that it goes through.
type subject struct {
	pod        *core.Pod
	mutating   admission.MutationInterface
	validating admission.ValidationInterface
	interfaces admission.ObjectInterfaces
}

func newSubject(given setup, c configurations) (*subject, error) {
	var request struct {
		Object *core.Pod `json:"object"`
	}
	var namespace core.Namespace
	var mutatingConfiguration registration.MutatingWebhookConfiguration
	var validatingConfiguration registration.ValidatingWebhookConfiguration
	for _, part := range []struct {
		text json.RawMessage
		into any
	}{
		{given.Request, &request}, {given.Namespace, &namespace},
		{c.Mutating, &mutatingConfiguration}, {c.Validating, &validatingConfiguration},
	} {
		if err := json.Unmarshal(part.text, part.into); err != nil {
			return nil, err
		}
	}
	client := fake.NewClientset(&namespace, &mutatingConfiguration, &validatingConfiguration)
	factory := informers.NewSharedInformerFactory(client, 0)
	mutates, err := mutating.NewMutatingWebhook(nil)
	if err != nil {
		return nil, err
	}
	validates, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	nobody := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	})
	stop := make(chan struct{})
	general := initializer.New(client, nil, factory, nobody, utilfeature.DefaultFeatureGate, nil, stop, nil)
	webhooks := webhookinit.NewPluginInitializer(nil, webhook.NewDefaultServiceResolver())
	for _, plugin := range []admission.Interface{mutates, validates} {
		general.Initialize(plugin)
		webhooks.Initialize(plugin)
		if err := plugin.(admission.InitializationValidator).ValidateInitialization(); err != nil {
			return nil, err
		}
	}
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	return &subject{request.Object, mutates, validates, admission.NewObjectInterfacesFromScheme(scheme.Scheme)}, nil
}

func (s *subject) attributes() admission.Attributes {
	object := s.pod.DeepCopy()
	object.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	who := &user.DefaultInfo{Name: "ann", Groups: []string{"system:authenticated"}}
	return admission.NewAttributesRecord(runtime.Object(object), nil, schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
		object.Namespace, object.Name, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "",
		admission.Create, nil, false, who)
}

func within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

func (s *subject) validate(attributes admission.Attributes) error {
	ctx, cancel := within()
	defer cancel()
	return s.validating.Validate(ctx, attributes, s.interfaces)
}

func (s *subject) mutate(attributes admission.Attributes) error {
	ctx, cancel := within()
	defer cancel()
	return s.mutating.Admit(ctx, attributes, s.interfaces)
}

// labels gives those that the object has after mutation.
func (s *subject) labels() (map[string]string, error) {
	attributes := s.attributes()
	if err := s.mutate(attributes); err != nil {
		return nil, err
	}
	return attributes.GetObject().(*core.Pod).Labels, nil
}
