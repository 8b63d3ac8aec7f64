//! Objects that are kept from one edit of a policy to the next.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};

use pratique_schema::Release;

use super::SampleSpec;
use super::objects::{SampleObjects, most_objects};

/// Objects of built-in kinds that were made before, for programs that try policies again and again: most edits leave the fields and the
/// constants that expressions name as they are, and making the objects takes longer than trying a policy over them.
#[derive(Debug, Default)]
pub struct SampleMemory {
    kept: Mutex<KeptSamples>,
}

#[derive(Debug, Default)]
struct KeptSamples {
    objects: HashMap<String, KeptObjects>,
    bytes: usize,
    /// How often objects were asked for.
    round: u64,
    /// The names of all fields, by release.
    fields: HashMap<(u32, u32), Arc<HashSet<&'static str>>>,
}

#[derive(Debug)]
struct KeptObjects {
    objects: Arc<SampleObjects>,
    bytes: usize,
    /// When they were asked for last.
    round: u64,
}

/// The most bytes of objects that are kept. Those of a policy for seven kinds take up to 10 MiB.
const MOST_BYTES: usize = 64 << 20;

impl SampleMemory {
    /// The objects of a specification.
    pub fn objects(&self, spec: &SampleSpec<'_>) -> Arc<SampleObjects> {
        let key = self.key(spec);
        if let Some(known) = self.with_kept(|kept| kept.recall(&key)) {
            return known;
        }
        let objects = Arc::new(SampleObjects::new(spec));
        self.with_kept(|kept| kept.keep(key, Arc::clone(&objects)));
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
        let fields = self.with_kept(|kept| kept.field_names(release));
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

    fn with_kept<R>(&self, run: impl FnOnce(&mut KeptSamples) -> R) -> R {
        run(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl KeptSamples {
    fn field_names(&mut self, release: &'static Release) -> Arc<HashSet<&'static str>> {
        let fields = self.fields.entry(release.version()).or_insert_with(|| {
            let types = release.schema().types();
            let names = types.flat_map(|of| of.fields.iter().map(|field| field.name));
            Arc::new(names.collect())
        });
        Arc::clone(fields)
    }

    fn recall(&mut self, key: &str) -> Option<Arc<SampleObjects>> {
        self.round += 1;
        let known = self.objects.get_mut(key)?;
        known.round = self.round;
        Some(Arc::clone(&known.objects))
    }

    /// Keeps objects, and forgets those that nobody has asked for the longest.
    fn keep(&mut self, key: String, objects: Arc<SampleObjects>) {
        let bytes = key.len() + objects.owned_bytes();
        while self.bytes + bytes > MOST_BYTES {
            let oldest = self.objects.iter().min_by_key(|(_, known)| known.round);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            let forgotten = self.objects.remove(&oldest);
            self.bytes -= forgotten.map_or(0, |known| known.bytes);
        }
        self.bytes += bytes;
        let known = KeptObjects {
            objects,
            bytes,
            round: self.round,
        };
        if let Some(replaced) = self.objects.insert(key, known) {
            self.bytes -= replaced.bytes;
        }
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

    #[test]
    fn what_is_kept_is_bounded() {
        let objects = with_spec("object.spec.nodeName == 'a'", |spec| {
            Arc::new(SampleObjects::new(spec))
        });
        let each = objects.owned_bytes();
        let mut kept = KeptSamples::default();
        let count = MOST_BYTES / each + 10;
        for index in 0..count {
            kept.round += 1;
            kept.keep(index.to_string(), Arc::clone(&objects));
            assert!(kept.recall("0").is_some(), "{index}");
        }
        assert!(kept.bytes <= MOST_BYTES && kept.bytes > MOST_BYTES / 2);
        assert!(kept.recall(&(count - 1).to_string()).is_some());
        assert!(kept.recall("1").is_none());
        let bytes: usize = kept.objects.values().map(|known| known.bytes).sum();
        assert_eq!(bytes, kept.bytes);
    }
}
