package main

import (
	"encoding/json"
	"hash/fnv"
	"math/rand"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/pratique/pratique/tools/go/gotypes"
)

// generator makes objects at random; the same name gives the same object.
type generator struct{ *rand.Rand }

func newGenerator(name string) generator {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return generator{rand.New(rand.NewSource(int64(hash.Sum64())))}
}

// texts are values that defaulting asks for, and others.
var texts = []string{
	"a", "cpu", "Always", "ClusterIP", "Container", "ExactCount", "IfNotPresent", "LoadBalancer", "Limited", "NodePort", "OnDelete",
	"ReadWriteOnce", "Recreate", "Resource", "RollingUpdate", "ServiceAccount", "TCP", "User", "busybox", "nginx:1.2", "nginx:latest",
}

var quantities = []string{"0", "1", "100Mi", "1500m", "0.5", "1.0005"}

// pick says that something happens once in so many times.
func (g generator) once(in int) bool { return g.Intn(in) == 0 }

// value is a value of a type in JSON; the deeper it is nested, the less there is in it.
func (g generator) value(of reflect.Type, depth int) any {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of {
	case reflect.TypeFor[metav1.Time]():
		return "2024-01-02T03:04:05Z"
	case reflect.TypeFor[metav1.MicroTime]():
		return "2024-01-02T03:04:05.000006Z"
	case reflect.TypeFor[metav1.Duration]():
		return "5m0s"
	case reflect.TypeFor[resource.Quantity]():
		return quantities[g.Intn(len(quantities))]
	case reflect.TypeFor[intstr.IntOrString]():
		return []any{0, 8, "p", "25%"}[g.Intn(4)]
	case reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[metav1.FieldsV1]():
		return map[string]any{"a": 1}
	case reflect.TypeFor[metav1.ObjectMeta]():
		return g.metadata()
	}
	if reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true
	}
	switch of.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		g.fields(of, depth, fields)
		return fields
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return "YQ=="
		}
		list := []any{}
		for i := g.Intn(3); i > 0; i-- {
			list = append(list, g.value(of.Elem(), depth+1))
		}
		return list
	case reflect.Map:
		members := map[string]any{}
		for i := g.Intn(3); i > 0; i-- {
			members[[]string{"cpu", "memory", "k", "example.com/l"}[g.Intn(4)]] = g.value(of.Elem(), depth+1)
		}
		return members
	case reflect.String:
		if g.once(8) {
			return ""
		}
		return texts[g.Intn(len(texts))]
	case reflect.Bool:
		return g.once(2)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32:
		return g.Intn(4)
	case reflect.Float64:
		return float64(g.Intn(3)) + 0.5
	}
	return nil
}

// fields sets members of an object; each may be absent or null.
func (g generator) fields(of reflect.Type, depth int, fields map[string]any) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, ok := gotypes.Tag(field)
		if !ok || field.Type.Kind() == reflect.Interface {
			continue
		}
		if gotypes.IsInline(field) {
			if field.Type != reflect.TypeFor[metav1.TypeMeta]() {
				g.fields(pointee(field.Type), depth, fields)
			}
			continue
		}
		isMain := depth == 0 && (name == "spec" || name == "template")
		switch {
		case depth > 9 || !isMain && g.Intn(12) < 4+depth:
		case !isMain && g.once(25):
			fields[name] = nil
		default:
			fields[name] = g.value(field.Type, depth+1)
		}
	}
	if g.once(80) {
		fields["nonsense"] = 1
	}
}

func (g generator) metadata() any {
	metadata := map[string]any{"name": "n"}
	if g.once(3) {
		metadata["labels"] = map[string]any{"a": "b"}
	}
	if g.once(4) {
		metadata["annotations"] = map[string]any{"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}
	}
	if g.once(6) {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "uid": "u"}}
	}
	return metadata
}

func pointee(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of
}
