//! Objects that are kept from one edit of a policy to the next.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use pratique_schema::Release;

use super::SampleSpec;
use super::objects::{SampleObjects, most_objects};
use crate::bounded_memory::BoundedMemory;

/// Objects of built-in kinds that were made before, for programs that try policies again and again: most edits leave the fields and the
/// constants that expressions name as they are, and making the objects takes longer than trying a policy over them.
#[derive(Debug)]
pub struct SampleMemory {
    objects: BoundedMemory<SampleObjects>,
    /// The names of all fields, by release.
    fields: Mutex<HashMap<(u32, u32), FieldNames>>,
}

type FieldNames = Arc<HashSet<&'static str>>;

/// The most bytes of objects that are kept. Those of a policy for seven kinds take up to 10 MiB.
const MOST_BYTES: usize = 64 << 20;

impl Default for SampleMemory {
    fn default() -> Self {
        SampleMemory {
            objects: BoundedMemory::new(MOST_BYTES),
            fields: Mutex::default(),
        }
    }
}

impl SampleMemory {
    /// The objects of a specification.
    pub fn objects(&self, spec: &SampleSpec<'_>) -> Arc<SampleObjects> {
        let key = self.key(spec);
        if let Some(known) = self.objects.recall(&key) {
            return known;
        }
        let objects = Arc::new(SampleObjects::new(spec));
        self.objects
            .keep(key, Arc::clone(&objects), objects.owned_bytes());
        objects
    }

    /// What objects are made of: everything in a specification that has an effect on them.
    fn key(&self, spec: &SampleSpec<'_>) -> String {
        let SampleSpec {
            release,
            served,
            // The requests are made anew.
            operations: _,
            // A Service has its ports of nodes before the validating phase.
            is_mutating,
            interest,
            selected,
            required,
            footprints,
            most: _,
        } = *spec;
        let fields = self.field_names(release);
        let names: Vec<&str> = interest
            .all_names()
            .filter(|name| fields.contains(name))
            .collect();
        // Compared values are in a map without an order.
        let values: BTreeMap<&str, _> = interest.all_values().collect();
        let (kind, namespaced) = (&served.kind, served.namespaced);
        let asks = interest.reads_authorizer;
        let mut reads = DefaultHasher::new();
        footprints.hash(&mut reads);
        let reads = reads.finish();
        let (version, most, keys) = (release.version(), most_objects(spec), &interest.keys);
        format!(
            "{version:?} {kind:?} {namespaced} {is_mutating} {most} {asks} {names:?} {keys:?} {values:?} {selected:?} {required:?} {reads}"
        )
    }

    fn field_names(&self, release: &'static Release) -> FieldNames {
        let mut known = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
        let fields = known.entry(release.version()).or_insert_with(|| {
            let types = release.schema().types();
            let names = types.flat_map(|of| of.fields.iter().map(|field| field.name));
            Arc::new(names.collect())
        });
        Arc::clone(fields)
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::{Environment, Type};
    use pratique_types::Operation;

    use super::super::{NamedFields, RequiredConstants, SelectedMetadata};
    use super::*;

    /// Runs something with the specification for Pods and an expression.
    fn with_spec<R>(expression: &str, run: impl FnOnce(&SampleSpec<'_>) -> R) -> R {
        let environment = Environment::standard().with_variable("object", Type::Dyn);
        let ast = environment.parse(expression).unwrap();
        run(&SampleSpec {
            release: Release::latest(),
            served: Release::latest().resources().named("pods").unwrap(),
            operations: &[Operation::Create],
            interest: &NamedFields::new([(None, &ast)]),
            selected: &SelectedMetadata::default(),
            required: &RequiredConstants::default(),
            footprints: &[],
            is_mutating: false,
            most: 400,
        })
    }

    #[test]
    fn objects_are_kept_until_something_else_is_named() {
        let memory = SampleMemory::default();
        let objects = |expression: &str| with_spec(expression, |spec| memory.objects(spec));
        let first = objects("object.spec.hostPID");
        for same in [
            "object.spec.hostPID == true",
            "object.spec.hostPID && object.spec.hostNetwrk",
        ] {
            assert!(Arc::ptr_eq(&first, &objects(same)), "{same}");
        }
        for other in [
            "object.spec.hostPID && object.spec.hostIPC",
            "object.spec.nodeName == 'a' && object.spec.hostPID",
            "object.spec.nodeName == 'b' && object.spec.hostPID",
        ] {
            let again = objects(other);
            assert!(!Arc::ptr_eq(&first, &again), "{other}");
            // What is kept is what would be made.
            let made = with_spec(other, |spec| format!("{:?}", SampleObjects::new(spec)));
            assert_eq!(format!("{again:?}"), made);
        }
    }
}
