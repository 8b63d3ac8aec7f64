//! What one request needs while it is judged, made when it is first asked for.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Activation, Arena, Context, Interrupt, MemoryLimit, Program, Value, value::Struct};
use pratique_core::{Attributes, Cluster, EvalContext, NamespaceObject, without_type_meta};
use pratique_expression::{Authorizers, NamedNamespace, Sees, request_value, slots};
use pratique_json::{self as json, Progress};
use pratique_match::{Matched, Namespace, Target};
use pratique_typed::ConversionError;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm};

use crate::evaluate::CALL_LIMIT;
use crate::few::Few;
use crate::memo::{Frame, Memo, NamespaceForm, ended};
use crate::outcome::Unfinished;
use crate::trace::Trace;
use crate::typed;
use crate::variables::Variables;

/// Memory for a request; outlives its [`Session`].
#[derive(Default)]
pub(crate) struct Store<'s> {
    arena: Arena,
    values: OnceCell<typed_arena::Arena<json::Value<'s>>>,
    variables: typed_arena::Arena<Variables<'s>>,
    namespace: OnceCell<NamespaceObject>,
    named_namespace: OnceCell<NamedNamespace>,
    memo: Memo<'s>,
}

impl Store<'_> {
    /// Memory within a limit.
    pub(crate) fn within(limit: Option<&MemoryLimit>) -> Self {
        Store {
            arena: limit.map_or_else(Arena::new, Arena::within),
            ..Store::default()
        }
    }
}

/// Where expressions are evaluated, for as long as the request is judged.
#[derive(Clone, Copy)]
pub(crate) struct Workplace<'s> {
    pub(crate) arena: &'s Arena,
    pub(crate) memo: &'s Memo<'s>,
    pub(crate) interrupt: Option<&'s Interrupt>,
    pub(crate) trace: Option<&'s dyn Trace>,
}

/// A request while it is judged.
pub(crate) struct Session<'s> {
    pub(crate) request: &'s AdmissionRequest<'s>,
    object: &'s json::Value<'s>,
    form: ObjectForm,
    /// The object's name: the request's, or in validation where the server is to generate it that of the object.
    pub(crate) name: &'s str,
    pub(crate) surroundings: EvalContext<'s>,
    store: &'s Store<'s>,
    /// What is done to whole objects. Once that is stopped, what it gave counts for nothing: [`finished`](Self::finished).
    pub(crate) progress: Progress<'s>,
    requests: RefCell<Vec<(Matched<'s>, Value<'s>)>>,
    objects: RefCell<Few<(&'s GroupVersionKind, Result<Objects<'s>, Unconverted>)>>,
    /// The stored namespace of the request, if it is to have one.
    stored_namespace: OnceCell<Option<Namespace<'s>>>,
    /// Whether that is what the cluster has.
    is_in_cluster: Cell<bool>,
    /// The same as expressions see it.
    namespace: OnceCell<&'s NamespaceObject>,
    authorizers: OnceCell<Authorizers<'s>>,
    /// Activations that nobody uses at the moment, by what they are of.
    spare: RefCell<Vec<((Frame, bool), Activation<'s>)>>,
    /// The kinds in which objects are seen, by their place in frames.
    kinds: RefCell<Few<&'s GroupVersionKind>>,
    /// What the request was matched as, by its place in frames.
    matches: RefCell<Few<Matched<'s>>>,
    /// Whether objects of built-in kinds are seen as those kinds have them, and not as they came.
    types_objects: bool,
    /// How many times more it is gone on without a look.
    until_check: Cell<u32>,
}

/// How many expressions are evaluated before it is looked whether to go on; an evaluation that takes longer looks itself.
const CHECK_INTERVAL: u32 = 16;

/// `object` and `oldObject`
#[derive(Clone, Copy)]
pub(crate) struct Objects<'s> {
    pub(crate) object: Value<'s>,
    pub(crate) old_object: Value<'s>,
}

/// Why there is no object in the kind that was matched.
pub(crate) type Unconverted = Box<ConversionError>;

/// What a session is about: enough for another one on another thread.
pub(crate) struct Case<'s> {
    attributes: Attributes<'s>,
    name: &'s str,
    types_objects: bool,
    cluster: &'s dyn Cluster,
    authorizer: Arc<dyn Authorizer>,
    interrupt: Option<&'s Interrupt>,
    pub(crate) memory: Option<&'s MemoryLimit>,
}

