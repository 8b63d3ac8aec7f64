// Command receive records what kube-apiserver makes of the body of a request before admission: decoded, with warnings of unknown
// fields, defaulted, brought into the internal version and back.
//
//	go run ./receive < cases.json
//	go run ./receive generate SEED
//
// writes the cases with their outcomes, one a line. With `generate` it makes an object of each kind at random, with the same result
// in every run.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	aggregator "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/pratique/pratique/tools/go/objects/install"
)

// server is one of the servers that kube-apiserver consists of.
type server struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
	// group is the only one that is served of the scheme; all others are of the last server.
	group string
}

var servers = []server{
	{install.Definitions, serializer.NewCodecFactory(install.Definitions), "apiextensions.k8s.io"},
	{aggregator.Scheme, aggregator.Codecs, "apiregistration.k8s.io"},
	{legacyscheme.Scheme, legacyscheme.Codecs, ""},
}

func serverOf(group string) server {
	for _, s := range servers {
		if s.group == group {
			return s
		}
	}
	return servers[len(servers)-1]
}

// record is a case: an object as it is sent to the endpoint of its kind, and what becomes of it.
type record struct {
	Name   string          `json:"name"`
	Object json.RawMessage `json:"object"`
	Expect outcome         `json:"expect"`
}

type outcome struct {
	Object   json.RawMessage `json:"object,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func main() {
	records := []record{}
	if len(os.Args) == 3 && os.Args[1] == "generate" {
		records = generate(os.Args[2])
	} else {
		must(json.NewDecoder(os.Stdin).Decode(&records))
	}
	lines := []string{}
	for _, r := range records {
		var header struct{ APIVersion, Kind string }
		must(json.Unmarshal(r.Object, &header))
		kind := schema.FromAPIVersionAndKind(header.APIVersion, header.Kind)
		server := serverOf(kind.Group)
		if !server.scheme.Recognizes(kind) {
			continue
		}
		if answer, ok := server.receive(kind, r.Object); ok {
			r.Expect = answer
			lines = append(lines, string(encode(r)))
		}
	}
	fmt.Printf("[\n%s\n]\n", strings.Join(lines, ",\n"))
}

// receive decodes a body as the handlers for creations do. It is not ok if the code of the server panics.
func (s server) receive(kind schema.GroupVersionKind, body []byte) (answer outcome, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			fmt.Fprintln(os.Stderr, kind, cause)
		}
	}()
	internal := schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal}
	into, err := s.scheme.New(internal.WithKind(kind.Kind))
	if err != nil {
		return outcome{}, false
	}
	info, _ := runtime.SerializerInfoForMediaType(s.codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	before := time.Now()
	object, _, err := s.codecs.DecoderToVersion(info.StrictSerializer, internal).Decode(body, &kind, into)
	if err != nil {
		strict, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || object == nil {
			// Upstream: apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError
			text := fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", kind.Kind, kind.Version, kind.Kind, err)
			return outcome{Error: text}, true
		}
		for _, fault := range strict.Errors() {
			answer.Warnings = append(answer.Warnings, fault.Error())
		}
	}
	out, err := s.scheme.ConvertToVersion(object, kind.GroupVersion())
	must(err)
	out.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(out)
	must(err)
	answer.Object = withoutNow(text, before)
	return answer, true
}

var stamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)

// withoutNow replaces the times that defaulting set by <now>.
func withoutNow(text []byte, before time.Time) []byte {
	return stamp.ReplaceAllFunc(text, func(written []byte) []byte {
		at, err := time.Parse(`"`+time.RFC3339+`"`, string(written))
		if err == nil && at.After(before.Add(-2*time.Second)) && at.Before(before.Add(time.Minute)) {
			return []byte(`"<now>"`)
		}
		return written
	})
}

// generate makes the cases: an object of each kind.
func generate(seed string) []record {
	records := []record{}
	for _, server := range servers {
		for kind, of := range server.scheme.AllKnownTypes() {
			internal := schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind}
			isObject := !strings.HasPrefix(of.PkgPath(), "k8s.io/apimachinery/") && !strings.HasSuffix(kind.Kind, "List")
			if serverOf(kind.Group).group != server.group || kind.Version == runtime.APIVersionInternal || !isObject || !server.scheme.Recognizes(internal) {
				continue
			}
			name := fmt.Sprintf("%s/%s/%s", kind.GroupVersion(), strings.ToLower(kind.Kind), seed)
			object, _ := newGenerator(name).value(of, 0).(map[string]any)
			object["apiVersion"], object["kind"] = kind.GroupVersion().String(), kind.Kind
			records = append(records, record{Name: name, Object: encode(object)})
		}
	}
	sort.Slice(records, func(a, b int) bool { return records[a].Name < records[b].Name })
	return records
}

func encode(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	must(encoder.Encode(v))
	return bytes.TrimSpace(text.Bytes())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
