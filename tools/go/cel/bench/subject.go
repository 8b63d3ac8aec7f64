package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// What a validation of a policy without params may name.
var declarations = plugincel.OptionalVariableDeclarations{HasAuthorizer: true}

var base = environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())

// compiler is the one the plugin compiles a policy's expressions with.
var compiler = func() *plugincel.CompositedCompiler {
	c, err := plugincel.NewCompositedCompiler(base)
	if err != nil {
		panic(err)
	}
	return c
}()

// env is the environment inside that compiler, which it does not give away: the same declarations over the same base.
var env = func() *cel.Env {
	request, namespace := plugincel.BuildRequestType(), plugincel.BuildNamespaceType()
	variables := apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType),
			cel.Variable("oldObject", cel.DynType),
			cel.Variable("namespaceObject", namespace.CelType()),
			cel.Variable("request", request.CelType()),
			cel.Variable("authorizer", library.AuthorizerType),
			cel.Variable("authorizer.requestResource", library.ResourceCheckType),
			cel.Variable("variables", variables.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{namespace, request, variables},
	}, environment.StrictCostOpt)
	if err != nil {
		panic(err)
	}
	e, err := set.Env(environment.StoredExpressions)
	if err != nil {
		panic(err)
	}
	return e
}()

// subject is one expression, ready to be measured.
type subject struct {
	text          string
	ast           *cel.Ast
	program       cel.Program
	condition     plugincel.ConditionEvaluator
	typed, loose  values
	attributes    admission.Attributes
	typedObject   runtime.Object
	looseObject   runtime.Object
	kind          metav1.GroupVersionKind
	resource      metav1.GroupVersionResource
	versionedKind schema.GroupVersionKind
}

// validation is the accessor of an expression that yields a bool.
type validation string

func (v validation) GetExpression() string    { return string(v) }
func (v validation) ReturnTypes() []*cel.Type { return []*cel.Type{cel.BoolType} }

// values is an activation that has been built already.
type values struct{ object, request, namespace any }

func (v *values) Parent() interpreter.Activation { return nil }

func (v *values) ResolveName(name string) (any, bool) {
	switch name {
	case plugincel.ObjectVarName:
		return v.object, true
	case plugincel.OldObjectVarName:
		return nil, true
	case plugincel.RequestVarName:
		return v.request, true
	case plugincel.NamespaceVarName:
		return v.namespace, true
	}
	return nil, false
}

func newSubject(text string, object json.RawMessage) (*subject, error) {
	pod, members := &corev1.Pod{}, map[string]any{}
	if err := json.Unmarshal(object, pod); err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	s := &subject{
		text:          text,
		typedObject:   pod,
		looseObject:   &unstructured.Unstructured{Object: members},
		kind:          metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
		resource:      metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
		versionedKind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
	}
	s.attributes = admission.NewAttributesRecord(pod, nil, s.versionedKind, pod.Namespace, pod.Name,
		schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "ann"})
	request := common.SchemalessTypedToVal(plugincel.CreateAdmissionRequest(s.attributes, s.resource, s.kind))
	s.typed = values{object: common.SchemalessTypedToVal(pod), request: request}
	s.loose = values{object: common.SchemalessTypedToVal(s.looseObject), request: request}
	ast, issues := env.Compile(text)
	if issues != nil {
		return nil, issues.Err()
	}
	s.ast = ast
	compiled := compiler.CompileCELExpression(validation(text), declarations, environment.StoredExpressions)
	if compiled.Error != nil {
		return nil, compiled.Error
	}
	s.program = compiled.Program
	s.condition = compiler.CompileCondition([]plugincel.ExpressionAccessor{validation(text)}, declarations, environment.StoredExpressions)
	return s, nil
}

// facts are what an expression gives and costs.
func (s *subject) facts() (any, error) {
	value, details, err := s.program.ContextEval(context.Background(), &s.typed)
	if err != nil {
		return nil, err
	}
	cost := details.ActualCost()
	if cost == nil {
		return nil, fmt.Errorf("no cost")
	}
	results, left, err := s.review(s.looseObject)
	if err != nil {
		return nil, err
	}
	if whole := celconfig.RuntimeCELCostBudget - left; results[0].EvalResult != value || uint64(whole) != *cost {
		return nil, fmt.Errorf("%v at %d, but reviewed %v at %d", value, *cost, results[0].EvalResult, whole)
	}
	return map[string]any{"value": fmt.Sprint(value.Value()), "cost": *cost}, nil
}

// operation is what a measure repeats.
func (s *subject) operation(measure string) (func(), error) {
	evaluate := func(v *values) func() {
		return func() { _, _, _ = s.program.ContextEval(context.Background(), v) }
	}
	switch measure {
	case "check":
		return func() { _, _ = env.Compile(s.text) }, nil
	case "plan":
		return func() { _, _ = env.Program(s.ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency)) }, nil
	case "compile":
		return func() {
			compiler.CompileCELExpression(validation(s.text), declarations, environment.StoredExpressions)
		}, nil
	case "evaluate":
		return evaluate(&s.typed), nil
	case "evaluate-loose":
		return evaluate(&s.loose), nil
	case "review":
		return func() { _, _, _ = s.review(s.looseObject) }, nil
	}
	return nil, fmt.Errorf("no measure is named %q", measure)
}

// review is what the plugin does of a request whose object is decoded: it makes the variables and evaluates.
func (s *subject) review(object runtime.Object) ([]plugincel.EvaluationResult, int64, error) {
	versioned := &admission.VersionedAttributes{Attributes: s.attributes, VersionedKind: s.versionedKind}
	versioned.VersionedObject.Set(object)
	request := plugincel.CreateAdmissionRequest(s.attributes, s.resource, s.kind)
	optional := plugincel.OptionalVariableBindings{Authorizer: noOpinion{}}
	return s.condition.ForInput(context.Background(), versioned, request, optional, nil, celconfig.RuntimeCELCostBudget)
}

type noOpinion struct{}

func (noOpinion) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionNoOpinion, "", nil
}
