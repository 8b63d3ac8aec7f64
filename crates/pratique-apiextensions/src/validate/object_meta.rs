//! Object metadata by the rules that all kinds share, of objects whose other rules are in their definition.

use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::{ErrorList, Path};
use pratique_validation::rules::{
    Errors, NameRule, Node, validate_any_update, validate_meta_declaratively,
    validate_meta_update_declaratively,
};

/// Validates the metadata of a new object.
pub(crate) fn validate(
    metadata: &Value<'_>,
    is_namespaced: bool,
    name_rule: NameRule,
    release: &'static Release,
    path: &Path<'_>,
) -> ErrorList {
    let mut errors = Errors::of_release(release);
    let metadata = Node::with_path(metadata, *path);
    validate_meta_declaratively(&metadata, is_namespaced, name_rule, &mut errors);
    errors.into_list()
}

/// Validates the metadata of an object that is to replace another.
pub(crate) fn validate_update(new: &Value<'_>, old: &Value<'_>, release: &'static Release) -> ErrorList {
    let mut errors = Errors::of_release(release);
    let [new, old] = [new, old].map(|metadata| Node::with_path(metadata, Path::METADATA));
    validate_meta_update_declaratively(&new, &old, &mut errors);
    errors.into_list()
}

/// Validates what a server does of each object that is to replace another, before it asks for its kind.
pub(crate) fn validate_common_update(
    new: &Value<'_>,
    old: &Value<'_>,
    is_namespaced: bool,
    release: &'static Release,
) -> ErrorList {
    let mut errors = Errors::of_release(release);
    let [new, old] = [new, old].map(|metadata| Node::with_path(metadata, Path::METADATA));
    validate_any_update(&new, &old, is_namespaced, &mut errors);
    errors.into_list()
}

#[cfg(test)]
mod tests {
    use pratique_validation::rules::path_segment_name;

    use super::*;

    fn labels_of(version: &str) -> Vec<String> {
        let metadata = br#"{"name": "a", "labels": {"a": "x/y", "b": "x/y", "c": "x/z"}}"#;
        let metadata = pratique_json::parse(metadata).unwrap();
        let release = Release::by_version(version).unwrap();
        let errors = validate(&metadata, false, path_segment_name, release, &Path::METADATA);
        errors.into_vec().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn errors_that_are_there_twice_are_told_once() {
        assert_eq!(labels_of("1.37"), ["metadata.labels"; 2]);
        assert_eq!(labels_of("1.36"), ["metadata.labels"; 3]);
    }

    #[test]
    fn every_change_is_validated_twice() {
        let metadata = pratique_json::parse(br#"{"name": "a", "labels": {"a": "x/y", "b": "x/y"}}"#).unwrap();
        let errors = validate_common_update(&metadata, &metadata, false, Release::latest());
        let fields: Vec<String> = errors.into_vec().into_iter().map(|error| error.field).collect();
        let labels = "metadata.labels";
        assert_eq!(
            fields,
            [labels, labels, "metadata.resourceVersion", labels, labels]
        );
    }
}
