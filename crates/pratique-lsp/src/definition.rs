//! Where things are defined and used: the policy and the param of a binding, the variables of a policy.

use pratique_cel::ast::{Ast, Expr, ExprId};
use pratique_lint::TypedExpression;
use pratique_manifest::{Kind, Location, PathStep};

use crate::analysis::{ManifestAnalysis, ManifestObject, contains};
use crate::cursor::ExpressionCursor;
use crate::nodes::{name_at, names};
use crate::workspace::{ObjectReference, steps, text_at};

/// Where the policy of the binding at a place is.
pub(crate) fn policy_of(analysis: &ManifestAnalysis, file: &str, place: (u32, u32)) -> Option<Location> {
    let here = |location: &Location| *location.file == *file && contains(location, place);
    let binding = analysis.objects.iter().find(|object| {
        let policy = object.policy.as_ref();
        policy.is_some_and(|(_, location)| here(location))
    })?;
    policy_named_by(analysis, binding).map(|policy| policy.name_location.clone())
}

/// The policy of a binding.
fn policy_named_by<'a>(
    analysis: &'a ManifestAnalysis,
    binding: &ManifestObject,
) -> Option<&'a ManifestObject> {
    let (policy, _) = binding.policy.as_ref()?;
    let kind = match binding.name.kind {
        Kind::ValidatingAdmissionPolicyBinding => Kind::ValidatingAdmissionPolicy,
        _ => Kind::MutatingAdmissionPolicy,
    };
    let mut objects = analysis.objects.iter();
    objects.find(|object| object.name.kind == kind && object.name.name == *policy)
}

/// The param that the binding at a place names, if it names one there.
pub(crate) fn param_of(
    analysis: &ManifestAnalysis,
    file: &str,
    place: (u32, u32),
) -> Option<ObjectReference> {
    let name = ["spec", "paramRef", "name"];
    let binding = analysis.objects.iter().find(|object| {
        object.policy.is_some() && *object.location.file == *file && {
            let location = object.source.locate(&steps(&name));
            contains(&location, place) && text_at(&object.source, &name).is_some()
        }
    })?;
    let policy = policy_named_by(analysis, binding)?;
    let kind = |field: &str| text_at(&policy.source, &["spec", "paramKind", field]);
    Some(ObjectReference {
        api_version: kind("apiVersion")?,
        kind: kind("kind")?,
        name: text_at(&binding.source, &name)?,
        namespace: text_at(&binding.source, &["spec", "paramRef", "namespace"]),
    })
}

/// Where the policy says what `params` are, if those are at the cursor.
pub(crate) fn param_kind_of(analysis: &ManifestAnalysis, cursor: ExpressionCursor<'_>) -> Option<Location> {
    let expression = cursor.expression;
    let ast = &expression.checked.as_ref()?.ast;
    let name = name_at(ast, cursor.offset)?;
    let is_params = matches!(ast.expr(name.id), Expr::Ident(name) if &**name == "params");
    let mut objects = analysis.objects.iter();
    let policy = objects.find(|object| is_params && object.source.is_same(&expression.source))?;
    let path = ["spec", "paramKind", "kind"];
    text_at(&policy.source, &path)?;
    Some(policy.source.locate(&steps(&path)))
}

/// The bindings of the policy whose name is at a place.
pub(crate) fn bindings_of(analysis: &ManifestAnalysis, file: &str, place: (u32, u32)) -> Vec<Location> {
    let named = analysis.objects.iter().find(|object| {
        object.policy.is_none()
            && *object.name_location.file == *file
            && contains(&object.name_location, place)
    });
    let Some(named) = named else { return Vec::new() };
    let bindings = analysis
        .objects
        .iter()
        .filter_map(|object| object.policy.as_ref());
    bindings
        .filter(|(policy, _)| *policy == named.name.name)
        .map(|(_, location)| location.clone())
        .collect()
}

/// A variable of a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyVariable<'a> {
    analysis: &'a ManifestAnalysis,
    definition: &'a TypedExpression,
    name: &'a str,
}

impl<'a> PolicyVariable<'a> {
    /// The variable that an expression reads at the cursor.
    pub(crate) fn read_at(analysis: &'a ManifestAnalysis, cursor: ExpressionCursor<'a>) -> Option<Self> {
        let ast = &cursor.expression.checked.as_ref()?.ast;
        let name = name_at(ast, cursor.offset)?;
        let variable = variable_read(ast, name.id)?;
        PolicyVariable::named(analysis, cursor.expression, variable)
    }

    /// The variable whose name is at a place.
    pub(crate) fn named_at(analysis: &'a ManifestAnalysis, file: &str, place: (u32, u32)) -> Option<Self> {
        let definition = analysis.expressions.iter().find(|expression| {
            let name = expression.variable.as_ref().and_then(|_| name_of(expression));
            name.is_some_and(|location| *location.file == *file && contains(&location, place))
        })?;
        Some(PolicyVariable {
            analysis,
            definition,
            name: definition.variable.as_deref()?,
        })
    }

    /// The variable with a name in the policy of an expression.
    fn named(analysis: &'a ManifestAnalysis, reader: &TypedExpression, name: &str) -> Option<Self> {
        let of_policy = analysis
            .expressions
            .iter()
            .filter(|expression| expression.object == reader.object);
        let mut of_policy = of_policy
            .filter(|expression| expression.source.document().file() == reader.source.document().file());
        let definition = of_policy.find(|expression| expression.variable.as_deref() == Some(name))?;
        Some(PolicyVariable {
            analysis,
            definition,
            name: definition.variable.as_deref()?,
        })
    }

    /// Where its name is defined.
    pub(crate) fn definition(&self) -> Option<Location> {
        name_of(self.definition)
    }

    /// Where expressions of its policy read it.
    pub(crate) fn uses(&self) -> Vec<Location> {
        let of_policy = self.analysis.expressions.iter();
        let of_policy = of_policy.filter(|expression| expression.object == self.definition.object);
        let mut uses = Vec::new();
        for expression in of_policy {
            let Some(checked) = &expression.checked else {
                continue;
            };
            let read = names(&checked.ast).into_iter();
            let read = read.filter(|name| variable_read(&checked.ast, name.id) == Some(self.name));
            uses.extend(read.map(|name| expression.location(name.range)));
        }
        uses
    }
}

/// The variable that a node reads: `variables.x`.
fn variable_read(ast: &Ast, id: ExprId) -> Option<&str> {
    let Expr::Select { operand, field, .. } = ast.expr(id) else {
        return None;
    };
    matches!(ast.expr(*operand), Expr::Ident(name) if &**name == "variables").then_some(field)
}

/// Where the name of the variable is that an expression defines.
fn name_of(definition: &TypedExpression) -> Option<Location> {
    let (_, variable) = definition.path.split_last()?;
    let mut path = variable.to_vec();
    path.push(PathStep::Field("name".to_owned()));
    Some(definition.source.locate(&path))
}
