//! A request during the evaluation of policies: its forms, made when they are first used.

mod activation;
mod namespace;
mod objects;
pub(crate) mod seed;

use std::cell::{Cell, OnceCell, RefCell};

use pratique_cel::{Activation, Arena, Value};
use pratique_core::{Attributes, EvalContext, NamespaceObject};
use pratique_expression::Authorizers;
use pratique_json::{self as json, Progress};
use pratique_match::{MatchedResource, Namespace, Target};
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm};

use crate::arena::RequestArena;
use crate::few::InlineList;
use crate::inputs::{InputKey, NamespaceForm, RequestObjects, UnconvertedObject};
use crate::memo::{ResultMemo, ended};
use crate::scratch::EvalScratch;
use crate::trace::PolicyTrace;
use crate::typed_roots::TypedRoots;
use pratique_core::UnfinishedEvaluation;

/// A request while policies are evaluated.
pub(crate) struct RequestSession<'s> {
    pub(crate) request: &'s AdmissionRequest<'s>,
    object: &'s json::Value<'s>,
    form: ObjectForm,
    /// The object's name: the request's, or in validation where the server is to generate it that of the object.
    pub(crate) name: &'s str,
    pub(crate) context: EvalContext<'s>,
    arena: &'s RequestArena<'s>,
    /// The progress of work on whole objects. Once that is stopped, its results are void: [`finished`](Self::finished).
    pub(crate) progress: Progress<'s>,
    /// The values of `request`, by resource and kind that policies matched.
    requests: RefCell<Vec<(MatchedResource<'s>, Value<'s>)>>,
    objects: RefCell<
        InlineList<(
            &'s GroupVersionKind,
            Result<RequestObjects<'s>, UnconvertedObject>,
        )>,
    >,
    /// The stored namespace of the request, if it has one.
    stored_namespace: OnceCell<Option<Namespace<'s>>>,
    /// Whether that is the cluster's.
    is_in_cluster: Cell<bool>,
    /// The same as expressions see it.
    namespace: OnceCell<&'s NamespaceObject>,
    authorizers: OnceCell<Authorizers<'s>>,
    /// Activations that are not in use.
    idle_activations: RefCell<Vec<IdleActivation<'s>>>,
    /// The kinds that objects were converted into, by their position in input keys.
    kinds: RefCell<InlineList<&'s GroupVersionKind>>,
    /// The resources and kinds as which the request was matched, by their position in input keys.
    matches: RefCell<InlineList<MatchedResource<'s>>>,
    /// Whether objects of built-in kinds are seen in the form of those kinds, and not as they came.
    types_objects: bool,
    /// How many more calls of [`proceed`](Self::proceed) do not check for an interruption.
    until_check: Cell<u32>,
}

/// An activation, and its inputs: their key and whether they may have an authorizer. It is large to move.
type IdleActivation<'s> = ((InputKey, bool), Box<Activation<'s>>);

/// How many expressions are evaluated between two checks for an interruption; a longer evaluation checks by itself.
const CHECK_INTERVAL: u32 = 16;

impl<'s> RequestSession<'s> {
    pub(crate) fn new(
        attributes: Attributes<'s>,
        context: EvalContext<'s>,
        arena: &'s RequestArena<'s>,
    ) -> Self {
        RequestSession {
            request: attributes.request,
            object: attributes.object,
            form: attributes.form,
            name: &attributes.request.name,
            progress: match context.interrupt {
                Some(interrupt) => Progress::new(interrupt),
                None => Progress::unwatched(),
            },
            context,
            arena,
            requests: RefCell::default(),
            objects: RefCell::default(),
            stored_namespace: OnceCell::new(),
            is_in_cluster: Cell::new(false),
            namespace: OnceCell::new(),
            authorizers: OnceCell::new(),
            idle_activations: RefCell::default(),
            kinds: RefCell::default(),
            matches: RefCell::default(),
            types_objects: true,
            until_check: Cell::new(CHECK_INTERVAL),
        }
    }

    /// Takes the name of the object where the request has none: by the time of validation there is one.
    pub(crate) fn take_name_of_object(&mut self) {
        if self.name.is_empty() {
            let name = self.object.at(&["metadata", "name"]);
            self.name = name.and_then(json::Value::as_str).unwrap_or_default();
        }
    }

    /// Passes objects and params of all kinds to expressions unconverted, like those of custom resources.
    pub(crate) fn without_types(self) -> Self {
        RequestSession {
            types_objects: false,
            ..self
        }
    }

    /// The error of an interruption. Only some of the calls check, so that it can be called for each expression.
    #[inline]
    pub(crate) fn proceed(&self) -> Result<(), UnfinishedEvaluation> {
        match self.until_check.get().checked_sub(1) {
            Some(remaining) => {
                self.until_check.set(remaining);
                Ok(())
            }
            None => self.check_interruption(),
        }
    }

    /// The error of an interruption.
    pub(crate) fn check_interruption(&self) -> Result<(), UnfinishedEvaluation> {
        self.until_check.set(CHECK_INTERVAL);
        self.finished()?;
        self.scratch()
            .context()
            .check_limits()
            .map_err(|fault| ended(&fault))
    }

    /// The error of an interruption of work on whole objects, whose results are void then.
    pub(crate) fn finished(&self) -> Result<(), UnfinishedEvaluation> {
        self.progress
            .outcome()
            .map_err(|_| UnfinishedEvaluation::Interrupted)
    }

    pub(crate) fn trace(&self) -> Option<&'s dyn PolicyTrace> {
        self.context.trace
    }

    pub(crate) fn arena(&self) -> &'s Arena {
        &self.arena.arena
    }

    /// The results so far.
    pub(crate) fn memo(&self) -> &'s ResultMemo<'s> {
        &self.arena.memo
    }

    /// The objects that expressions see through Go types.
    pub(crate) fn typed_roots(&self) -> &'s TypedRoots<'s> {
        &self.arena.typed_roots
    }

    /// The context that evaluations share.
    pub(crate) fn scratch(&self) -> EvalScratch<'s> {
        EvalScratch {
            arena: self.arena,
            interrupt: self.context.interrupt,
            trace: self.trace(),
        }
    }

    /// The key of the inputs of a policy that matched this.
    pub(crate) fn input_key(&self, matched: &MatchedResource<'s>, namespace: NamespaceForm) -> InputKey {
        let objects = position(&self.kinds, matched.kind, |known, kind| {
            std::ptr::eq(*known, *kind)
        });
        let request = position(&self.matches, *matched, |known, matched| {
            std::ptr::eq(known.resource, matched.resource) && std::ptr::eq(known.kind, matched.kind)
        });
        InputKey::new(objects, request, namespace)
    }

    /// Keeps a JSON value until the end of the request.
    pub(crate) fn keep(&self, value: json::Value<'s>) -> &'s json::Value<'s> {
        self.arena.keep(value)
    }

    /// The request as rules and selectors match it.
    pub(crate) fn target(&self) -> Target<'s> {
        Target {
            name: self.name,
            object: self.object,
            ..Target::new(self.request)
        }
    }
}

/// The position of an item in a list, to which it is added if it is not there.
fn position<T>(list: &RefCell<InlineList<T>>, wanted: T, same: impl Fn(&T, &T) -> bool) -> usize {
    let mut list = list.borrow_mut();
    let known = list.iter().position(|item| same(item, &wanted));
    known.unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}
