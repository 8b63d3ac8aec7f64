package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	webhooks "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/go-logr/logr"
)

// listen serves reviews of Pods at /validate, with the usual library for webhooks in Go: the requests are decided by the
// validating plugin of an API server, whose policies are a directory's, compiled once.
func listen(arguments []string) error {
	if len(arguments) != 4 {
		return errors.New("bench listen PORT CERTIFICATES DIRECTORY NAMESPACE")
	}
	port, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	var namespace core.Namespace
	if err := read(arguments[3], &namespace); err != nil {
		return err
	}
	plugin, err := newPlugin(validating.PluginName, arguments[2], "", &namespace)
	if err != nil {
		return err
	}
	log.SetLogger(logr.Discard())
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: arguments[1]})
	pods := newInterfaces(core.SchemeGroupVersion.WithKind("Pod"), core.SchemeGroupVersion.WithResource("pods"))
	server.Register("/validate", &webhook.Admission{Handler: &podReviewer{plugin, pods}})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return server.Start(ctx)
}

// podReviewer has the plugin review the Pods of reviews.
type podReviewer struct {
	plugin     *plugin
	interfaces admission.ObjectInterfaces
}

func (p *podReviewer) Handle(ctx context.Context, request webhooks.Request) webhooks.Response {
	object, err := decodePod(request.Object.Raw)
	if err != nil {
		return webhooks.Errored(http.StatusBadRequest, err)
	}
	who := &user.DefaultInfo{Name: request.UserInfo.Username, UID: request.UserInfo.UID, Groups: request.UserInfo.Groups}
	attributes := admission.NewAttributesRecord(object, nil, schema.GroupVersionKind(request.Kind), request.Namespace,
		request.Name, schema.GroupVersionResource(request.Resource), request.SubResource,
		admission.Operation(request.Operation), nil, request.DryRun != nil && *request.DryRun, who)
	err = p.plugin.validates.Validate(ctx, attributes, p.interfaces)
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return webhooks.Allowed("")
	case errors.As(err, &status):
		return webhooks.Denied(status.Status().Message)
	default:
		return webhooks.Errored(http.StatusInternalServerError, err)
	}
}

func decodePod(text []byte) (runtime.Object, error) {
	kind := core.SchemeGroupVersion.WithKind("Pod")
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, &kind, nil)
	if err != nil {
		return nil, fmt.Errorf("the Pod cannot be decoded: %w", err)
	}
	// An API server's internal objects do not say what they are.
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return object, nil
}