/// The namespace of a request does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoNamespace;

/// The variables that are there in all of a policy's expressions, and those that differ.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'s> {
    /// What the policy matched.
    pub(crate) matched: Matched<'s>,
    /// The objects, in the kind that was matched.
    pub(crate) objects: Objects<'s>,
    /// `params`
    pub(crate) params: Value<'s>,
    /// `namespaceObject`
    pub(crate) namespace: NamespaceForm,
    /// Whether there is an `authorizer`.
    pub(crate) authorizer: bool,
    /// What others see as well.
    pub(crate) frame: Frame,
    /// Whether the same expressions are to be evaluated again, with other params perhaps.
    pub(crate) repeats: bool,
}

impl<'s> Session<'s> {
    pub(crate) fn new(
        attributes: Attributes<'s>,
        surroundings: EvalContext<'s>,
        store: &'s Store<'s>,
    ) -> Self {
        Session {
            request: attributes.request,
            object: attributes.object,
            form: attributes.form,
            name: &attributes.request.name,
            progress: match surroundings.interrupt {
                Some(interrupt) => Progress::new(interrupt),
                None => Progress::unwatched(),
            },
            surroundings,
            store,
            requests: RefCell::default(),
            objects: RefCell::default(),
            stored_namespace: OnceCell::new(),
            is_in_cluster: Cell::new(false),
            namespace: OnceCell::new(),
            authorizers: OnceCell::new(),
            spare: RefCell::default(),
            kinds: RefCell::default(),
            matches: RefCell::default(),
            types_objects: true,
            until_check: Cell::new(CHECK_INTERVAL),
        }
    }

    /// Takes the name of the object where the request has none: by the time of validation there is one.
    pub(crate) fn named_by_object(self) -> Self {
        if !self.name.is_empty() {
            return self;
        }
        let given = self.object.at(&["metadata", "name"]);
        Session {
            name: given.and_then(json::Value::as_str).unwrap_or_default(),
            ..self
        }
    }

    /// Sees objects and params of all kinds as they came, as those of custom resources are.
    pub(crate) fn without_types(self) -> Self {
        Session {
            types_objects: false,
            ..self
        }
    }

