package main

// CEL values as JSON in which equal values look the same.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
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
		return form{"duration": strconv.FormatInt(int64(t.Duration), 10)}
	case types.Timestamp:
		return form{"timestamp": fmt.Sprintf("%d.%09d", t.Time.Unix(), t.Time.Nanosecond())}
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

// renderObject shows what a merge would get: the plain data, or why there is none.
func renderObject(o *dynamic.ObjectVal) form {
	shown := form{"object": o.Type().TypeName()}
	if err := o.CheckTypeNamesMatchFieldPathNames(); err != nil {
		// The order of the faults is that of a Go map.
		shown["misnamed"] = true
		return shown
	}
	switch data := o.Value().(type) {
	case *types.Err:
		shown["error"] = data.String()
	default:
		shown["data"] = plainData(data)
	}
	return shown
}

// plainData is what the merge can read: JSON, and otherwise the name of the Go type that keeps it from doing so.
func plainData(v any) any {
	switch t := v.(type) {
	case nil, bool, string:
		return t
	case int64:
		return form{"int": strconv.FormatInt(t, 10)}
	case uint64:
		return form{"uint": strconv.FormatUint(t, 10)}
	case float64:
		return form{"double": double(t)}
	case []any:
		elements := make([]any, 0, len(t))
		for _, element := range t {
			elements = append(elements, plainData(element))
		}
		return elements
	case []ref.Val:
		elements := make([]any, 0, len(t))
		for _, element := range t {
			elements = append(elements, render(element))
		}
		return form{"values": elements}
	case map[string]any:
		members := form{}
		for key, member := range t {
			members[key] = plainData(member)
		}
		return form{"members": members}
	case map[ref.Val]ref.Val:
		return form{"entries": renderEntries(types.NewRefValMap(types.DefaultTypeAdapter, t))}
	}
	return form{"unfit": fmt.Sprintf("%T", v)}
}

// renderPatch shows an operation with its value as the JSON that would be applied.
func renderPatch(p *mutation.JSONPatchVal) form {
	shown := form{"op": p.Op, "path": p.Path, "from": p.From}
	if p.Val != nil {
		shown["value"] = render(p.Val)
		shown["applied"] = applied(p.Val)
	}
	return form{"patch": shown}
}

func applied(v ref.Val) any {
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return form{"error": err.Error()}
	}
	text, err := json.Marshal(native)
	if err != nil {
		return form{"error": err.Error()}
	}
	return json.RawMessage(text)
}
