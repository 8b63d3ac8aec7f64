//! Formats of texts.
// Upstream: apimachinery/pkg/api/validate/strfmt.go

use pratique_gotext::validation::{dns1123_label, dns1123_subdomain, label_value, qualified_name};
use pratique_schema::Release;
use pratique_types::field::{BadValue, Error, Path};

use crate::errors::named;
use crate::messages::path_segment_name;

/// The errors of a text in a format; a plain one is of Go's type `string`.
pub(super) fn format_errors(
    format: &str,
    field: &Path<'_>,
    text: &str,
    is_plain: bool,
    release: &Release,
) -> Vec<Error> {
    let value = || -> BadValue<'_> { if is_plain { text.into() } else { named(text) } };
    let messages = match format {
        "k8s-short-name" => in_bytes(dns1123_label(text)),
        "k8s-long-name" => long_name(text),
        "k8s-long-name-caseless" => caseless_subdomain(text),
        "k8s-label-key" => qualified_name(text),
        "k8s-prefixed-label-key" => prefixed_key(text),
        "k8s-label-value" => label_value(text),
        "k8s-path-segment-name" => path_segment_name(text, false),
        "k8s-uuid" => uuid(text),
        "k8s-resource-pool-name" => return pool_name(field, text),
        "k8s-extended-resource-name" => extended_resource(text),
        "k8s-resource-fully-qualified-name" => return fully_qualified_name(field, text, release),
        _ => Vec::new(),
    };
    let messages = messages.iter();
    messages
        .map(|message| Error::invalid(field, value(), message))
        .collect()
}

/// What is wrong with a name that is a DNS subdomain, in the words of declarative rules.
// Upstream: apimachinery/pkg/api/validate/strfmt.go, LongName
pub(crate) fn long_name(text: &str) -> Vec<String> {
    in_bytes(dns1123_subdomain(text))
}

/// Declarative rules count bytes where those by hand speak of characters.
// Upstream: apimachinery/pkg/api/validate/content/errors.go, MaxLenError
fn in_bytes(mut messages: Vec<String>) -> Vec<String> {
    for message in &mut messages {
        if let Some(start) = message.strip_suffix(" characters") {
            *message = format!("{start} bytes");
        }
    }
    messages
}

// Upstream: apimachinery/pkg/api/validate/content/dns.go, IsDNS1123SubdomainCaseless
fn caseless_subdomain(text: &str) -> Vec<String> {
    // Go's regular expressions take these two for `s` and `k`, if case does not matter.
    let lower = text
        .replace('\u{17f}', "s")
        .replace('\u{212a}', "k")
        .to_ascii_lowercase();
    let mut messages = Vec::new();
    if text.len() > 253 {
        messages.push("must be no more than 253 bytes".to_owned());
    }
    let is_length = |message: &String| message.starts_with("must be no more than");
    if !dns1123_subdomain(&lower).iter().all(is_length) {
        messages.push(
            "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an \
             alphanumeric character (e.g. 'Example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .to_owned(),
        );
    }
    messages
}

// Upstream: apimachinery/pkg/api/validate/content/kube.go, IsPrefixedLabelKey
fn prefixed_key(text: &str) -> Vec<String> {
    let messages = qualified_name(text);
    if messages.is_empty() && !text.contains('/') {
        return vec!["must include a prefix (e.g. 'example.com/key')".to_owned()];
    }
    messages
}

fn uuid(text: &str) -> Vec<String> {
    let is_valid = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        });
    let message = "must be a lowercase UUID in 8-4-4-4-12 format";
    (!is_valid).then(|| message.to_owned()).into_iter().collect()
}

fn pool_name(field: &Path<'_>, text: &str) -> Vec<Error> {
    let mut errors = Vec::new();
    if text.len() > 253 {
        errors.push(Error::too_long(field, 253));
    }
    for (at, part) in text.split('/').enumerate() {
        if part.is_empty() {
            let detail = format!("segment {at}: must not be empty");
            errors.push(Error::invalid(field, text, &detail));
            continue;
        }
        for message in long_name(part) {
            let detail = format!("segment {at}: {message}");
            errors.push(Error::invalid(field, part, &detail));
        }
    }
    errors
}

fn extended_resource(text: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if !text.contains('/') {
        messages.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'".to_owned());
    } else if text.contains("kubernetes.io/") {
        messages.push("must not have \"kubernetes.io/\" domain".to_owned());
    }
    if text.starts_with("requests.") {
        messages.push("must not have \"requests.\" prefix".to_owned());
    }
    messages.extend(qualified_name(&format!("requests.{text}")));
    messages
}

fn fully_qualified_name(field: &Path<'_>, text: &str, release: &Release) -> Vec<Error> {
    let mut errors = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        [name] => push_identifier(field, name, &mut errors),
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push(Error::invalid(field, "", "prefix must not be empty"));
            } else {
                if prefix.len() > 63 {
                    errors.push(Error::too_long(field, 63));
                }
                for message in long_name(prefix) {
                    errors.push(Error::invalid(field, *prefix, &format!("prefix: {message}")));
                }
            }
            if name.is_empty() {
                errors.push(Error::invalid(field, "", "name must not be empty"));
            } else {
                push_identifier(field, name, &mut errors);
            }
        }
        // Upstream says of more slashes since 1.38.
        _ if release.at_least(1, 38) => {
            errors.push(Error::invalid(
                field,
                text,
                "must not contain more than one slash",
            ));
        }
        _ => {}
    }
    if !text.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(Error::invalid(field, text, detail));
    }
    errors
}

fn push_identifier(field: &Path<'_>, text: &str, errors: &mut Vec<Error>) {
    if text.len() > 32 {
        errors.push(Error::too_long(field, 32));
    }
    if let Some(message) = crate::messages::c_identifier(text) {
        errors.push(Error::invalid(field, text, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, text: &str, expected: &[&str]) {
        let errors = format_errors(format, &Path::new("f"), text, true, Release::latest());
        assert_eq!(errors.len(), expected.len(), "{text}: {errors:?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.body.starts_with(expected), "{text}: {}", error.body);
        }
    }

    #[test]
    fn formats() {
        check("k8s-uuid", "5a7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b", &[]);
        check(
            "k8s-uuid",
            "5A7f0c1e-2b3d-4e6f-8a9b-0c1d2e3f4a5b",
            &["Invalid value: \"5A7f"],
        );
        check("k8s-long-name-caseless", "Example.Com", &[]);
        check(
            "k8s-long-name-caseless",
            "a_b",
            &["Invalid value: \"a_b\": an RFC 1123 subdomain"],
        );
        check(
            "k8s-prefixed-label-key",
            "a",
            &["Invalid value: \"a\": must include a prefix"],
        );
        check(
            "k8s-resource-pool-name",
            "a//B",
            &[
                "Invalid value: \"a//B\": segment 1: must not be empty",
                "Invalid value: \"B\": segment 2: a lowercase RFC 1123",
            ],
        );
        check(
            "k8s-extended-resource-name",
            "cpu",
            &["Invalid value: \"cpu\": a name must be"],
        );
        check(
            "k8s-resource-fully-qualified-name",
            "example.com/a-b",
            &["Invalid value: \"a-b\": a valid C identifier"],
        );
        check(
            "k8s-resource-fully-qualified-name",
            "a",
            &["Invalid value: \"a\": a fully qualified name"],
        );
        check(
            "k8s-resource-fully-qualified-name",
            "/",
            &[
                "Invalid value: \"\": prefix must not be empty",
                "Invalid value: \"\": name must not be empty",
            ],
        );
    }
}