    /// What this is about.
    pub(crate) fn case(&self) -> Case<'s> {
        Case {
            attributes: Attributes {
                request: self.request,
                object: self.object,
                form: self.form,
            },
            name: self.name,
            types_objects: self.types_objects,
            cluster: self.surroundings.cluster,
            authorizer: self.surroundings.authorizer.clone(),
            interrupt: self.surroundings.interrupt,
            memory: self.surroundings.memory,
        }
    }

    /// Whether to go on. It is looked now and then only, so that it can be asked for each expression.
    #[inline]
    pub(crate) fn proceed(&self) -> Result<(), Unfinished> {
        match self.until_check.get().checked_sub(1) {
            Some(left) => {
                self.until_check.set(left);
                Ok(())
            }
            None => self.check(),
        }
    }

    /// Whether to go on, seen at once.
    pub(crate) fn check(&self) -> Result<(), Unfinished> {
        self.until_check.set(CHECK_INTERVAL);
        self.finished()?;
        self.context().check().map_err(|fault| ended(&fault))
    }

    /// Whether nothing that was done to objects was interrupted, so that what came of it counts.
    pub(crate) fn finished(&self) -> Result<(), Unfinished> {
        self.progress.outcome().map_err(|_| Unfinished::Interrupted)
    }

    /// Who looks on.
    pub(crate) fn trace(&self) -> Option<&'s dyn Trace> {
        self.surroundings.trace
    }

    pub(crate) fn arena(&self) -> &'s Arena {
        &self.store.arena
    }

    /// What is known of the request already.
    pub(crate) fn memo(&self) -> &'s Memo<'s> {
        &self.store.memo
    }

    /// Where expressions are evaluated.
    pub(crate) fn workplace(&self) -> Workplace<'s> {
        Workplace {
            arena: self.arena(),
            memo: self.memo(),
            interrupt: self.surroundings.interrupt,
            trace: self.trace(),
        }
    }

    /// Where one expression is evaluated.
    pub(crate) fn context(&self) -> Context<'s> {
        self.workplace().context()
    }

    /// The frame of what is seen of the request as it was matched.
    pub(crate) fn frame(&self, matched: &Matched<'s>, namespace: NamespaceForm) -> Frame {
        let objects = place(&self.kinds, matched.kind, |own, other| std::ptr::eq(*own, *other));
        let request = place(&self.matches, *matched, |own, other| {
            std::ptr::eq(own.resource, other.resource) && std::ptr::eq(own.kind, other.kind)
        });
        Frame::of(objects, request, namespace)
    }

    /// Keeps a JSON value until the end of the request.
    pub(crate) fn keep(&self, value: json::Value<'s>) -> &'s json::Value<'s> {
        // An object may take many times the memory of its text.
        self.arena().count(size_of_val(&value) + value.owned_bytes());
        self.keep_small(value)
    }

    /// Keeps what is too small to be counted.
    fn keep_small(&self, value: json::Value<'s>) -> &'s json::Value<'s> {
        let values = self.store.values.get_or_init(typed_arena::Arena::new);
        values.alloc(value)
    }

    /// Keeps the variables of a policy until the end of the request.
    pub(crate) fn keep_variables(&self, variables: Variables<'s>) -> &'s Variables<'s> {
        self.store.variables.alloc(variables)
    }

    /// An activation of inputs without params whose policy has no variables, as somebody left it or new. It is to be
    /// [given back](Self::give_back).
    pub(crate) fn take_activation(&self, inputs: &Inputs<'s>) -> Activation<'s> {
        let mut spare = self.spare.borrow_mut();
        let wanted = (inputs.frame, inputs.authorizer);
        match spare.iter().position(|(of, _)| *of == wanted) {
            Some(at) => spare.swap_remove(at).1,
            None => self.activation(inputs),
        }
    }

    /// Keeps an activation for others with such inputs.
    pub(crate) fn give_back(&self, inputs: &Inputs<'s>, activation: Activation<'s>) {
        let of = (inputs.frame, inputs.authorizer);
        self.spare.borrow_mut().push((of, activation));
    }

    /// The variables of an evaluation, but for `variables` and those that have to be made.
    pub(crate) fn activation(&self, inputs: &Inputs<'s>) -> Activation<'s> {
        let slots = slots();
        let mut activation = slots.activation();
        activation.set(slots.object, inputs.objects.object);
        activation.set(slots.old_object, inputs.objects.old_object);
        activation.set(slots.params, inputs.params);
        activation
    }

    /// Adds the variables that have to be made to an activation, once a program reads them.
    pub(crate) fn supply(&self, activation: &mut Activation<'s>, inputs: &Inputs<'s>, program: &Program) {
        let slots = slots();
        let wants = |activation: &Activation<'s>, slot| program.reads(slot) && activation.get(slot).is_none();
        let sees = Sees {
            objects: true,
            request: wants(activation, slots.request),
            namespace: wants(activation, slots.namespace_object),
        };
        self.supply_seen(activation, inputs, sees);
        let of_user = wants(activation, slots.authorizer) || wants(activation, slots.request_resource);
        if of_user && inputs.authorizer {
            let made = self.authorizers.get_or_init(|| {
                Authorizers::new(
                    self.arena(),
                    self.request,
                    self.name,
                    &self.surroundings.authorizer,
                )
            });
            activation.set(slots.authorizer, made.authorizer);
            activation.set(slots.request_resource, made.request_resource);
        }
    }

    /// Adds those of the variables of the request that are seen.
    pub(crate) fn supply_seen(&self, activation: &mut Activation<'s>, inputs: &Inputs<'s>, sees: Sees) {
        let slots = slots();
        if sees.request {
            activation.set(slots.request, self.request_value(&inputs.matched));
        }
        if sees.namespace {
            activation.set(slots.namespace_object, self.namespace(inputs.namespace));
        }
    }

    /// `variables` for an activation.
    pub(crate) fn with_variables(&self, activation: &mut Activation<'s>, variables: &'s dyn Struct) {
        activation.set(slots().variables, Value::Struct(variables));
    }

    /// An object in a kind, and in the form of that. The error is for one of another version that cannot be converted.
    pub(crate) fn typed(
        &self,
        kind: &'s GroupVersionKind,
        object: &'s json::Value<'s>,
    ) -> Result<&'s json::Value<'s>, Unconverted> {
        if self.is_settled(kind, object) {
            return Ok(object);
        }
        let formed = || -> Result<_, ConversionError> {
            let progress = &self.progress;
            let converted = typed::converted(kind, object, progress)?;
            let object = converted.map_or(object, |converted| self.keep(converted));
            let object = typed::typed(kind, object, progress)?.map_or(object, |typed| self.keep(typed));
            Ok(typed::named(kind, object, progress)?.map_or(object, |named| self.keep(named)))
        };
        formed().map_err(Box::new)
    }

    /// Whether an object is one of the request's, and known to have the form of its kind.
    fn is_settled(&self, kind: &GroupVersionKind, object: &json::Value<'s>) -> bool {
        let request = self.request;
        let own = [(self.object, self.form), (&request.old_object, request.form)];
        let is_own = |(own, form): (&_, _)| form == ObjectForm::Settled && std::ptr::eq(own, object);
        own.into_iter().any(is_own) && same(kind, &request.kind)
    }

    /// An object that was made just now, in the form of its kind, with that kind's name.
    pub(crate) fn settled(
        &self,
        kind: &'s GroupVersionKind,
        mut object: json::Value<'s>,
    ) -> &'s json::Value<'s> {
        typed::settle_object(kind, &mut object, &self.progress);
        self.keep(object)
    }

    /// An object of a custom kind in a version, whatever its kind calls itself.
    pub(crate) fn versioned(
        &self,
        kind: &'s GroupVersionKind,
        object: &'s json::Value<'s>,
    ) -> &'s json::Value<'s> {
        let version = kind.api_version();
        if object.get("apiVersion").and_then(json::Value::as_str) == Some(&version) {
            return object;
        }
        let Ok(json::Value::Object(mut members)) = object.try_borrowed(&self.progress) else {
            return object;
        };
        members.insert("apiVersion", version);
        self.keep(json::Value::Object(members))
    }

    /// A value of `params`.
    pub(crate) fn param(
        &self,
        kind: Option<&'s GroupVersionKind>,
        param: Option<&'s json::Value<'s>>,
    ) -> Value<'s> {
        let Some(param) = param else {
            return Value::Null;
        };
        match kind {
            Some(kind) if self.types_objects && typed::is_builtin(kind) => {
                // Params are of the kind that a policy names.
                Value::from_json(self.typed(kind, param).unwrap_or(param))
            }
            _ => Value::from_json(self.reread(param)),
        }
    }

    /// A value as it is once it was written and read again.
    pub(crate) fn reread(&self, value: &'s json::Value<'s>) -> &'s json::Value<'s> {
        let read = typed::reread(value, &self.progress).unwrap_or_default();
        read.map_or(value, |read| self.keep(read))
    }

    /// A value of `params` as mutating policies see it: without the name of a built-in kind.
    pub(crate) fn bare_param(
        &self,
        kind: Option<&'s GroupVersionKind>,
        param: Option<&'s json::Value<'s>>,
    ) -> Value<'s> {
        match (kind, param) {
            (Some(kind), Some(param)) if typed::is_builtin(kind) => {
                let typed = typed::typed(kind, param, &self.progress).unwrap_or_default();
                let typed = typed.map_or(param, |typed| self.keep(typed));
                Value::from_typed_json(self.keep(without_type_meta(typed)))
            }
            _ => self.param(kind, param),
        }
    }

    /// `namespaceObject` in a form.
    fn namespace(&self, form: NamespaceForm) -> Value<'s> {
        let known = self.stored_namespace.get().copied().flatten();
        let stored = match known {
            _ if form == NamespaceForm::Absent => return Value::Null,
            None | Some(Namespace::Absent) => return Value::Null,
            Some(Namespace::Named) => {
                let named = || NamedNamespace::new(&self.request.namespace);
                return Value::Struct(self.store.named_namespace.get_or_init(named));
            }
            Some(Namespace::Stored(stored)) => stored,
        };
        let seen = self.namespace.get_or_init(|| {
            let cluster = self.surroundings.cluster;
            let kept = self.is_in_cluster.get();
            let kept = kept.then(|| cluster.namespace_object(&self.request.namespace));
            let make = || NamespaceObject::new(stored);
            kept.flatten()
                .unwrap_or_else(|| self.store.namespace.get_or_init(make))
        });
        Value::from_typed_json(match form {
            NamespaceForm::Full => &seen.full,
            _ => &seen.reduced,
        })
    }

    /// The objects in a kind.
    pub(crate) fn objects(&self, kind: &'s GroupVersionKind) -> Result<Objects<'s>, Unconverted> {
        let mut known = self.objects.borrow_mut();
        if let Some((_, known)) = known.iter().find(|(known, _)| same(known, kind)) {
            return known.clone();
        }
        let made = self.seen_as(kind);
        known.push((kind, made.clone()));
        made
    }

    fn seen_as(&self, kind: &'s GroupVersionKind) -> Result<Objects<'s>, Unconverted> {
        if !self.types_objects {
            return Ok(self.given_objects());
        }
        let settled = self.form == ObjectForm::Settled && same(kind, &self.request.kind);
        let builtin = settled || typed::is_builtin(kind);
        let seen = |object| -> Result<Value<'s>, Unconverted> {
            let object = self.typed(kind, object)?;
            Ok(match builtin {
                true => Value::from_typed_json(object),
                false => Value::from_json(object),
            })
        };
        Ok(Objects {
            object: seen(self.object)?,
            old_object: seen(&self.request.old_object)?,
        })
    }

    /// The objects as they came.
    pub(crate) fn given_objects(&self) -> Objects<'s> {
        Objects {
            object: Value::from_json(self.object),
            old_object: Value::from_json(&self.request.old_object),
        }
    }

    /// What rules and selectors look at.
    pub(crate) fn target(&self) -> Target<'s> {
        Target {
            name: self.name,
            object: self.object,
            ..Target::new(self.request)
        }
    }

    /// Looks up the stored namespace: none for namespaces themselves, though their requests carry a namespace. The
    /// error is for a namespace that does not exist.
    pub(crate) fn find_namespace(&self) -> Result<(), NoNamespace> {
        if self.stored_namespace.get().is_some() {
            return Ok(());
        }
        let kind = &self.request.kind;
        let of_namespace = kind.kind == "Namespace" && kind.version == "v1" && kind.group.is_empty();
        let stored = match self.request.namespace.is_empty() || of_namespace {
            true => None,
            false => {
                let known = self.surroundings.cluster.namespace(&self.request.namespace);
                self.is_in_cluster.set(true);
                if !known.exists() {
                    return Err(NoNamespace);
                }
                Some(known)
            }
        };
        self.set_namespace(stored);
        Ok(())
    }

    /// Takes a stored namespace for that of the request.
    pub(crate) fn set_namespace(&self, stored: Option<Namespace<'s>>) {
        // The first one stays.
        let _ = self.stored_namespace.set(stored);
    }

    fn request_value(&self, matched: &Matched<'s>) -> Value<'s> {
        let mut known = self.requests.borrow_mut();
        if let Some((_, value)) = known.iter().find(|(known, _)| known == matched) {
            return *value;
        }
        let value = request_value(self.request, self.name, matched.resource, matched.kind);
        let value = Value::from_typed_json(self.keep_small(value));
        known.push((*matched, value));
        value
    }
}

impl Case<'_> {
    /// A session of its own, which nobody looks at.
    pub(crate) fn session<'t>(&'t self, store: &'t Store<'t>) -> Session<'t> {
        let mut surroundings = EvalContext::new(self.cluster, self.authorizer.clone());
        surroundings.interrupt = self.interrupt;
        Session {
            name: self.name,
            types_objects: self.types_objects,
            ..Session::new(self.attributes, surroundings, store)
        }
    }
}

impl<'s> Workplace<'s> {
    /// Where one expression is evaluated.
    pub(crate) fn context(&self) -> Context<'s> {
        let context = Context::new(self.arena, CALL_LIMIT);
        match self.interrupt {
            Some(interrupt) => context.with_interrupt(interrupt),
            None => context,
        }
    }
}

/// The place of something in a list, at its end if it was not there.
fn place<T>(list: &RefCell<Few<T>>, wanted: T, same: impl Fn(&T, &T) -> bool) -> usize {
    let mut list = list.borrow_mut();
    let known = list.iter().position(|own| same(own, &wanted));
    known.unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}

/// Whether two kinds are equal. Most that are lie in the same place.
fn same(left: &GroupVersionKind, right: &GroupVersionKind) -> bool {
    std::ptr::eq(left, right) || left == right
}
