package main

// CEL values as JSON in which equal values look the same.

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
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
		message := timestamppb.New(t.Time)
		if !message.IsValid() {
			return form{"timestamp": nil}
		}
		return form{"timestamp": protoText(message)}
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
		if number, ok := key.(types.Double); ok && math.IsNaN(float64(number)) {
			// Nothing finds what is not equal to itself.
			entries = append(entries, []any{render(key), nil})
			continue
		}
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
	members := form{}
	for name, text := range patchTexts(p) {
		members[name] = text
	}
	if p.Val != nil {
		members["value"] = render(p.Val)
	}
	return form{"patch": members}
}

// patchTexts are the members of an operation that are texts.
func patchTexts(p *mutation.JSONPatchVal) map[string]string {
	texts := map[string]string{}
	for name, text := range map[string]string{"op": p.Op, "path": p.Path, "from": p.From} {
		if text != "" {
			texts[name] = text
		}
	}
	return texts
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

// data is the JSON form of what an object holds: Go values, and CEL values within lists and maps of these. Not all have one.
func data(v any) (any, bool) {
	switch t := v.(type) {
	case nil, types.Null:
		return nil, true
	case bool, string, int64:
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
		return all(len(t), func(i int) (any, bool) { return data(t[i]) })
	case map[string]any:
		return members(t)
	case map[ref.Val]ref.Val:
		named := map[string]any{}
		for key, member := range t {
			name, isText := key.(types.String)
			if !isText {
				return nil, false
			}
			named[string(name)] = member
		}
		return members(named)
	// Pratique has no lists and maps of messages, only lists and maps.
	case *structpb.ListValue, *structpb.Struct:
		return data(types.DefaultTypeAdapter.NativeToValue(t))
	case ref.Val:
		return valueData(t)
	}
	return nil, false
}

func members(named map[string]any) (any, bool) {
	shown := form{}
	for name, member := range named {
		data, fit := data(member)
		if !fit {
			return nil, false
		}
		shown[name] = data
	}
	return shown, true
}

// valueData is the JSON form of a CEL value.
func valueData(v ref.Val) (any, bool) {
	switch t := v.(type) {
	case types.Duration, types.Timestamp:
		return t.ConvertToType(types.StringType).Value(), true
	case *types.Optional:
		if !t.HasValue() {
			return nil, true
		}
		return data(t.GetValue())
	case *types.Type:
		return t.TypeName(), true
	case *mutation.JSONPatchVal:
		named := map[string]any{}
		for name, text := range patchTexts(t) {
			named[name] = text
		}
		if t.Val != nil {
			named["value"] = t.Val
		}
		return members(named)
	case traits.Lister:
		return all(int(t.Size().(types.Int)), func(i int) (any, bool) { return data(t.Get(types.Int(i))) })
	case traits.Mapper:
		named := map[ref.Val]ref.Val{}
		for it := t.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			named[key] = t.Get(key)
		}
		return data(named)
	}
	if text, ok := opaqueText(v); ok {
		return text, true
	}
	if strings.HasPrefix(v.Type().TypeName(), "kubernetes.authorization.") {
		return "", true
	}
	return data(v.Value())
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
