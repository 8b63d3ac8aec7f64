//! The types of a host's objects, which CEL does not see.

use std::fmt::Debug;

use pratique_json::Object;

use crate::error::Fault;

/// Whether objects of a host are of the same type. Two [typed](crate::Value::from_typed_json) objects that have the same
/// members are not equal if they are structs of different types.
pub trait ObjectTypes: Debug {
    /// Whether two objects, which are those of the input in memory, are of the same type. Maps are all of one type, and so is
    /// what the host does not know. `work` is told of each object that is looked at; its error ends the search.
    ///
    /// # Errors
    /// That of `work`.
    fn are_of_one_type(
        &self,
        left: &Object<'_>,
        right: &Object<'_>,
        work: &mut dyn FnMut(u64) -> Result<(), Fault>,
    ) -> Result<bool, Fault>;
}
