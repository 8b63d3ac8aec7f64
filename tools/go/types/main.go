// Command types writes the Go types of the Kubernetes API as JSON: their kinds, and the fields of every struct that these
// are made of, by reflection. `cargo xtask codegen` makes tables of them.
//
//	go run . > types.json
//
// For the types of another release: `go run -modfile go-1.36.mod .`
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"strings"

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
)

// field is a field of a struct.
type field struct {
	JSON      string `json:"json,omitempty"`
	Go        string `json:"go"`
	Type      string `json:"type"`
	Inline    bool   `json:"inline,omitempty"`
	OmitEmpty bool   `json:"omitempty,omitempty"`
	OmitZero  bool   `json:"omitzero,omitempty"`
	// Number is the field's number in protocol buffers.
	Number int `json:"number,omitempty"`
}

// declared is a type with a name: a struct, or another name for a type.
type declared struct {
	Fields *[]field `json:"fields,omitempty"`
	Of     string   `json:"of,omitempty"`
}

// output is what the program writes.
type output struct {
	// Kinds has the type of each GROUP/VERSION/KIND.
	Kinds map[string]string    `json:"kinds"`
	Types map[string]*declared `json:"types"`
}

func main() {
	out := output{Kinds: map[string]string{}, Types: map[string]*declared{}}
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
			out.Kinds[kind.Group+"/"+kind.Version+"/"+kind.Kind] = name(of)
			out.add(of)
		}
	}
	// Reviews, configuration, what annotations hold, and what every group has are no kinds that have objects.
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
		out.add(reflect.TypeOf(of))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}

// add describes a type and those that it is made of.
func (out *output) add(of reflect.Type) {
	if of.Name() == "" || of.PkgPath() == "" {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			out.add(of.Elem())
		}
		return
	}
	if out.Types[name(of)] != nil {
		return
	}
	described := &declared{}
	out.Types[name(of)] = described
	switch of.Kind() {
	case reflect.Struct:
		fields := []field{}
		for i := range of.NumField() {
			if described, ok := describe(of.Field(i)); ok {
				fields = append(fields, described)
				out.add(of.Field(i).Type)
			}
		}
		described.Fields = &fields
	case reflect.Slice:
		described.Of = "[]" + name(of.Elem())
		out.add(of.Elem())
	case reflect.Map:
		described.Of = "map[" + name(of.Key()) + "]" + name(of.Elem())
		out.add(of.Elem())
	default:
		described.Of = of.Kind().String()
	}
}

// describe describes a field; false for one that JSON does not have.
func describe(of reflect.StructField) (field, bool) {
	tag, ok := of.Tag.Lookup("json")
	options := strings.Split(tag, ",")
	if !ok || !of.IsExported() || options[0] == "-" {
		return field{}, false
	}
	described := field{JSON: options[0], Go: of.Name, Type: name(of.Type), Inline: of.Anonymous && options[0] == ""}
	for _, option := range options[1:] {
		described.OmitEmpty = described.OmitEmpty || option == "omitempty"
		described.OmitZero = described.OmitZero || option == "omitzero"
	}
	if numbers := strings.Split(of.Tag.Get("protobuf"), ","); len(numbers) > 1 {
		described.Number, _ = strconv.Atoi(numbers[1])
	}
	return described, true
}

// name writes a type as Go does, with the full path of packages.
func name(of reflect.Type) string {
	switch {
	case of.Name() != "" && of.PkgPath() != "":
		return of.PkgPath() + "." + of.Name()
	case of.Name() != "":
		return of.Name()
	case of.Kind() == reflect.Pointer:
		return "*" + name(of.Elem())
	case of.Kind() == reflect.Slice:
		return "[]" + name(of.Elem())
	case of.Kind() == reflect.Map:
		return "map[" + name(of.Key()) + "]" + name(of.Elem())
	}
	return of.String()
}
