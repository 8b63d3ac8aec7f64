package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"
)

var kind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// server is the part of an API server that serves one definition.
type server struct {
	structural *structuralschema.Structural
	strategy   strategy
}

type strategy interface {
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	PrepareForUpdate(ctx context.Context, obj, old runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
	ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
	WarningsOnCreate(ctx context.Context, obj runtime.Object) []string
	WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string
}

func definition(g *group) (*apiextensions.CustomResourceDefinition, error) {
	scope := g.Scope
	if scope == "" {
		scope = "Namespaced"
	}
	version := map[string]any{
		"name": "v1", "served": true, "storage": true,
		"schema": map[string]any{"openAPIV3Schema": g.Schema},
	}
	if len(g.Subresources) > 0 {
		version["subresources"] = g.Subresources
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": scope,
			"names":    map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{version},
		},
		"status": map[string]any{"storedVersions": []string{"v1"}},
	})
	if err != nil {
		return nil, err
	}
	var external apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(text, &external); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	var internal apiextensions.CustomResourceDefinition
	err = apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &internal, nil)
	return &internal, err
}

func fillGroup(g *group) error {
	crd, err := definition(g)
	if err != nil {
		return err
	}
	if g.Definition != nil || len(g.Cases) == 0 {
		errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), crd)
		g.Definition = &definitionExpect{Errors: sorted(errs)}
	}
	if len(g.Cases) == 0 {
		return nil
	}
	s, err := serve(crd)
	if err != nil {
		return err
	}
	told := false
	for i := range g.Cases {
		s.fill(&g.Cases[i])
		// One whole message of each group is enough.
		if told {
			g.Cases[i].Expect.Message = ""
		}
		told = told || g.Cases[i].Expect.Message != ""
	}
	return nil
}

func serve(crd *apiextensions.CustomResourceDefinition) (*server, error) {
	schemaOf, subresources := crd.Spec.Validation, crd.Spec.Subresources
	structural, err := structuralschema.NewStructural(schemaOf.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy()
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(schemaOf.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var status *apiextensions.CustomResourceSubresourceStatus
	var scale *apiextensions.CustomResourceSubresourceScale
	if subresources != nil {
		status, scale = subresources.Status, subresources.Scale
	}
	var statusValidator validation.SchemaValidator
	strategy := customresource.NewStrategy(nil, crd.Spec.Scope == apiextensions.NamespaceScoped, kind, validator, statusValidator, structural, status, scale, nil)
	return &server{structural, strategy}, nil
}

// decode is what the server's decoder of custom resources does after reading JSON (customresource_handler.go, apply).
func (s *server) decode(text []byte) (*unstructured.Unstructured, []string, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &u.Object); err != nil {
		return nil, nil, err
	}
	kind, foundKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, nil, err
	}
	apiVersion, foundVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, nil, err
	}
	meta, foundMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, nil, err
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, nil, err
	}
	ours := kind == "Widget" && gv.Group == "example.com"
	if ours {
		opts := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		unknown = append(unknown, pruning.PruneWithOptions(u.Object, s.structural, true, opts)...)
		defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, s.structural)
		fieldErr, paths := objectmeta.CoerceWithOptions(nil, u.Object, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
		if fieldErr != nil {
			return nil, nil, fieldErr
		}
		unknown = append(unknown, paths...)
	}
	if foundKind {
		u.SetKind(kind)
	}
	if foundVersion {
		u.SetAPIVersion(apiVersion)
	}
	if foundMeta {
		if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return nil, nil, err
		}
	}
	if ours {
		defaulting.Default(u.Object, s.structural)
	}
	return u, unknown, nil
}

type recorder struct{ warnings []string }

func (r *recorder) AddWarning(_, text string) { r.warnings = append(r.warnings, text) }

func (s *server) fill(c *testCase) {
	c.Expect = &expect{}
	u, unknown, err := s.decode(c.Object)
	if err != nil {
		c.Expect.Decode = err.Error()
		return
	}
	c.Expect.Unknown = unknown
	var given any
	if err := utiljson.Unmarshal(c.Object, &given); err != nil {
		panic(err)
	}
	if !reflect.DeepEqual(given, any(u.Object)) {
		stored, err := utiljson.Marshal(u.Object)
		if err != nil {
			panic(err)
		}
		c.Expect.Stored = stored
	}
	warnings := &recorder{}
	ctx := warning.WithWarningRecorder(context.Background(), warnings)
	var errs field.ErrorList
	if len(c.Old) == 0 {
		s.strategy.PrepareForCreate(ctx, u)
		errs = s.strategy.Validate(ctx, u)
		warnings.warnings = append(warnings.warnings, s.strategy.WarningsOnCreate(ctx, u)...)
	} else {
		old, _, err := s.decode(c.Old)
		if err != nil {
			panic(err)
		}
		s.strategy.PrepareForUpdate(ctx, u, old)
		errs = s.strategy.ValidateUpdate(ctx, u, old)
		warnings.warnings = append(warnings.warnings, s.strategy.WarningsOnUpdate(ctx, u, old)...)
	}
	c.Expect.Errors = sorted(errs)
	sort.Strings(warnings.warnings)
	c.Expect.Warnings = warnings.warnings
	if len(errs) == 1 {
		c.Expect.Message = apierrors.NewInvalid(kind.GroupKind(), u.GetName(), errs).Error()
	}
}

func sorted(errs field.ErrorList) [][3]string {
	var out [][3]string
	for _, e := range errs {
		out = append(out, [3]string{string(e.Type), e.Field, e.ErrorBody()})
	}
	sort.Slice(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
	return out
}
