//! The inputs of expressions, and the keys that identify them within a request.

use pratique_cel::Value;
use pratique_expression::InputSet;
use pratique_match::MatchedResource;
use pratique_typed::ConversionError;

/// `object` and `oldObject`
#[derive(Clone, Copy)]
pub(crate) struct RequestObjects<'s> {
    pub(crate) object: Value<'s>,
    pub(crate) old_object: Value<'s>,
}

/// Why there is no object in the kind that was matched.
pub(crate) type UnconvertedObject = Box<ConversionError>;

/// The variables of a policy's expressions.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionInputs<'s> {
    /// The resource and kind that the policy matched.
    pub(crate) matched: MatchedResource<'s>,
    /// The objects, in the kind that was matched.
    pub(crate) objects: RequestObjects<'s>,
    /// `params`
    pub(crate) params: Value<'s>,
    /// `namespaceObject`
    pub(crate) namespace: NamespaceForm,
    /// Whether there is an `authorizer`.
    pub(crate) authorizer: bool,
    /// Identifies the inputs that other policies have as well.
    pub(crate) key: InputKey,
    /// Whether the same expressions will be evaluated again, perhaps with other params.
    pub(crate) repeats: bool,
}

/// The forms of `namespaceObject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamespaceForm {
    /// Null, for match conditions.
    Absent = 0,
    /// For validations: without metadata that is not part of admission.
    Reduced = 1,
    /// For audit annotations and mutations.
    Full = 2,
}

/// Identifies the form in which expressions see the objects, `request` and `namespaceObject` of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputKey(u32);

impl InputKey {
    /// The key of inputs whose results are never reused.
    pub(crate) const UNSHARED: InputKey = InputKey(u32::MAX);

    /// The key of the forms of the objects and of the request at these positions.
    pub(crate) fn new(objects: usize, request: usize, namespace: NamespaceForm) -> InputKey {
        match (u8::try_from(objects), u8::try_from(request)) {
            (Ok(objects), Ok(request)) => {
                InputKey(u32::from(objects) << 16 | u32::from(request) << 8 | namespace as u32)
            }
            _ => InputKey::UNSHARED,
        }
    }

    /// The part of the key that matters to an expression with these inputs.
    pub(crate) fn restricted_to(self, set: InputSet) -> u32 {
        let part = |counts: bool, mask: u32| if counts { self.0 & mask } else { 0 };
        // `request` names the kind of its objects.
        part(set.objects, 0xff_0000) | part(set.request, 0xff00) | part(set.namespace, 0xff)
    }
}
