//! The environments, made once, and the places of their variables.

use std::sync::{Arc, OnceLock};

use pratique_cel::{Activation, Environment, Slot, StructType, Type, TypeProvider, library};
use pratique_schema::ReleaseCache;

use crate::declarations::Declarations;
use crate::types::{NAMESPACE_TYPE, REQUEST_TYPE, VARIABLES_TYPE, providers};

/// The places of the variables: the same in every environment, so that one activation serves all expressions of a policy.
#[derive(Clone, Debug)]
pub struct Slots {
    /// `object`
    pub object: Slot,
    /// `oldObject`
    pub old_object: Slot,
    /// `namespaceObject`
    pub namespace_object: Slot,
    /// `request`
    pub request: Slot,
    /// `params`
    pub params: Slot,
    /// `authorizer`
    pub authorizer: Slot,
    /// `authorizer.requestResource`
    pub request_resource: Slot,
    /// `variables`
    pub variables: Slot,
    layout: Environment,
}

impl Slots {
    /// An activation without values.
    pub fn activation<'a>(&self) -> Activation<'a> {
        self.layout.activation()
    }
}

/// The places of the variables.
pub fn slots() -> &'static Slots {
    static SLOTS: OnceLock<Slots> = OnceLock::new();
    SLOTS.get_or_init(|| {
        let all = declare(Environment::new(), ALL);
        // Every name is declared below, so none gets the default.
        let slot = |name: &str| all.slot(name).unwrap_or_default();
        Slots {
            object: slot("object"),
            old_object: slot("oldObject"),
            namespace_object: slot("namespaceObject"),
            request: slot("request"),
            params: slot("params"),
            authorizer: slot("authorizer"),
            request_resource: slot("authorizer.requestResource"),
            variables: slot("variables"),
            layout: all.clone(),
        }
    })
}

/// The minor version of the latest release of Kubernetes.
pub const CURRENT_MINOR: u32 = 37;

/// The environment of declarations at a version 1.`minor`; the type of `variables`, if any, is not declared yet. The list of
/// variables is one for all that is compiled with the same declarations, as each program keeps it.
pub fn environment(declarations: Declarations, minor: u32) -> Environment {
    environment_of(CURRENT_MINOR, declarations, minor)
}

/// The declarations, with the minor versions of the release and of the expressions.
type EnvironmentKey = (Declarations, u32, u32);

/// The same in a server of a release 1.`release`.
pub(crate) fn environment_of(release: u32, declarations: Declarations, minor: u32) -> Environment {
    static ENVIRONMENTS: ReleaseCache<EnvironmentKey, Environment> = ReleaseCache::new();
    ENVIRONMENTS.get_or_make((declarations, release, minor), || {
        declare(base(release, declarations.patch_types, minor), declarations)
    })
}

/// Declares the fields of `variables`.
pub(crate) fn with_variables_type(environment: Environment, of: StructType) -> Environment {
    environment.with_types(Arc::new(of) as Arc<dyn TypeProvider>)
}

const ALL: Declarations = Declarations {
    params: true,
    authorizer: true,
    patch_types: true,
    variables: true,
};

/// A name that no expression can write: it keeps the place of a variable that is not declared.
const UNDECLARED: &str = "\0";

fn base(release: u32, patch_types: bool, minor: u32) -> Environment {
    let environment = Environment::kubernetes_of(release, minor);
    if !patch_types {
        return environment;
    }
    // Upstream: apiserver/pkg/cel/mutation/dynamic/objects.go, convertField, changed in 1.37.
    let mutation_types = if release >= 37 {
        library::mutation::library()
    } else {
        library::mutation::library_before_1_37()
    };
    environment
        .with_library(library::json_patch())
        .with_library(mutation_types)
}

fn declare(environment: Environment, declarations: Declarations) -> Environment {
    let name = |name, declared| if declared { name } else { UNDECLARED };
    let environment = environment
        .with_variable("object", Type::Dyn)
        .with_variable("oldObject", Type::Dyn)
        .with_variable("namespaceObject", Type::named(NAMESPACE_TYPE))
        .with_variable("request", Type::named(REQUEST_TYPE))
        .with_variable(name("params", declarations.params), Type::Dyn)
        .with_variable(
            name("authorizer", declarations.authorizer),
            Type::named("kubernetes.authorization.Authorizer"),
        )
        .with_variable(
            name("authorizer.requestResource", declarations.authorizer),
            Type::named("kubernetes.authorization.ResourceCheck"),
        );
    let environment = if declarations.variables {
        environment.with_variable("variables", Type::named(VARIABLES_TYPE))
    } else {
        environment
    };
    providers().into_iter().fold(environment, Environment::with_types)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_the_same_everywhere() {
        for authorizer in [false, true] {
            let declarations = Declarations {
                authorizer,
                variables: true,
                ..Declarations::default()
            };
            let environment = environment(declarations, 37);
            assert_eq!(environment.slot("object"), Some(slots().object));
            assert_eq!(environment.slot("variables"), Some(slots().variables));
            assert_eq!(environment.slot("params"), None);
            assert_eq!(environment.slot("authorizer").is_some(), authorizer);
        }
    }
}
