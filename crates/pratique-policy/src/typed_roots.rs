//! The objects that expressions of a request see through Go types.

use std::cell::{Cell, RefCell};
use std::sync::LazyLock;

use pratique_cel::{Fault, ObjectTypes};
use pratique_core::NamespaceObject;
use pratique_json as json;
use pratique_schema::Release;
use pratique_types::GroupVersionKind;

use crate::few::InlineList;
use crate::typed::{GoValue, ObjectPart, PartType, go_value, part_type};

/// The work of looking at a value.
const VALUE: u64 = 4;

/// The objects that expressions see through Go types, with their kinds.
#[derive(Debug)]
pub(crate) struct TypedRoots<'s> {
    /// The release of the server.
    pub(crate) release: &'static Release,
    objects: RefCell<InlineList<(&'s GroupVersionKind, [&'s json::Value<'s>; 2])>>,
    /// The request, as it is matched.
    requests: RefCell<InlineList<&'s json::Value<'s>>>,
    /// The namespace of the request.
    namespace: Cell<Option<&'s NamespaceObject>>,
}

static NAMESPACE: LazyLock<GroupVersionKind> = LazyLock::new(|| GroupVersionKind::new("", "v1", "Namespace"));
static REQUEST: LazyLock<GroupVersionKind> =
    LazyLock::new(|| GroupVersionKind::new("admission.k8s.io", "v1", "AdmissionRequest"));

impl<'s> TypedRoots<'s> {
    /// Without objects yet, of a server of a release.
    pub(crate) fn new(release: &'static Release) -> Self {
        TypedRoots {
            release,
            objects: RefCell::default(),
            requests: RefCell::default(),
            namespace: Cell::default(),
        }
    }

    /// Adds an object and its old form.
    pub(crate) fn add(&self, kind: &'s GroupVersionKind, objects: [&'s json::Value<'s>; 2]) {
        self.objects.borrow_mut().push((kind, objects));
    }

    /// Adds a form of the request.
    pub(crate) fn add_request(&self, request: &'s json::Value<'s>) {
        self.requests.borrow_mut().push(request);
    }

    /// Sets the namespace of the request.
    pub(crate) fn set_namespace(&self, namespace: &'s NamespaceObject) {
        self.namespace.set(Some(namespace));
    }

    /// The Go value of a part of the request or of its namespace.
    pub(crate) fn go_value(&self, part: ObjectPart<'_>, progress: &json::Progress<'_>) -> Option<GoValue> {
        let requests = self.requests.borrow();
        let mut requests = requests.iter();
        requests
            .find_map(|request| go_value(self.release, &REQUEST, request, part, progress))
            .or_else(|| {
                let seen = self.namespace.get()?;
                let find_value = |object| go_value(self.release, &NAMESPACE, object, part, progress);
                find_value(&seen.full).or_else(|| find_value(&seen.reduced))
            })
    }

    fn part_type(
        &self,
        part: &json::Object<'_>,
        work: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<Option<PartType>, Fault> {
        let mut find = |kind, object| part_type(self.release.schema(), kind, object, part, || work(VALUE));
        for (kind, [object, old_object]) in self.objects.borrow().iter() {
            if let Some(part_type) = find(kind, object)?.or(find(kind, old_object)?) {
                return Ok(Some(part_type));
            }
        }
        for request in self.requests.borrow().iter() {
            if let Some(part_type) = find(&REQUEST, request)? {
                return Ok(Some(part_type));
            }
        }
        match self.namespace.get() {
            Some(seen) => Ok(find(&NAMESPACE, &seen.full)?.or(find(&NAMESPACE, &seen.reduced)?)),
            None => Ok(None),
        }
    }
}

impl ObjectTypes for TypedRoots<'_> {
    fn are_of_one_type(
        &self,
        left: &json::Object<'_>,
        right: &json::Object<'_>,
        work: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let Some(left) = self.part_type(left, work)? else {
            return Ok(true);
        };
        let right = self.part_type(right, work)?;
        Ok(right.is_none_or(|right| left == right))
    }
}
