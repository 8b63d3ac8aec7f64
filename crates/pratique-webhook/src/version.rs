//! The objects of a request in the kind that a webhook asked for.

use std::sync::Arc;

use pratique_json::{Interrupted, Progress, Value};
use pratique_schema::Schema;
use pratique_types::{GroupVersion, GroupVersionKind};

use crate::patch::Unapplied;

/// An object that came with the request, or was made since.
#[derive(Clone, Debug)]
pub(crate) enum Held<'s> {
    Given(&'s Value<'s>),
    Made(Arc<Value<'static>>),
}

/// How objects are brought into another kind.
#[derive(Clone, Debug)]
pub(crate) struct Conversion<'s> {
    /// Whether built-in kinds have types.
    types_objects: bool,
    /// The kinds in which the objects of the resource are served.
    served: Vec<&'s GroupVersionKind>,
}

impl Held<'_> {
    pub(crate) fn get(&self) -> &Value<'_> {
        match self {
            Held::Given(value) => value,
            Held::Made(value) => value,
        }
    }

    /// How many bytes of memory it takes besides what came with the request.
    pub(crate) fn made_bytes(&self) -> usize {
        match self {
            Held::Given(_) => 0,
            Held::Made(value) => value.owned_bytes(),
        }
    }

    /// The object, to be kept beyond the request.
    pub(crate) fn into_owned(self) -> Arc<Value<'static>> {
        match self {
            Held::Given(value) => Arc::new(value.clone().into_owned()),
            Held::Made(value) => value,
        }
    }
}

impl From<Value<'_>> for Held<'_> {
    fn from(value: Value<'_>) -> Self {
        Held::Made(Arc::new(value.into_owned()))
    }
}

impl<'s> Conversion<'s> {
    pub(crate) fn new(types_objects: bool, served: impl Iterator<Item = &'s GroupVersionKind>) -> Self {
        Conversion {
            types_objects,
            served: served.collect(),
        }
    }

    /// Whether objects of a kind have a type of their own.
    pub(crate) fn is_typed(&self, kind: &GroupVersionKind) -> bool {
        self.types_objects && pratique_typed::is_builtin(kind)
    }

    /// An object in a kind. The error is the reference's.
    pub(crate) fn forth(
        &self,
        object: &Held<'s>,
        kind: &GroupVersionKind,
        progress: &Progress<'_>,
    ) -> Result<Held<'s>, Unapplied> {
        let value = object.get();
        if value.is_null() {
            return Ok(object.clone());
        }
        if self.is_typed(kind) {
            return in_type(object, kind, progress);
        }
        if kind_of(value) == *kind {
            return Ok(object.clone());
        }
        self.known(value)?;
        Ok(named(value, kind, progress)?.into())
    }

    /// An object that webhooks changed in a kind, in that of the object that it was `before` in that kind: what goes on to
    /// be stored.
    pub(crate) fn back(
        &self,
        (before, object): (&Held<'s>, &Held<'s>),
        kind: &GroupVersionKind,
        like: &Value<'_>,
        progress: &Progress<'_>,
    ) -> Result<Held<'s>, Unapplied> {
        let mut target = kind_of(like);
        let value = object.get();
        if self.is_typed(kind) {
            convertible(value, &target)?;
            let change = (before.get(), value);
            return match pratique_typed::changed_back(&target, like, change, progress)? {
                Some(changed) => in_type(&changed.into(), &target, progress),
                None => in_type(object, &target, progress),
            };
        }
        self.known(value)?;
        let own = kind_of(value);
        if !self.served.contains(&&own) || !self.served.contains(&&target) {
            // Only its version is converted, also where an earlier webhook gave the object another kind.
            target.kind = own.kind;
        }
        Ok(match kind_of(value) == target {
            true => object.clone(),
            false => named(value, &target, progress)?.into(),
        })
    }

    /// Whether there is a way from the version that an object says it has.
    fn known(&self, object: &Value<'_>) -> Result<(), String> {
        let GroupVersionKind { group, version, .. } = kind_of(object);
        let known = |served: &&GroupVersionKind| served.group == group && served.version == version;
        match self.served.iter().copied().any(|served| known(&served)) {
            true => Ok(()),
            false => {
                let separator = if group.is_empty() { "" } else { "/" };
                Err(format!(
                    "request to convert CR from an invalid group/version: {group}{separator}{version}"
                ))
            }
        }
    }
}

