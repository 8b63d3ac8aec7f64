//! The variants of an object, by round: all fields, all but one, and the least.
//!
//! A round chooses other values than the one before. What has no more values to choose from is not made again, and an object
//! without a field is made of the whole one where that is the same: building objects is most of what a lint costs
//! (`cargo xtask bench lint`).

use std::collections::HashMap;
use std::rc::Rc;

use pratique_json::Value;
use pratique_objects::ObjectCodec;
use pratique_schema::TypeId;

use super::build::{BuiltObject, CompleteSpec, OptionalField, OptionalFill, build, common_period};
use super::{SampleSpec, require_names};

/// The quantities of most samples, and those of [`SampleExtent::Fractional`](super::SampleExtent::Fractional).
const WHOLE_QUANTITY: &str = "1";
const FRACTION: &str = "500m";

/// A variant of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ObjectVariant {
    Whole,
    Least,
    Without(Vec<String>),
    Towards(Vec<String>),
}

/// Builds variants of an object, with the defaults that the server sets in them.
pub(super) struct VariantBuilder<'s> {
    spec: &'s SampleSpec<'s>,
    id: TypeId,
    api_version: String,
    defaults: &'s ObjectCodec,
    round: usize,
    /// After how many rounds a variant is made again, as far as the rounds from the first on have shown.
    periods: HashMap<ObjectVariant, usize>,
    /// The whole object of the round, as it is built, unless it is one of an earlier round.
    whole: Option<Value<'static>>,
    /// The optional fields of the whole objects by round, from the first on.
    optional: Vec<Rc<[OptionalField]>>,
}

impl<'s> VariantBuilder<'s> {
    pub(super) fn new(spec: &'s SampleSpec<'s>, id: TypeId, defaults: &'s ObjectCodec) -> Self {
        VariantBuilder {
            spec,
            id,
            api_version: spec.served.kind.api_version(),
            defaults,
            round: 0,
            periods: HashMap::new(),
            whole: None,
            optional: Vec::new(),
        }
    }

    /// Begins a round, the one behind the last; gives the optional fields of its objects.
    pub(super) fn begin(&mut self, round: usize) -> Rc<[OptionalField]> {
        self.round = round;
        let built = self.build_due(ObjectVariant::Whole, OptionalFill::Named, None);
        let optional = match &built {
            Some(built) => built.optional.as_slice().into(),
            None => {
                let period = self.periods.get(&ObjectVariant::Whole).copied().unwrap_or(1);
                let same = round.checked_sub(period).and_then(|same| self.optional.get(same));
                same.cloned().unwrap_or_default()
            }
        };
        self.optional.push(Rc::clone(&optional));
        self.whole = built.map(|built| built.object);
        optional
    }

    /// That with all fields, unless an earlier round had it.
    pub(super) fn whole(&self) -> Option<Value<'static>> {
        self.whole.clone().map(|object| self.complete(object))
    }

    /// The whole one with quantities that are fractions.
    pub(super) fn fractional(&self) -> Value<'static> {
        self.complete(self.build(OptionalFill::Named, None, FRACTION).object)
    }

    /// That without optional fields, unless an earlier round had it.
    pub(super) fn least(&mut self) -> Option<Value<'static>> {
        let built = self.build_due(ObjectVariant::Least, OptionalFill::Towards(&[]), None)?;
        Some(self.complete(built.object))
    }

    /// That with all fields but one, unless an earlier round had it.
    pub(super) fn without(&mut self, field: &OptionalField) -> Option<Value<'static>> {
        if !field.is_alternative {
            // It has no choice that the whole one has not.
            let mut object = self.whole.clone()?;
            if remove(&mut object, &field.path) {
                return Some(self.complete(object));
            }
        }
        let path = &field.path;
        let built = self.build_due(
            ObjectVariant::Without(path.clone()),
            OptionalFill::Named,
            Some(path),
        )?;
        Some(self.complete(built.object))
    }

    /// That with the fields on the way to one, but without it, unless an earlier round had it.
    pub(super) fn towards(&mut self, field: &OptionalField) -> Option<Value<'static>> {
        let path = &field.path;
        let built = self.build_due(
            ObjectVariant::Towards(path.clone()),
            OptionalFill::Towards(path),
            Some(path),
        )?;
        Some(self.complete(built.object))
    }

    /// Builds a variant unless all its choices are those of an earlier round. Round 0 chooses in its own way.
    fn build_due(
        &mut self,
        variant: ObjectVariant,
        fill: OptionalFill<'_>,
        without: Option<&[String]>,
    ) -> Option<BuiltObject> {
        let known = self.periods.get(&variant).copied();
        if known.is_some_and(|period| period < self.round) {
            return None;
        }
        let built = self.build(fill, without, WHOLE_QUANTITY);
        if self.round > 0 {
            let period = common_period(known.unwrap_or(1), built.period);
            self.periods.insert(variant, period);
        }
        Some(built)
    }

    fn build(
        &self,
        fill: OptionalFill<'_>,
        without: Option<&[String]>,
        quantity: &'static str,
    ) -> BuiltObject {
        let SampleSpec {
            release,
            served,
            interest,
            selected,
            required,
            ..
        } = *self.spec;
        let spec = CompleteSpec {
            release,
            interest,
            fill,
            without,
            round: self.round,
            quantity,
            selected,
            required,
            namespaced: served.namespaced,
        };
        build(self.id, &self.api_version, &served.kind.kind, &spec)
    }

    fn complete(&self, mut object: Value<'static>) -> Value<'static> {
        let SampleSpec { served, required, .. } = *self.spec;
        require_names(required, served, &mut object);
        // Policies see objects as the server defaults them; one that it cannot convert stays as it is.
        drop(self.defaults.default(&served.kind, &mut object));
        object
    }
}

