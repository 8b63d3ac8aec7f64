// Command bench times how an API server decodes and defaults objects, for `cargo xtask bench objects`.
//
// The first line of stdin is the setup: {"objects": {NAME: OBJECT}}. The answer holds what admission would see of each:
// {"objects": {NAME: OBJECT}}. Package contest has the rest.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/pratique/pratique/tools/go/contest"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
)

type setup struct {
	Objects map[string]json.RawMessage `json:"objects"`
}

func main() {
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func begin(given setup) (any, contest.Measure, error) {
	subjects, facts := map[string]*subject{}, map[string]json.RawMessage{}
	for name, text := range given.Objects {
		s, err := newSubject(text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		subjects[name] = s
		if facts[name], err = s.seen(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	measure := func(o contest.Order) (contest.Sample, error) {
		s, known := subjects[o.Case]
		if !known {
			return contest.Sample{}, fmt.Errorf("no object is named %q", o.Case)
		}
		operation, err := s.operation(o.Measure)
		if err != nil {
			return contest.Sample{}, err
		}
		return contest.Operations(o.Length(), operation), nil
	}
	return map[string]any{"objects": facts}, measure, nil
}

// subject is an object as a person writes it.
type subject struct {
	text    []byte
	kind    schema.GroupVersionKind
	strict  runtime.Serializer
	decoded runtime.Object
}

func newSubject(text []byte) (*subject, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	var of struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, err
	}
	info, known := runtime.SerializerInfoForMediaType(legacyscheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !known {
		return nil, fmt.Errorf("there is no serializer of JSON")
	}
	s := &subject{
		text:   compact.Bytes(),
		kind:   schema.FromAPIVersionAndKind(of.APIVersion, of.Kind),
		strict: info.StrictSerializer,
	}
	var err error
	s.decoded, err = s.decode()
	return s, err
}

func (s *subject) decode() (runtime.Object, error) {
	object, _, err := s.strict.Decode(s.text, &s.kind, nil)
	return object, err
}

// receive makes the internal object that plugins get.
func (s *subject) receive() (runtime.Object, error) {
	internal := schema.GroupVersion{Group: s.kind.Group, Version: runtime.APIVersionInternal}
	object, _, err := legacyscheme.Codecs.DecoderToVersion(s.strict, internal).Decode(s.text, &s.kind, nil)
	return object, err
}

// seen is what admission sees, as it is written.
func (s *subject) seen() (json.RawMessage, error) {
	internal, err := s.receive()
	if err != nil {
		return nil, err
	}
	object, err := legacyscheme.Scheme.ConvertToVersion(internal, s.kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(s.kind)
	return json.Marshal(object)
}

func (s *subject) operation(measure string) (func(), error) {
	switch measure {
	case "parse":
		return func() {
			var value map[string]any
			must(json.Unmarshal(s.text, &value))
		}, nil
	case "decode":
		return func() {
			_, err := s.decode()
			must(err)
		}, nil
	case "receive":
		return func() {
			_, err := s.receive()
			must(err)
		}, nil
	case "default":
		return func() { legacyscheme.Scheme.Default(s.decoded.DeepCopyObject()) }, nil
	case "copy":
		return func() { s.decoded.DeepCopyObject() }, nil
	}
	return nil, fmt.Errorf("no measure is named %q", measure)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
