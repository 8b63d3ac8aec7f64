package main

import (
	"encoding/json"
	"hash/fnv"
	"math/rand"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// counts says how many random objects there are of kinds whose versions differ.
var counts = map[string]int{
	"Event":                      6,
	"HorizontalPodAutoscaler":    16,
	"ResourceClaim":              8,
	"ResourceClaimTemplate":      3,
	"ResourceSlice":              8,
	"Ingress":                    4,
	"EndpointSlice":              6,
	"PriorityLevelConfiguration": 3,
	"RuntimeClass":               4,
	"RoleBinding":                3,
	"CustomResourceDefinition":   10,
	"CertificateSigningRequest":  4,
	"NetworkPolicy":              3,
	"SubjectAccessReview":        3,
}

// normalised has the kinds with templates of Pods.
var normalised = map[string]bool{
	"DaemonSet": true, "Deployment": true, "ReplicaSet": true, "StatefulSet": true, "CronJob": true, "Job": true,
}

// filler fills values at random; the same name gives the same values.
type filler struct{ *rand.Rand }

func newFiller(name string) filler {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return filler{rand.New(rand.NewSource(int64(hash.Sum64())))}
}

var stamp = time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)

var texts = []string{"a", "b", "cpu", "Resource", "User", "*", "v1", "x/y", "<&>", "é"}

// fill sets a value; the deeper it is nested, the fewer optional parts it gets.
func (f filler) fill(v reflect.Value, depth int) {
	switch out := v.Addr().Interface().(type) {
	case *metav1.TypeMeta, *metav1.FieldsV1:
		return
	case *metav1.ObjectMeta:
		*out = metav1.ObjectMeta{Name: "n"}
		if f.Intn(3) == 0 {
			out.Annotations = map[string]string{"a": "b"}
		}
		return
	case *metav1.Time:
		*out = metav1.NewTime(stamp.Add(time.Duration(f.Intn(9)) * time.Second))
		return
	case *metav1.MicroTime:
		*out = metav1.NewMicroTime(stamp.Add(time.Duration(f.Intn(9)) * time.Microsecond))
		return
	case *resource.Quantity:
		*out = resource.MustParse([]string{"0", "1", "100Mi", "1500m"}[f.Intn(4)])
		return
	case *intstr.IntOrString:
		*out = []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(8), intstr.FromString("p")}[f.Intn(3)]
		return
	case *runtime.RawExtension:
		out.Raw = []byte(`{"a":1}`)
		return
	case *json.RawMessage:
		*out = []byte(`1`)
		return
	case *corev1.PodSpec:
		out.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		return
	case *corev1.PersistentVolumeClaimSpec:
		return
	}
	// Whether an optional value is set.
	present := f.Intn(10) < 8-depth
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			field := v.Field(i)
			if v.Type().Field(i).PkgPath != "" {
				continue
			}
			optional := field.Kind() != reflect.Struct && depth > 0
			if optional && f.Intn(10) >= 7-depth/2 {
				continue
			}
			f.fill(field, depth+1)
		}
	case reflect.Pointer:
		if present {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		if present {
			count := 1 + f.Intn(2)
			v.Set(reflect.MakeSlice(v.Type(), count, count))
			for i := 0; i < count; i++ {
				f.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if present {
			v.Set(reflect.MakeMap(v.Type()))
			for i := 0; i <= f.Intn(2); i++ {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				key.SetString([]string{"k", "l", "topology.kubernetes.io/zone", "kubernetes.io/hostname"}[f.Intn(4)])
				f.fill(value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.String:
		v.SetString(texts[f.Intn(len(texts))])
	case reflect.Bool:
		v.SetBool(f.Intn(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.Intn(4)))
	case reflect.Float64:
		v.SetFloat(float64(f.Intn(3)) + 0.5)
	}
}
