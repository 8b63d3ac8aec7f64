//! The objects of a request in the kind that a webhook's rules name.

use std::sync::Arc;

use pratique_json::{Interrupted, Progress, Value};
use pratique_schema::Release;
use pratique_typed::ConversionError;
use pratique_types::GroupVersionKind;

use crate::object_error::ObjectError;

/// An object that came with the request, or one that was made since.
#[derive(Clone, Debug)]
pub(crate) enum ObjectRef<'s> {
    Given(&'s Value<'s>),
    Made(Arc<Value<'static>>),
}

/// The objects of a request in one kind.
// Upstream: pkg/admission/conversion.go, VersionedAttributes
#[derive(Clone, Debug)]
pub(crate) struct VersionedObjects<'s> {
    pub(crate) kind: GroupVersionKind,
    pub(crate) object: ObjectRef<'s>,
    pub(crate) old_object: ObjectRef<'s>,
}

/// Converts objects between the versions of a resource.
#[derive(Clone, Debug)]
pub(crate) struct VersionConverter<'s> {
    /// The release whose kinds have types; none have, where this is `None`.
    types: Option<&'static Release>,
    /// The kinds in which the objects of the resource are served.
    served: Vec<&'s GroupVersionKind>,
}

impl VersionedObjects<'_> {
    /// How many bytes of memory they take besides those of the request.
    pub(crate) fn made_bytes(&self) -> usize {
        let (object, old_object) = (&self.object, &self.old_object);
        object.made_bytes().saturating_add(old_object.made_bytes())
    }
}

impl ObjectRef<'_> {
    pub(crate) fn get(&self) -> &Value<'_> {
        match self {
            ObjectRef::Given(value) => value,
            ObjectRef::Made(value) => value,
        }
    }

    /// How many bytes of memory it takes besides those of the request.
    pub(crate) fn made_bytes(&self) -> usize {
        match self {
            ObjectRef::Given(_) => 0,
            ObjectRef::Made(value) => value.owned_bytes(),
        }
    }

    /// The object, for use beyond the request.
    pub(crate) fn into_owned(self) -> Arc<Value<'static>> {
        match self {
            ObjectRef::Given(value) => Arc::new(value.clone().into_owned()),
            ObjectRef::Made(value) => value,
        }
    }
}

impl From<Value<'_>> for ObjectRef<'_> {
    fn from(value: Value<'_>) -> Self {
        ObjectRef::Made(Arc::new(value.into_owned()))
    }
}

impl<'s> VersionConverter<'s> {
    pub(crate) fn new(
        types: Option<&'static Release>,
        served: impl Iterator<Item = &'s GroupVersionKind>,
    ) -> Self {
        VersionConverter {
            types,
            served: served.collect(),
        }
    }

    /// Whether the server is built with Go 1.27.
    pub(crate) fn is_of_go_1_27(&self) -> bool {
        self.types.is_some_and(Release::is_of_go_1_27)
    }

    /// The release that has a type for objects of a kind; `None` where they have none of their own.
    pub(crate) fn typing_release(&self, kind: &GroupVersionKind) -> Option<&'static Release> {
        self.types.filter(|release| release.has_type(kind))
    }

    /// Whether objects of a kind have a type of their own.
    pub(crate) fn is_typed(&self, kind: &GroupVersionKind) -> bool {
        self.typing_release(kind).is_some()
    }

    /// Converts an object to a kind.
    pub(crate) fn to_version(
        &self,
        object: &ObjectRef<'s>,
        kind: &GroupVersionKind,
        progress: &Progress<'_>,
    ) -> Result<ObjectRef<'s>, ObjectError> {
        let value = object.get();
        if value.is_null() {
            return Ok(object.clone());
        }
        if let Some(release) = self.typing_release(kind) {
            return in_type(release, object, kind, progress);
        }
        if pratique_types::ObjectRef::new(value)
            .group_version_kind()
            .unwrap_or_default()
            == *kind
        {
            return Ok(object.clone());
        }
        self.check_served(value)?;
        Ok(named(value, kind, progress)?.into())
    }

    /// Converts an object that webhooks changed in a kind, where it was `old_object`, to the kind of the object that is `like`
    /// the one to be stored.
    pub(crate) fn convert_back(
        &self,
        (old_object, object): (&ObjectRef<'s>, &ObjectRef<'s>),
        kind: &GroupVersionKind,
        like: &Value<'_>,
        progress: &Progress<'_>,
    ) -> Result<ObjectRef<'s>, ObjectError> {
        let mut target = pratique_types::ObjectRef::new(like)
            .group_version_kind()
            .unwrap_or_default();
        let value = object.get();
        if let Some(release) = self.typing_release(kind) {
            check_convertible(release, value, &target)?;
            let change = (old_object.get(), value);
            return match pratique_typed::changed_back(release, &target, like, change, progress)? {
                Some(changed) => in_type(release, &changed.into(), &target, progress),
                None => in_type(release, object, &target, progress),
            };
        }
        self.check_served(value)?;
        let source = pratique_types::ObjectRef::new(value)
            .group_version_kind()
            .unwrap_or_default();
        if !self.served.contains(&&source) || !self.served.contains(&&target) {
            // Only the version is converted, even where an earlier webhook gave the object another kind.
            target.kind = source.kind;
        }
        Ok(
            if pratique_types::ObjectRef::new(value)
                .group_version_kind()
                .unwrap_or_default()
                == target
            {
                object.clone()
            } else {
                named(value, &target, progress)?.into()
            },
        )
    }

    /// Checks that the resource is served in the version of an object.
    // Upstream: apiextensions-apiserver/pkg/apiserver/conversion/converter.go, ConvertToVersion
    fn check_served(&self, object: &Value<'_>) -> Result<(), ObjectError> {
        let GroupVersionKind { group, version, .. } = pratique_types::ObjectRef::new(object)
            .group_version_kind()
            .unwrap_or_default();
        let known = |served: &&GroupVersionKind| served.group == group && served.version == version;
        if self.served.iter().copied().any(|served| known(&served)) {
            Ok(())
        } else {
            let separator = if group.is_empty() { "" } else { "/" };
            let version = format!("{group}{separator}{version}");
            Err(ObjectError::UnknownVersion(version))
        }
    }
}

