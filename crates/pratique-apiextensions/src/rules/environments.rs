//! The environments of rules: what expressions may use, with `self` and `oldSelf`.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use pratique_cel::{Environment, Type as CelType};
use pratique_schema::{Release, ReleaseCache};

use super::types::{DeclaredType, ObjectTypes};

/// The name of the type of `self`. A server's ends in digits of the time, so that no rule can use it.
const SELF_TYPE: &str = "selfType";

/// The expressions that were there before. They may use all that a server knows; others only what an earlier one knows, too, to
/// which a cluster may go back.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, preexistingExpressions
#[derive(Debug)]
pub(crate) enum KnownExpressions {
    /// All of them.
    All,
    /// Those of the existing definition.
    Only {
        /// Rules.
        rules: HashSet<String>,
        /// Expressions of messages.
        messages: HashSet<String>,
    },
}

impl KnownExpressions {
    /// None of them: the definition is new.
    pub(crate) fn none() -> Self {
        KnownExpressions::Only {
            rules: HashSet::new(),
            messages: HashSet::new(),
        }
    }

    pub(super) fn has_rule(&self, text: &str) -> bool {
        match self {
            KnownExpressions::All => true,
            KnownExpressions::Only { rules, .. } => rules.contains(text),
        }
    }

    pub(super) fn has_message(&self, text: &str) -> bool {
        match self {
            KnownExpressions::All => true,
            KnownExpressions::Only { messages, .. } => messages.contains(text),
        }
    }
}

/// What the expressions of a definition may use.
#[derive(Debug)]
pub(crate) struct ExpressionScope {
    /// The release of the server.
    pub(crate) release: &'static Release,
    /// The expressions that were there before.
    pub(crate) known: KnownExpressions,
}

/// The environments of the rules of one schema, made when they are needed.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go, prepareEnvSet
pub(super) struct SelfEnvironments {
    release: &'static Release,
    of_self: CelType,
    types: Arc<ObjectTypes>,
    /// By whether the expression is known, and whether `oldSelf` is optional.
    made: [[OnceCell<Environment>; 2]; 2],
}

impl SelfEnvironments {
    pub(super) fn new(declared: &DeclaredType, release: &'static Release) -> Self {
        let mut types = ObjectTypes::default();
        let of_self = declared.cel_type(SELF_TYPE, &mut types);
        SelfEnvironments {
            release,
            of_self,
            types: Arc::new(types),
            made: Default::default(),
        }
    }

    /// The environment of an expression.
    pub(super) fn environment(&self, is_known: bool, is_optional: bool) -> Environment {
        let [fresh, known] = &self.made;
        let [plain, optional] = if is_known { known } else { fresh };
        let cell = if is_optional { optional } else { plain };
        let made = cell.get_or_init(|| {
            let of_old = if is_optional {
                CelType::optional(self.of_self.clone())
            } else {
                self.of_self.clone()
            };
            base(self.release, is_known)
                .with_variable("self", self.of_self.clone())
                .with_variable("oldSelf", of_old)
                .with_types(self.types.clone())
        });
        made.clone()
    }
}

/// The functions that expressions may use.
// Upstream: apiserver/pkg/cel/environment/environment.go, EnvSet
fn base(release: &Release, is_known: bool) -> Environment {
    /// By the minor version of the release, and whether they are of known expressions.
    static ENVIRONMENTS: ReleaseCache<(u32, bool), Environment> = ReleaseCache::new();
    let (_, minor) = release.version();
    let version = if is_known { minor } else { minor.saturating_sub(1) };
    ENVIRONMENTS.get_or_make((minor, is_known), || Environment::kubernetes_of(minor, version))
}
