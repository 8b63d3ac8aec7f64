//! The objects and params of a request in the form of their kinds.

use pratique_cel::Value;
use pratique_core::{ObjectMutator, typed_value, without_type_meta};
use pratique_expression::UNKNOWN_OBJECT;
use pratique_json as json;
use pratique_json::Interrupted;
use pratique_typed::ConversionError;
use pratique_types::{GroupVersionKind, ObjectForm};

use super::RequestSession;
use crate::inputs::{RequestObjects, UnconvertedObject};
use crate::typed;

impl<'s> RequestSession<'s> {
    /// An object in a kind, and in the form of that. The error is for one of another version that cannot be converted.
    pub(crate) fn typed(
        &self,
        kind: &'s GroupVersionKind,
        object: &'s json::Value<'s>,
    ) -> Result<&'s json::Value<'s>, UnconvertedObject> {
        if self.is_settled(kind, object) {
            return Ok(object);
        }
        let formed = || -> Result<_, ConversionError> {
            let progress = &self.progress;
            let converted = typed::converted(self.context.release, kind, object, progress)?;
            let object = converted.map_or(object, |converted| self.keep(converted));
            let object = typed::typed(self.context.release, kind, object, progress)?
                .map_or(object, |typed| self.keep(typed));
            Ok(typed::named(kind, object, progress)?.map_or(object, |named| self.keep(named)))
        };
        formed().map_err(Box::new)
    }

    /// Whether an object is one of the request's, and known to have the form of its kind.
    fn is_settled(&self, kind: &GroupVersionKind, object: &json::Value<'s>) -> bool {
        let request = self.request;
        let objects = [(self.object, self.form), (&request.old_object, request.form)];
        let is_settled = |(known, form): (&_, _)| form == ObjectForm::Settled && std::ptr::eq(known, object);
        objects.into_iter().any(is_settled) && same(kind, &request.kind)
    }

    /// An object that was made just now, in the form of its kind, with that kind's name.
    pub(crate) fn settled(
        &self,
        kind: &'s GroupVersionKind,
        mut object: json::Value<'s>,
    ) -> &'s json::Value<'s> {
        typed::settle_object(self.context.release, kind, &mut object, &self.progress);
        self.keep(object)
    }

    /// Defaults an object that a policy just changed, if there is an object model.
    // Upstream: plugin/policy/mutating/dispatcher.go, dispatchOne
    pub(crate) fn default(&self, kind: &GroupVersionKind, object: &mut json::Value<'s>, policy: &str) {
        if let Some(model) = self.context.object_model {
            model.set_defaults(kind, object, ObjectMutator::Policy(policy));
        }
    }

    /// The same for an object that is kept already.
    pub(crate) fn defaulted(
        &self,
        kind: &GroupVersionKind,
        object: &'s json::Value<'s>,
        policy: &str,
    ) -> Result<&'s json::Value<'s>, Interrupted> {
        if self.context.object_model.is_none() {
            return Ok(object);
        }
        let mut defaulted = object.try_borrowed(&self.progress)?;
        self.default(kind, &mut defaulted, policy);
        Ok(self.keep(defaulted))
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
            Some(kind) if self.types_objects && self.context.release.has_type(kind) => {
                // Params are of the kind that a policy names.
                Value::from_json(self.typed(kind, param).unwrap_or(param))
            }
            // Before 1.37, whole numbers of params that were written as floats stayed floats.
            // Upstream: plugin/cel/activation.go, newActivation
            _ if !self.context.release.at_least(1, 37) => Value::from_json(param),
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
            (Some(kind), Some(param)) if self.context.release.has_type(kind) => {
                let typed =
                    typed::typed(self.context.release, kind, param, &self.progress).unwrap_or_default();
                let typed = typed.map_or(param, |typed| self.keep(typed));
                typed_value(self.context.release, self.keep(without_type_meta(typed)))
            }
            _ => self.param(kind, param),
        }
    }

    /// The objects in a kind.
    pub(crate) fn objects(
        &self,
        kind: &'s GroupVersionKind,
    ) -> Result<RequestObjects<'s>, UnconvertedObject> {
        let mut converted = self.objects.borrow_mut();
        if let Some((_, objects)) = converted.iter().find(|(of, _)| same(of, kind)) {
            return objects.clone();
        }
        let objects = self.convert_objects(kind);
        converted.push((kind, objects.clone()));
        objects
    }

    fn convert_objects(&self, kind: &'s GroupVersionKind) -> Result<RequestObjects<'s>, UnconvertedObject> {
        if !self.types_objects || self.form == ObjectForm::Unstructured {
            return Ok(self.unconverted_objects());
        }
        let settled = self.form == ObjectForm::Settled && same(kind, &self.request.kind);
        let builtin = settled || self.context.release.has_type(kind);
        let [object, old_object] = [
            self.typed(kind, self.object)?,
            self.typed(kind, &self.request.old_object)?,
        ];
        if builtin {
            self.typed_roots().add(kind, [object, old_object]);
        }
        let to_value = |object| {
            if builtin {
                typed_value(self.context.release, object)
            } else {
                Value::from_json(object)
            }
        };
        Ok(RequestObjects {
            object: to_value(object),
            old_object: self.unknown_old_object().unwrap_or_else(|| to_value(old_object)),
        })
    }

    /// The objects without conversion.
    pub(crate) fn unconverted_objects(&self) -> RequestObjects<'s> {
        let old_object = || Value::from_json(&self.request.old_object);
        RequestObjects {
            object: Value::from_json(self.object),
            old_object: self.unknown_old_object().unwrap_or_else(old_object),
        }
    }

    /// `oldObject` where there is one that the request lacks.
    pub(crate) fn unknown_old_object(&self) -> Option<Value<'s>> {
        self.request
            .lacks_old_object
            .then_some(Value::Struct(&UNKNOWN_OBJECT))
    }
}

/// Whether two kinds are equal. Most equal ones have the same address.
fn same(left: &GroupVersionKind, right: &GroupVersionKind) -> bool {
    std::ptr::eq(left, right) || left == right
}