/// Converts an object to a built-in kind, and to the form of that.
fn in_type<'s>(
    release: &'static Release,
    object: &ObjectRef<'s>,
    kind: &GroupVersionKind,
    progress: &Progress<'_>,
) -> Result<ObjectRef<'s>, ObjectError> {
    let value = object.get();
    let converted = pratique_typed::converted(release, kind, value, progress)?;
    let form = pratique_typed::typed(release, kind, converted.as_ref().unwrap_or(value), progress)?;
    let formed = form.as_ref().or(converted.as_ref()).unwrap_or(value);
    let named = pratique_typed::named(kind, formed, progress)?;
    Ok(match named.as_ref().or(form.as_ref()).or(converted.as_ref()) {
        None => object.clone(),
        Some(changed) => ObjectRef::Made(Arc::new(changed.try_owned(progress)?)),
    })
}

/// Checks that a typed object can become one of a kind: one to which a webhook gave another kind cannot.
fn check_convertible(
    release: &'static Release,
    object: &Value<'_>,
    target: &GroupVersionKind,
) -> Result<(), ObjectError> {
    let source = pratique_types::ObjectRef::new(object)
        .group_version_kind()
        .unwrap_or_default();
    let schema = release.schema();
    let (Some(from), Some(to)) = (schema.kind(&source), schema.kind(target)) else {
        return Ok(());
    };
    if source.kind == target.kind {
        return Ok(());
    }
    let (from, to) = (schema.get(from).go_type(), schema.get(to).go_type());
    Err(ConversionError::Unknown(from.to_string(), to.to_string()).into())
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
    fn types_are_those_of_the_release() {
        let pod =
            br#"{"apiVersion":"v1","kind":"Pod","spec":{"volumes":[{"emptyDir":{"mode":493},"name":"v"}]}}"#;
        let pod = parse(pod).unwrap();
        let has_mode = |version| {
            let release = Release::by_version(version).unwrap();
            let converter = VersionConverter::new(Some(release), std::iter::empty());
            let object = ObjectRef::Given(&pod);
            let converted = converter.to_version(&object, &kind("", "v1", "Pod"), &Progress::unwatched());
            converted.unwrap().get().to_string().contains("mode")
        };
        assert!(has_mode("1.37") && !has_mode("1.36"));
    }

    #[test]
    fn nothing_is_lost_on_the_way_there_and_back() {
        let progress = Progress::unwatched();
        let converter = VersionConverter::new(Some(Release::latest()), std::iter::empty());
        let text = br#"{"apiVersion":"v1","count":3,"eventTime":null,"firstTimestamp":null,"involvedObject":{"name":"p"},
            "kind":"Event","lastTimestamp":null,"message":"m","metadata":{"name":"e"},"reportingComponent":"",
            "reportingInstance":"","source":{"component":"kubelet"}}"#;
        let event = parse(text).unwrap();
        let other = kind("events.k8s.io", "v1", "Event");
        let converted = converter
            .to_version(&ObjectRef::Given(&event), &other, &progress)
            .unwrap();
        assert_eq!(converted.get().get("note").and_then(Value::as_str), Some("m"));
        assert_eq!(
            pratique_types::ObjectRef::new(converted.get())
                .group_version_kind()
                .unwrap_or_default(),
            other
        );
        let mut changed = converted.get().clone().into_owned();
        if let Value::Object(members) = &mut changed {
            members.insert("note", "other");
        }
        let back = converter
            .convert_back((&converted, &changed.into()), &other, &event, &progress)
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
        let converter = VersionConverter::new(Some(Release::latest()), std::iter::once(&widget));
        let renamed = parse(br#"{"apiVersion":"example.com/v1","kind":"Other"}"#).unwrap();
        let converted = converter
            .to_version(&ObjectRef::Given(&renamed), &widget, &progress)
            .unwrap();
        assert_eq!(
            pratique_types::ObjectRef::new(converted.get())
                .group_version_kind()
                .unwrap_or_default(),
            widget
        );
        let back = converter
            .convert_back((&converted, &converted), &widget, &renamed, &progress)
            .unwrap();
        assert_eq!(
            pratique_types::ObjectRef::new(back.get())
                .group_version_kind()
                .unwrap_or_default(),
            widget
        );
        // The name of the kind that this webhook set is kept.
        let back = converter.convert_back(
            (&converted, &ObjectRef::Given(&renamed)),
            &widget,
            converted.get(),
            &progress,
        );
        assert_eq!(
            pratique_types::ObjectRef::new(back.unwrap().get())
                .group_version_kind()
                .unwrap_or_default()
                .kind,
            "Other"
        );
    }

    #[test]
    fn what_cannot_be_converted_is_refused() {
        let converter = VersionConverter::new(Some(Release::latest()), std::iter::empty());
        let text = br#"{"apiVersion":"apps/v1","kind":"DaemonSet",
            "metadata":{"annotations":{"deprecated.daemonset.template.generation":"x"}}}"#;
        let set = parse(text).unwrap();
        let other = kind("extensions", "v1beta1", "DaemonSet");
        let refused = converter.to_version(&ObjectRef::Given(&set), &other, &Progress::unwatched());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "strconv.ParseInt: parsing \"x\": invalid syntax"
        );
    }
}
