package main

// CEL values as JSON in which equal values look the same.

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// form is a value: its type's name with what tells it from others of the type.
type form = map[string]any

func render(v ref.Val) form {
	switch t := v.(type) {
	case nil:
		return form{"unset": nil}
	case types.Null:
		return form{"null": nil}
	case types.Bool:
		return form{"bool": bool(t)}
	case types.Int:
		return form{"int": strconv.FormatInt(int64(t), 10)}
	case types.Uint:
		return form{"uint": strconv.FormatUint(uint64(t), 10)}
	case types.Double:
		return form{"double": double(float64(t))}
	case types.String:
		return form{"string": string(t)}
	case types.Bytes:
		return form{"bytes": base64.StdEncoding.EncodeToString(t)}
	case types.Duration:
		return form{"duration": protoText(durationpb.New(t.Duration))}
	case types.Timestamp:
		return form{"timestamp": protoText(timestamppb.New(t.Time))}
	case *types.Type:
		return form{"type": t.TypeName()}
	case *types.Err:
		return form{"error": t.String()}
	case *types.Optional:
		if !t.HasValue() {
			return form{"optional": nil}
		}
		return form{"optional": render(t.GetValue())}
	case *dynamic.ObjectVal:
		return renderObject(t)
	case *mutation.JSONPatchVal:
		return renderPatch(t)
	}
	if v.Type().TypeName() == "kubernetes.variables" {
		// To look inside would evaluate them.
		return form{"variables": nil}
	}
	if text, ok := opaqueText(v); ok {
		return form{v.Type().TypeName(): text}
	}
	switch t := v.(type) {
	case traits.Mapper:
		return form{"map": renderEntries(t)}
	case traits.Lister:
		elements := []any{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			elements = append(elements, render(it.Next()))
		}
		return form{"list": elements}
	}
	return form{v.Type().TypeName(): ""}
}

// renderEntries sorts the entries: their order is Go's.
func renderEntries(m traits.Mapper) []any {
	entries := []any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		entries = append(entries, []any{render(key), render(m.Get(key))})
	}
	sort.Slice(entries, func(i, j int) bool { return string(encode(entries[i])) < string(encode(entries[j])) })
	return entries
}

func opaqueText(v ref.Val) (string, bool) {
	switch t := v.(type) {
	case apiservercel.Quantity:
		return t.Quantity.String(), true
	case apiservercel.IP:
		return t.Addr.String(), true
	case apiservercel.CIDR:
		return t.Prefix.String(), true
	case apiservercel.URL:
		return t.URL.String(), true
	case apiservercel.Semver:
		return t.Version.String(), true
	case *apiservercel.Quantity:
		return t.Quantity.String(), true
	case *apiservercel.Semver:
		return t.Version.String(), true
	case apiservercel.Format:
		return t.Name, true
	case *apiservercel.Format:
		return t.Name, true
	}
	return "", false
}

func double(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatUint(math.Float64bits(f), 16)
}

// protoText is the text that a message has as JSON.
func protoText(m proto.Message) string {
	var text string
	encoded, err := protojson.Marshal(m)
	if err == nil {
		err = json.Unmarshal(encoded, &text)
	}
	if err != nil {
		return err.Error()
	}
	return text
}

// renderObject shows what a merge would get: the data, or why there is none.
func renderObject(o *dynamic.ObjectVal) form {
	shown := form{"object": o.Type().TypeName()}
	if err := o.CheckTypeNamesMatchFieldPathNames(); err != nil {
		// The order of the faults is that of a Go map.
		shown["misnamed"] = true
		return shown
	}
	shown["data"] = dataOrFault(o.Value())
	return shown
}

// renderPatch shows the members of an operation that are set.
func renderPatch(p *mutation.JSONPatchVal) form {
	return form{"patch": renderMembers(p, func(v ref.Val) any { return render(v) })}
}

func renderMembers(p *mutation.JSONPatchVal, value func(ref.Val) any) form {
	members := form{}
	for name, text := range map[string]string{"op": p.Op, "path": p.Path, "from": p.From} {
		if text != "" {
			members[name] = text
		}
	}
	if p.Val != nil {
		members["value"] = value(p.Val)
	}
	return members
}

func dataOrFault(v any) any {
	if fault, ok := v.(*types.Err); ok {
		return form{"error": fault.String()}
	}
	shown, fit := data(v)
	if !fit {
		return form{"unfit": true}
	}
	return shown
}

// data is what a merge can read of Go values; not everything is fit for it.
func data(v any) (any, bool) {
	switch t := v.(type) {
	case nil, bool, string, int64:
		return t, true
	case uint64:
		if t > math.MaxInt64 {
			return double(float64(t)), true
		}
		return t, true
	case float64:
		return double(t), true
	case []byte:
		return base64.StdEncoding.EncodeToString(t), true
	case []any:
		return all(len(t), func(i int) (any, bool) { return data(t[i]) })
	case []ref.Val:
		return all(len(t), func(i int) (any, bool) { return data(t[i].Value()) })
	case map[string]any:
		members := form{}
		for key, member := range t {
			shown, fit := data(member)
			if !fit {
				return nil, false
			}
			members[key] = shown
		}
		return members, true
	case map[ref.Val]ref.Val:
		members := form{}
		for key, member := range t {
			name, isText := key.(types.String)
			shown, fit := data(member.Value())
			if !fit || !isText {
				return nil, false
			}
			members[string(name)] = shown
		}
		return members, true
	case apiservercel.Format:
		return t.Name, true
	case *mutation.JSONPatchVal:
		return data(renderMembers(t, func(v ref.Val) any { return v.Value() }))
	}
	return typed(v)
}

// typed is data of a Go type of its own, which comes from typed inputs; values of CEL's other types are none.
func typed(v any) (any, bool) {
	switch reflect.TypeOf(v).Kind() {
	case reflect.Map, reflect.Slice:
	case reflect.Struct:
		if !strings.HasPrefix(reflect.TypeOf(v).PkgPath(), "k8s.io/api/") {
			return nil, false
		}
	default:
		return nil, false
	}
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	var plain any
	if err := utiljson.Unmarshal(encoded, &plain); err != nil {
		return nil, false
	}
	return data(plain)
}

func all(count int, at func(int) (any, bool)) (any, bool) {
	elements := make([]any, 0, count)
	for i := range count {
		element, fit := at(i)
		if !fit {
			return nil, false
		}
		elements = append(elements, element)
	}
	return elements, true
}
