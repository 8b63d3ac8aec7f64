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

/// Which functions an expression may call in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpressionAge {
    /// Those that an API server takes in a new one, which the release before has as well.
    // Upstream: apiserver/pkg/cel/environment/base.go, DefaultCompatibilityVersion
    New,
    /// All that the release has, as one that is stored may call them.
    Stored,
}

impl ExpressionAge {
    /// The minor version whose functions there are.
    fn minor(self, release: &Release) -> u32 {
        let (_, minor) = release.version();
        match self {
            ExpressionAge::New => minor.saturating_sub(1),
            ExpressionAge::Stored => minor,
        }
    }
}

/// An expression with its types.
pub(crate) struct TypedSite {
    pub(crate) environment: Environment,
    /// The tree with its types, or the type errors.
    pub(crate) checked: Result<CheckedAst, Vec<Issue>>,
}

/// Checks expressions that may be stored.
pub(crate) fn type_stored_sites(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
) -> Vec<TypedSite> {
    type_sites(release, ExpressionAge::Stored, sites, parsed, object)
}

/// Checks the expressions of a policy, variables in order. A variable keeps its type; without one it is `dyn`.
pub(crate) fn type_sites(
    release: &'static Release,
    age: ExpressionAge,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
) -> Vec<TypedSite> {
    type_sites_with((release, age), sites, parsed, object, Type::clone, None)
}

/// Checks new expressions with the types of custom resources beside those of built-in kinds.
pub(crate) fn type_custom_sites(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
    custom: &Arc<CustomTypes>,
) -> Vec<TypedSite> {
    type_sites_with(
        (release, ExpressionAge::New),
        sites,
        parsed,
        object,
        Type::clone,
        Some(custom),
    )
}

/// Checks like the API server's type checker, which keeps only scalar, list and map types of variables.
pub(crate) fn type_sites_as_api(
    release: &'static Release,
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
) -> Vec<TypedSite> {
    // Upstream: apiserver/pkg/admission/plugin/policy/validating/typechecking.go
    type_sites_with(
        (release, ExpressionAge::Stored),
        sites,
        parsed,
        object,
        declared_type,
        None,
    )
}

fn type_sites_with(
    (release, age): (&'static Release, ExpressionAge),
    sites: &[ExpressionSite<'_>],
    parsed: &ParsedExpressions,
    object: &Type,
    declared: fn(&Type) -> Type,
    custom: Option<&Arc<CustomTypes>>,
) -> Vec<TypedSite> {
    let mut variables = StructType::new(VARIABLES_TYPE, &[]);
    let mut typed = Vec::with_capacity(sites.len());
    for (site, ast) in sites.iter().zip(&parsed.asts) {
        let mut environment = with_object((release, age), site, object, &variables);
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
    (release, age): (&'static Release, ExpressionAge),
    site: &ExpressionSite<'_>,
    object: &Type,
    variables: &StructType,
) -> Environment {
    let environment = environment(site.declarations, age.minor(release))
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
