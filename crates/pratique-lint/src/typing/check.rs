//! Checks expressions with `object` and `oldObject` of a known type.

use std::sync::Arc;

use pratique_cel::CheckedAst;
use pratique_cel::{CompileError, Environment, Issue, StructType, Type, TypeProvider};
use pratique_expression::{VARIABLES_TYPE, declared_type, environment};
use pratique_schema::Release;

use super::custom::CustomTypes;
use super::schema::BuiltinTypes;
use crate::analysis::ParsedExpressions;
use crate::subject::ExpressionSite;

/// An expression with its types.
pub(crate) struct TypedSite {
    pub(crate) environment: Environment,
    /// The tree with its types, or the type errors.
    pub(crate) checked: Result<CheckedAst, Vec<Issue>>,
}

/// Checks the expressions of a policy, variables in order. A variable keeps its type; without one it is `dyn`.
pub(crate) fn type_sites(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
) -> Vec<TypedSite> {
    type_sites_with(release, sites, parsed, object, Type::clone, None)
}

/// Checks with the types of custom resources beside those of built-in kinds.
pub(crate) fn type_custom_sites(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
    custom: &Arc<CustomTypes>,
) -> Vec<TypedSite> {
    type_sites_with(release, sites, parsed, object, Type::clone, Some(custom))
}

/// Checks like the API server's type checker, which keeps only scalar, list and map types of variables.
pub(crate) fn type_sites_as_api(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
) -> Vec<TypedSite> {
    type_sites_with(release, sites, parsed, object, declared_type, None)
}

fn type_sites_with(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
    declared: fn(&Type) -> Type,
    custom: Option<&Arc<CustomTypes>>,
) -> Vec<TypedSite> {
    let mut variables = StructType::new(VARIABLES_TYPE, &[]);
    let mut typed = Vec::with_capacity(sites.len());
    for (site, ast) in sites.iter().zip(&parsed.asts) {
        let mut environment = with_object(release, site, object, &variables);
        if let Some(custom) = custom {
            environment = environment.with_types(Arc::clone(custom) as Arc<dyn TypeProvider>);
        }
        let checked = match ast {
            Some(ast) => environment.check_types(ast.clone()).map_err(issues),
            // A syntax error is not a type error.
            None => Err(Vec::new()),
        };
        if let Some(name) = site.variable() {
            let of = checked
                .as_ref()
                .map_or(Type::Dyn, |checked| declared(checked.result_type()));
            variables = variables.with_field(name, of);
        }
        typed.push(TypedSite { environment, checked });
    }
    typed
}

fn issues(error: CompileError) -> Vec<Issue> {
    match error {
        CompileError::Issues { issues, .. } => issues,
        CompileError::Plan(_) | CompileError::Untyped => Vec::new(),
    }
}

fn with_object(
    release: &'static Release,
    site: &ExpressionSite<'_>,
    object: &Type,
    variables: &StructType,
) -> Environment {
    let (_, minor) = release.version();
    let environment = environment(site.declarations, minor)
        .with_variable("object", object.clone())
        .with_variable("oldObject", object.clone())
        .with_types(Arc::new(BuiltinTypes { release }));
    if !site.declarations.variables {
        return environment;
    }
    environment
        .with_variable("variables", Type::named(VARIABLES_TYPE))
        .with_types(Arc::new(variables.clone()))
}
