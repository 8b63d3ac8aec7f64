//! The memory of a request.

use std::cell::OnceCell;

use pratique_cel::{Arena, MemoryLimit};
use pratique_core::NamespaceObject;
use pratique_expression::PartlyKnown;
use pratique_json as json;
use pratique_schema::Release;

use crate::memo::ResultMemo;
use crate::typed_roots::TypedRoots;
use crate::variables::RoundVariables;

/// Memory for a request; outlives its [`Session`](crate::session::Session).
pub(crate) struct RequestArena<'s> {
    pub(crate) arena: Arena,
    pub(crate) memo: ResultMemo<'s>,
    pub(crate) typed_roots: TypedRoots<'s>,
    values: OnceCell<typed_arena::Arena<json::Value<'s>>>,
    variables: OnceCell<typed_arena::Arena<RoundVariables<'s>>>,
    pub(crate) namespace: OnceCell<NamespaceObject>,
    pub(crate) named_namespace: OnceCell<PartlyKnown>,
    /// The request as it is matched, if it is not wholly known.
    partly_known_requests: OnceCell<typed_arena::Arena<PartlyKnown>>,
}

impl<'s> RequestArena<'s> {
    /// Memory within a limit.
    // Inlined, as it is large to move.
    #[inline]
    pub(crate) fn with_limit(release: &'static Release, limit: Option<&MemoryLimit>) -> Self {
        RequestArena {
            arena: limit.map_or_else(Arena::new, Arena::within),
            memo: ResultMemo::default(),
            typed_roots: TypedRoots::new(release),
            values: OnceCell::new(),
            variables: OnceCell::new(),
            namespace: OnceCell::new(),
            named_namespace: OnceCell::new(),
            partly_known_requests: OnceCell::new(),
        }
    }

    /// Keeps a request of which only a part is known until the end of the request.
    pub(crate) fn keep_request(&'s self, known: PartlyKnown) -> &'s PartlyKnown {
        self.partly_known_requests
            .get_or_init(typed_arena::Arena::new)
            .alloc(known)
    }

    /// Keeps a JSON value until the end of the request.
    pub(crate) fn keep(&'s self, value: json::Value<'s>) -> &'s json::Value<'s> {
        // An object may take many times the memory of its text.
        self.arena.count(size_of_val(&value) + value.owned_bytes());
        self.keep_small(value)
    }

    /// Keeps a value that is too small to be counted.
    pub(crate) fn keep_small(&'s self, value: json::Value<'s>) -> &'s json::Value<'s> {
        let values = self.values.get_or_init(typed_arena::Arena::new);
        values.alloc(value)
    }

    /// Keeps the variables of a policy until the end of the request.
    pub(crate) fn keep_variables(&'s self, variables: RoundVariables<'s>) -> &'s RoundVariables<'s> {
        let kept = self.variables.get_or_init(typed_arena::Arena::new);
        kept.alloc(variables)
    }
}
