package main

// Compiling and evaluating one expression, as the admission plugins do it.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// declared says which optional variables and types an expression may name.
type declared struct {
	Params     bool `json:"params"`
	Authorizer bool `json:"authorizer"`
	PatchTypes bool `json:"patchTypes"`
}

func (d declared) options() plugincel.OptionalVariableDeclarations {
	return plugincel.OptionalVariableDeclarations{
		HasParams:     d.Params,
		HasAuthorizer: d.Authorizer,
		HasPatchTypes: d.PatchTypes,
	}
}

// variable is a named expression of a policy.
type variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// named is an expression of which any type of result is taken.
type named variable

func (n named) GetName() string          { return n.Name }
func (n named) GetExpression() string    { return n.Expression }
func (n named) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType} }

// outcome is what became of an expression: a fault of compiling, an error or a value with the type and the cost, or
// a crash of the reference.
type outcome struct {
	Compile string          `json:"compile,omitempty"`
	Type    string          `json:"type,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Error   string          `json:"error,omitempty"`
	Cost    int64           `json:"cost"`
	Crash   string          `json:"crash,omitempty"`
}

type compiler struct {
	*plugincel.CompositedCompiler
	declared declared
}

// plain is the compiler of batches without variables: making one takes long.
var plain, plainError = plugincel.NewCompositedCompiler(base)

var base = baseEnvironment()

func newCompiler(variables []variable, declared declared) (made *compiler, err error) {
	// A variable may crash the reference as any expression.
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("crash: %v", crash)
		}
	}()
	if len(variables) == 0 {
		return &compiler{plain, declared}, plainError
	}
	composited, err := plugincel.NewCompositedCompiler(base)
	if err != nil {
		return nil, err
	}
	for _, v := range variables {
		named := named(v)
		composited.CompileAndStoreVariable(named, declared.options(), environment.StoredExpressions)
	}
	return &compiler{composited, declared}, nil
}

// outcome compiles an expression and evaluates it over inputs.
func (c *compiler) outcome(expression string, inputs *inputs) (encoded json.RawMessage) {
	defer func() {
		if crash := recover(); crash != nil {
			encoded = encode(outcome{Crash: fmt.Sprint(crash)})
		}
	}()
	result := c.CompileCELExpression(named{Expression: expression}, c.declared.options(), environment.StoredExpressions)
	if result.Error != nil {
		return encode(outcome{Compile: result.Error.Error()})
	}
	in, err := inputs.prepare(c.declared)
	if err != nil {
		return encode(outcome{Crash: err.Error()})
	}
	answer := c.evaluate(result, in)
	answer.Type = result.OutputType.String()
	return encode(answer)
}

func (c *compiler) evaluate(result plugincel.CompilationResult, in *prepared) outcome {
	var evaluated plugincel.EvaluationResult
	var left int64
	var err error
	ctx := c.variablesContext(context.Background())
	if c.declared.PatchTypes {
		evaluator := plugincel.NewMutatingEvaluator(result)
		evaluated, left, err = evaluator.ForInput(ctx, in.attributes, in.request, in.optional, in.namespace, celconfig.RuntimeCELCostBudget)
	} else {
		var all []plugincel.EvaluationResult
		evaluator := plugincel.NewCondition([]plugincel.CompilationResult{result})
		all, left, err = evaluator.ForInput(ctx, in.attributes, in.request, in.optional, in.namespace, celconfig.RuntimeCELCostBudget)
		if err == nil {
			evaluated = all[0]
		}
	}
	if err != nil {
		return outcome{Error: err.Error()}
	}
	cost := celconfig.RuntimeCELCostBudget - left
	if evaluated.Error != nil {
		prefix := fmt.Sprintf("expression '%v' resulted in error: ", result.ExpressionAccessor.GetExpression())
		return outcome{Error: strings.TrimPrefix(evaluated.Error.Error(), prefix), Cost: cost}
	}
	return outcome{Value: encode(render(evaluated.EvalResult)), Cost: cost}
}

// encode gives JSON in which equal things are equal bytes. What is encoded here has always a form.
func encode(v any) json.RawMessage {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	return json.RawMessage(strings.TrimSuffix(text.String(), "\n"))
}
