//! ImageReviews and their answers.

use pratique_core::Attributes;
use pratique_gotext::json::unknown_kind;
use pratique_json::{Object, Value};
use pratique_schema::Release;

use crate::object::{members, object, text};
use crate::pods::containers;

/// The status of an ImageReview that the backend answered.
#[derive(Clone, Debug, Default)]
pub(super) struct ImageReviewStatus {
    pub(super) allowed: bool,
    pub(super) reason: String,
    pub(super) audit_annotations: Vec<(String, String)>,
}

impl ImageReviewStatus {
    /// The bytes of its texts.
    pub(super) fn size(&self) -> usize {
        let annotations = self.audit_annotations.iter();
        let annotations = annotations.map(|(key, value)| key.len() + value.len());
        self.reason.len() + annotations.sum::<usize>()
    }
}

/// The spec of the ImageReview for a pod, in JSON.
pub(super) fn spec(attributes: &Attributes<'_>) -> String {
    let pod = attributes.object;
    let lists: &[&str] = match attributes.request.sub_resource.as_str() {
        "" => &["containers", "initContainers"],
        _ => &["ephemeralContainers"],
    };
    let mut spec = Object::new();
    let annotations = members(pod, &["metadata", "annotations"]);
    let annotations: Object<'_> = annotations
        .into_iter()
        .flat_map(Object::iter)
        .filter(|(key, _)| key.contains(".image-policy.k8s.io/"))
        .map(|(key, value)| (key.into(), value.borrowed()))
        .collect();
    if !annotations.is_empty() {
        spec.insert("annotations", annotations);
    }
    let images = lists.iter().flat_map(|list| containers(pod, list));
    let images: Vec<Value<'_>> = images
        .map(|container| match text(container, &["image"]) {
            "" => Value::Object(Object::new()),
            image => object([("image", image.into())]),
        })
        .collect();
    if !images.is_empty() {
        spec.insert("containers", images);
    }
    if !attributes.request.namespace.is_empty() {
        spec.insert("namespace", attributes.request.namespace.as_str());
    }
    Value::Object(spec).to_string()
}

/// The ImageReview that is sent to the backend.
pub(super) fn review(spec: &str) -> String {
    format!(
        "{{\"kind\":\"ImageReview\",\"apiVersion\":\"imagepolicy.k8s.io/v1alpha1\",\"metadata\":{{}},\"spec\":{spec},\
         \"status\":{{\"allowed\":false}}}}"
    )
}

/// The backend's answer.
///
/// # Errors
/// It is no ImageReview.
pub(super) fn read_status(body: &str, release: &Release) -> Result<ImageReviewStatus, String> {
    if body.is_empty() {
        return Err("0-length response with status code: 200 and content type: application/json".to_owned());
    }
    let json = pratique_yaml::json_as_json(body.as_bytes())
        .map_err(|error| unknown_kind(error.to_text(release.is_of_go_1_27())))?;
    let answer = pratique_json::parse(json.as_bytes()).map_err(unknown_kind)?;
    let (version, kind) = (text(&answer, &["apiVersion"]), text(&answer, &["kind"]));
    let is_review = kind.is_empty() || kind == "ImageReview";
    if !is_review || !matches!(version, "" | "imagepolicy.k8s.io/v1alpha1") {
        let version = version.rsplit('/').next().unwrap_or_default();
        return Err(format!(
            "converting ({version}.{kind}) to (v1alpha1.ImageReview): unknown conversion"
        ));
    }
    let annotations = members(&answer, &["status", "auditAnnotations"]);
    let annotations = annotations.into_iter().flat_map(Object::iter);
    Ok(ImageReviewStatus {
        allowed: answer.at(&["status", "allowed"]).and_then(Value::as_bool) == Some(true),
        reason: text(&answer, &["status", "reason"]).to_owned(),
        audit_annotations: annotations
            .filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use pratique_json::parse;

    use super::*;
    use crate::object::elements;

    #[test]
    fn a_review_is_json() {
        let review = review(r#"{"containers":[{"image":"a"},{"image":"b"}]}"#);
        let review = parse(review.as_bytes()).unwrap();
        let images = elements(&review, &["spec", "containers"]).iter();
        let images: Vec<&str> = images.map(|container| text(container, &["image"])).collect();
        assert_eq!(images, ["a", "b"]);
    }

    #[test]
    fn answers_of_other_kinds_are_errors() {
        assert!(
            read_status(r#"{"status": {"allowed": true}}"#, Release::latest())
                .unwrap()
                .allowed
        );
        let error = read_status(r#"{"apiVersion": "v1", "kind": "Pod"}"#, Release::latest()).unwrap_err();
        assert_eq!(
            error,
            "converting (v1.Pod) to (v1alpha1.ImageReview): unknown conversion"
        );
        for (version, expected) in [
            ("1.37", "invalid character ' ' in literal true (expecting 'u')"),
            ("1.38", "unexpected end of JSON input"),
        ] {
            let error = read_status("{\"status\": tr", Release::by_version(version).unwrap());
            assert_eq!(error.unwrap_err(), unknown_kind(expected));
        }
        assert!(
            read_status("hello", Release::latest()).is_err() && read_status("", Release::latest()).is_err()
        );
    }
}
