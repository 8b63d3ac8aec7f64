// Command types writes the Go types of the Kubernetes API as JSON: the kinds, and the fields of every struct that they
// consist of. `cargo xtask codegen` makes tables from them.
//
//	go run . > types.json
//
// For the types of another release: `go run -modfile go-1.36.mod .`
package main

import (
	"encoding/json"
	"os"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	crdv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	policyconfigv1 "k8s.io/apiserver/pkg/admission/plugin/policy/config/apis/policyconfig/v1"
	resourcequotav1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1"
	resourcequotav1alpha1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1alpha1"
	resourcequotav1beta1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1beta1"
	webhookadmissionv1 "k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	apiserverv1alpha1 "k8s.io/apiserver/pkg/apis/apiserver/v1alpha1"
	"k8s.io/client-go/kubernetes/scheme"
	kubeconfigv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	apiservicev1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiservicev1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	eventratelimitv1alpha1 "k8s.io/kubernetes/plugin/pkg/admission/eventratelimit/apis/eventratelimit/v1alpha1"
	tolerationsv1alpha1 "k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction/apis/podtolerationrestriction/v1alpha1"
	podsecurityv1 "k8s.io/pod-security-admission/admission/api/v1"
	podsecurityv1alpha1 "k8s.io/pod-security-admission/admission/api/v1alpha1"
	podsecurityv1beta1 "k8s.io/pod-security-admission/admission/api/v1beta1"

	"github.com/pratique/pratique/tools/go/gotypes"
)

// output is what the program writes.
type output struct {
	// Kinds has the type of each GROUP/VERSION/KIND.
	Kinds map[string]string `json:"kinds"`
	Types gotypes.Types     `json:"types"`
}

func main() {
	out := output{Kinds: map[string]string{}, Types: gotypes.Types{}}
	for _, add := range []func(*runtime.Scheme) error{
		crdv1.AddToScheme, crdv1beta1.AddToScheme, apiservicev1.AddToScheme, apiservicev1beta1.AddToScheme,
	} {
		if err := add(scheme.Scheme); err != nil {
			panic(err)
		}
	}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		// Every group has the types of meta/v1 as well.
		if of.PkgPath() != reflect.TypeFor[metav1.Status]().PkgPath() && kind.Version != runtime.APIVersionInternal {
			out.Kinds[kind.Group+"/"+kind.Version+"/"+kind.Kind] = gotypes.Name(of)
			out.Types.Add(of)
		}
	}
	// Reviews, configuration, values of annotations, and types that every group has are not kinds of objects.
	for _, of := range []any{
		admissionv1.AdmissionReview{}, admissionv1beta1.AdmissionReview{},
		apiserverv1.AdmissionConfiguration{}, apiserverv1alpha1.AdmissionConfiguration{},
		policyconfigv1.ValidatingAdmissionPolicyConfiguration{}, policyconfigv1.MutatingAdmissionPolicyConfiguration{},
		webhookadmissionv1.WebhookAdmission{}, kubeconfigv1.Config{},
		podsecurityv1.PodSecurityConfiguration{}, podsecurityv1beta1.PodSecurityConfiguration{},
		podsecurityv1alpha1.PodSecurityConfiguration{}, resourcequotav1.Configuration{},
		resourcequotav1beta1.Configuration{}, resourcequotav1alpha1.Configuration{},
		eventratelimitv1alpha1.Configuration{}, tolerationsv1alpha1.Configuration{},
		autoscalingv1.HorizontalPodAutoscalerCondition{}, autoscalingv1.MetricSpec{}, autoscalingv1.MetricStatus{},
		metav1.List{}, metav1.Status{}, metav1.TypeMeta{}, metav1.WatchEvent{},
	} {
		out.Types.Add(reflect.TypeOf(of))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}