/// An object in a built-in kind, and in the form of that.
fn in_type<'s>(
    object: &Held<'s>,
    kind: &GroupVersionKind,
    progress: &Progress<'_>,
) -> Result<Held<'s>, Unapplied> {
    let value = object.get();
    let converted = pratique_typed::converted(kind, value, progress)?;
    let form = pratique_typed::typed(kind, converted.as_ref().unwrap_or(value), progress)?;
    let formed = form.as_ref().or(converted.as_ref()).unwrap_or(value);
    let named = pratique_typed::named(kind, formed, progress)?;
    Ok(match named.as_ref().or(form.as_ref()).or(converted.as_ref()) {
        None => object.clone(),
        Some(changed) => Held::Made(Arc::new(changed.try_owned(progress)?)),
    })
}

/// Whether a typed object can become one of a kind: what a webhook made another kind of thing cannot.
fn convertible(object: &Value<'_>, target: &GroupVersionKind) -> Result<(), String> {
    let own = kind_of(object);
    let schema = Schema::builtin();
    let (Some(from), Some(to)) = (schema.kind(&own), schema.kind(target)) else {
        return Ok(());
    };
    if own.kind == target.kind {
        return Ok(());
    }
    let (from, to) = (schema.get(from).go_type(), schema.get(to).go_type());
    Err(format!("converting (*{from}) to (*{to}): unknown conversion"))
}

/// The kind that an object says it has.
pub(crate) fn kind_of(object: &Value<'_>) -> GroupVersionKind {
    let text = |key| object.get(key).and_then(Value::as_str).unwrap_or_default();
    match GroupVersion::parse(text("apiVersion")) {
        Ok(version) => version.with_kind(text("kind")),
        Err(_) => GroupVersionKind::default(),
    }
}

fn named<'a>(
    object: &'a Value<'a>,
    kind: &GroupVersionKind,
    progress: &Progress<'_>,
) -> Result<Value<'a>, Interrupted> {
    let mut copy = object.try_borrowed(progress)?;
    if let Value::Object(members) = &mut copy {
        members.insert("apiVersion", kind.api_version());
        members.insert("kind", kind.kind.clone());
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;

    fn kind(group: &str, version: &str, kind: &str) -> GroupVersionKind {
        GroupVersionKind::new(group, version, kind)
    }

    #[test]
    fn nothing_is_lost_on_the_way_there_and_back() {
        let progress = Progress::unwatched();
        let conversion = Conversion::new(true, std::iter::empty());
        let text = br#"{"apiVersion":"v1","count":3,"eventTime":null,"firstTimestamp":null,"involvedObject":{"name":"p"},
            "kind":"Event","lastTimestamp":null,"message":"m","metadata":{"name":"e"},"reportingComponent":"",
            "reportingInstance":"","source":{"component":"kubelet"}}"#;
        let event = parse(text).unwrap();
        let other = kind("events.k8s.io", "v1", "Event");
        let seen = conversion.forth(&Held::Given(&event), &other, &progress).unwrap();
        assert_eq!(seen.get().get("note").and_then(Value::as_str), Some("m"));
        assert_eq!(kind_of(seen.get()), other);
        let mut changed = seen.get().clone().into_owned();
        if let Value::Object(members) = &mut changed {
            members.insert("note", "other");
        }
        let back = conversion
            .back((&seen, &changed.into()), &other, &event, &progress)
            .unwrap();
        let expected = event
            .to_string()
            .replace(r#""message":"m""#, r#""message":"other""#);
        assert_eq!(back.get().to_string(), expected);
    }

    #[test]
    fn a_kind_that_is_not_served_does_not_come_back() {
        let progress = Progress::unwatched();
        let widget = kind("example.com", "v1", "Widget");
        let conversion = Conversion::new(true, std::iter::once(&widget));
        let renamed = parse(br#"{"apiVersion":"example.com/v1","kind":"Other"}"#).unwrap();
        let seen = conversion
            .forth(&Held::Given(&renamed), &widget, &progress)
            .unwrap();
        assert_eq!(kind_of(seen.get()), widget);
        let back = conversion
            .back((&seen, &seen), &widget, &renamed, &progress)
            .unwrap();
        assert_eq!(kind_of(back.get()), widget);
        // What this webhook names otherwise stays so.
        let back = conversion.back((&seen, &Held::Given(&renamed)), &widget, seen.get(), &progress);
        assert_eq!(kind_of(back.unwrap().get()).kind, "Other");
    }

    #[test]
    fn what_cannot_be_converted_is_refused() {
        let conversion = Conversion::new(true, std::iter::empty());
        let text = br#"{"apiVersion":"apps/v1","kind":"DaemonSet",
            "metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}"#;
        let set = parse(text).unwrap();
        let other = kind("extensions", "v1beta1", "DaemonSet");
        let refused = conversion.forth(&Held::Given(&set), &other, &Progress::unwatched());
        let Unapplied::Server(refused) = refused.unwrap_err() else {
            panic!("it was not interrupted");
        };
        assert_eq!(refused, "strconv.ParseInt: parsing \"x\": invalid syntax");
    }
}