/// Removes a field or key, in each element of lists; whether it was there, and nothing is empty without it: a map of which no key is
/// left has another one.
/// Recursion is safe: a path is as deep as an object that was built.
fn remove(holder: &mut Value<'static>, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return false;
    };
    match holder {
        Value::Array(elements) => {
            let mut was_there = false;
            for element in elements.iter_mut() {
                if !remove(element, path) {
                    return false;
                }
                was_there = true;
            }
            was_there
        }
        Value::Object(members) if rest.is_empty() => members.remove(name).is_some() && !members.is_empty(),
        Value::Object(members) => members.get_mut(name).is_some_and(|member| remove(member, rest)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::{Environment, Type};
    use pratique_schema::Release;
    use pratique_types::Operation;

    use super::super::{NamedFields, RequiredConstants, SelectedMetadata};
    use super::*;

    const EXPRESSION: &str = "has(object.spec.template.spec.volumes) && object.spec.template.spec.volumes.all(v, \
        has(v.configMap) || has(v.secret) || has(v.emptyDir)) && object.spec.template.spec.hostPID && \
        object.kind in ['Deployment', 'Job', 'Pod'] && object.metadata.labels['a/b'] == 'c' && \
        object.spec.template.spec.containers.all(c, c.imagePullPolicy in ['Always', 'Never', 'IfNotPresent'] && \
        (has(c.livenessProbe.exec) || c.livenessProbe.httpGet.scheme == 'HTTP'))";

    /// Runs a check with a specification for each kind of a few.
    fn with_specs(check: impl Fn(&SampleSpec<'_>, TypeId, &ObjectCodec)) {
        let environment = Environment::standard().with_variable("object", Type::Dyn);
        let ast = environment.parse(EXPRESSION).unwrap();
        for interest in [NamedFields::new([(None, &ast)]), NamedFields::everything()] {
            for resource in ["deployments", "cronjobs", "pods", "services", "rolebindings"] {
                let served = Release::latest().resources().named(resource).unwrap();
                let spec = SampleSpec {
                    release: Release::latest(),
                    served,
                    operations: &[Operation::Create],
                    interest: &interest,
                    selected: &SelectedMetadata::default(),
                    required: &RequiredConstants::default(),
                    footprints: &[],
                    is_mutating: false,
                    most: 400,
                };
                let id = Release::latest().schema().kind(&served.kind).unwrap();
                check(&spec, id, &ObjectCodec::with_placeholder(super::super::TIME));
            }
        }
    }

    #[test]
    fn an_object_without_a_field_is_the_one_that_is_built_without_it() {
        let compared = std::cell::Cell::new(0);
        with_specs(|spec, id, defaults| {
            let mut variants = VariantBuilder::new(spec, id, defaults);
            for round in 0..3 {
                let optional = variants.begin(round);
                for field in optional.iter().filter(|field| !field.is_alternative).take(60) {
                    let mut object = variants.whole.clone().unwrap_or_default();
                    if remove(&mut object, &field.path) {
                        let built = variants.build(OptionalFill::Named, Some(&field.path), WHOLE_QUANTITY);
                        assert_eq!(object.to_string(), built.object.to_string(), "{field:?}");
                        compared.set(compared.get() + 1);
                    }
                }
            }
        });
        assert!(compared.get() > 300, "{}", compared.get());
    }

    #[test]
    fn what_a_round_leaves_out_an_earlier_one_had() {
        let left_out = std::cell::Cell::new(0);
        with_specs(|spec, id, defaults| {
            let mut variants = VariantBuilder::new(spec, id, defaults);
            let mut known: HashMap<String, Vec<String>> = HashMap::new();
            for round in 0..6 {
                let optional = variants.begin(round);
                let whole = variants.build(OptionalFill::Named, None, WHOLE_QUANTITY);
                assert_eq!(*optional, *whole.optional);
                for field in optional.iter().take(40) {
                    let path = Some(&*field.path);
                    let fills = [OptionalFill::Named, OptionalFill::Towards(&field.path)];
                    let given = [variants.without(field), variants.towards(field)];
                    for (place, (fill, given)) in fills.into_iter().zip(given).enumerate() {
                        let all = known.entry(format!("{place} {:?}", field.path)).or_default();
                        let built = variants.build(fill, path, WHOLE_QUANTITY).object;
                        let built = variants.complete(built).to_string();
                        match given {
                            Some(given) => assert_eq!(given.to_string(), built),
                            None => {
                                left_out.set(left_out.get() + 1);
                                assert!(round > 1 && all.contains(&built), "{field:?} in round {round}");
                            }
                        }
                        all.push(built);
                    }
                }
            }
        });
        assert!(left_out.get() > 300, "{}", left_out.get());
    }
}
