//! Reads valid JSON without copying it.
//!
//! What a server would warn about, refuse or take apart is left to the reader that knows positions and order, so that there
//! is one place for its messages.

use pratique_json::Value;
use pratique_manifest::convert::{ImpliedType, has_no_type, is_list};
use pratique_request::{kind_of, review};
use pratique_schema::Release;
use pratique_stream::ListHeader;
use pratique_typed::decode::received_in;

/// An object that a server of a release reads without a warning.
pub(super) fn object<'t>(
    text: &'t [u8],
    list: Option<&ListHeader>,
    release: &'static Release,
) -> Option<Value<'t>> {
    if has_negative_zero(text) {
        return None;
    }
    let Value::Object(mut object) = pratique_json::parse_unique(text).ok()? else {
        return None;
    };
    if let (Some(list), true) = (list, has_no_type(&object)) {
        implied(list)?.complete(&mut object);
    }
    let value = Value::Object(object);
    let kind = kind_of(&value).ok()?;
    if is_list(&value) || review::is_review(&value) {
        return None;
    }
    let warnings = received_in(release.schema(), &kind, &value).ok()?;
    warnings.is_empty().then_some(value)
}

/// What a list implies for its items.
pub(super) fn implied(list: &ListHeader) -> Option<ImpliedType> {
    ImpliedType::of_list(list.api_version.as_deref(), list.kind.as_deref())
}

/// Whether there may be an integer -0, which a server reads as 0.
fn has_negative_zero(text: &[u8]) -> bool {
    memchr::memmem::find_iter(text, b"-0").any(|at| {
        let preceding_byte = at.checked_sub(1).and_then(|index| text.get(index));
        matches!(
            preceding_byte,
            None | Some(b':' | b'[' | b',' | b' ' | b'\t' | b'\r' | b'\n')
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_quick: bool) {
        check_in(Release::latest(), text, is_quick);
    }

    #[track_caller]
    fn check_in(release: &'static Release, text: &str, is_quick: bool) {
        assert_eq!(
            object(text.as_bytes(), None, release).is_some(),
            is_quick,
            "{release}: {text}"
        );
    }

    #[test]
    fn only_what_needs_no_message_is_read_so() {
        let pod = |more: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod"{more}}}"#);
        check(&pod(""), true);
        check(&pod(r#","metadata":{"name":"a-0","labels":{"a:b":"c"}}"#), true);
        check(&pod(r#","metadata":{"name":"a","name":"b"}"#), false);
        check(&pod(r#","spec":{"unknown":1}"#), false);
        check(&pod(r#","spec":{"priority":"1"}"#), false);
        check(&pod(r#","spec":{"priority":-0}"#), false);
        check(r#"{"apiVersion":"v1","kind":"PodList","items":[]}"#, false);
        check(&pod(r#","items":[{}]"#), false);
        check(r#"{"apiVersion":"v1"}"#, false);
        check(
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#,
            false,
        );
        check("[]", false);
    }

    #[test]
    fn fields_are_those_of_the_release() {
        let pod = r#"{"apiVersion":"v1","kind":"Pod","spec":{"evictionResponders":[]}}"#;
        check(pod, true);
        check_in(Release::by_version("1.36").unwrap(), pod, false);
    }
}
