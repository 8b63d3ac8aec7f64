//! How a server calls a webhook: rules that all kinds with webhooks share.
// Upstream: apiserver/pkg/util/webhook/validation.go

use pratique_gotext::url::Url;
use pratique_gotext::validation::dns1123_subdomain;
use pratique_json::base64;
use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::messages::port_number;
use crate::node::Node;
use crate::x509::{decode_block, parse_certificate};

const URL_FORM: &str = "; desired format: https://host[/path]";

/// Validates the URL of a webhook.
// Upstream: apiserver/pkg/util/webhook/validation.go, ValidateWebhookURL
pub fn validate_webhook_url(field: &Node<'_, '_>, errors: &mut Errors) {
    let url = match Url::parse(field.as_text()) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{URL_FORM}");
            return errors.required(field, &detail);
        }
    };
    if url.scheme() != "https" {
        let detail = format!("'https' is the only allowed URL scheme{URL_FORM}");
        errors.invalid(field, url.scheme(), &detail);
    }
    if url.host().is_empty() {
        errors.invalid(field, "", &format!("host must be specified{URL_FORM}"));
    }
    if url.has_user() {
        let detail = "user information is not permitted in the URL";
        errors.invalid(field, user_information(field.as_text()), detail);
    }
    if !url.fragment().is_empty() {
        let detail = "fragments are not permitted in the URL";
        errors.invalid(field, &*url.fragment(), detail);
    }
    if !url.raw_query().is_empty() {
        let detail = "query parameters are not permitted in the URL";
        errors.invalid(field, url.raw_query(), detail);
    }
}

/// The text before the `@` of a URL's authority.
fn user_information(url: &str) -> &str {
    let rest = url.split_once("//").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or("", |(user, _)| user)
}

/// Validates the service of a webhook. A server passes its name and namespace in the wrong order, so each error names the other
/// field.
// Upstream: apiserver/pkg/util/webhook/validation.go, ValidateWebhookService
pub fn validate_webhook_service(service: &Node<'_, '_>, errors: &mut Errors) {
    let (name, namespace) = (service.child("name"), service.child("namespace"));
    if namespace.as_text().is_empty() {
        errors.required(name, "");
    }
    if name.as_text().is_empty() {
        errors.required(namespace, "");
    }
    let port = service.child("port");
    // Where there is none, it is 443.
    let fault = port.some_int().and_then(port_number);
    if let Some(fault) = fault {
        errors.invalid(port, port.int(), &format!("port is not valid: {fault}"));
    }
    validate_path(&service.child("path"), errors);
}

fn validate_path(path: &Node<'_, '_>, errors: &mut Errors) {
    let text = path.as_text();
    match text {
        "" | "/" => return,
        "//" => return errors.invalid(path, text, "segment[0] may not be empty"),
        _ if !text.starts_with('/') => errors.invalid(path, text, "must start with a '/'"),
        _ => {}
    }
    // A server drops the first byte, whatever it is.
    let after = String::from_utf8_lossy(text.as_bytes().get(1..).unwrap_or_default());
    let segments = after.strip_suffix('/').unwrap_or(&after);
    for (index, segment) in segments.split('/').enumerate() {
        if segment.is_empty() {
            errors.invalid(path, text, &format!("segment[{index}] may not be empty"));
            continue;
        }
        for fault in dns1123_subdomain(segment) {
            errors.invalid(path, text, &format!("segment[{index}]: {fault}"));
        }
    }
}

/// Validates the certificates by which a server knows a webhook, if there are any.
// Upstream: apiserver/pkg/util/webhook/validation.go, ValidateCABundle
pub fn validate_ca_bundle(bundle: &Node<'_, '_>, errors: &mut Errors) {
    if bundle.as_text().is_empty() {
        return;
    }
    let bytes = base64::decode(bundle.as_text()).unwrap_or_default();
    if let Err(fault) = find_authority(&bytes) {
        let detail = format!("unable to load root certificates: {fault}");
        errors.invalid(bundle, BadValue::Json(bundle.value()), &detail);
    }
}

/// Whether a text has a certificate that can be read; if not, what is wrong with the first one.
// Upstream: client-go/transport/transport.go, rootCertPool, createErrorParsingCAData
fn find_authority(text: &[u8]) -> Result<(), String> {
    let mut rest = text;
    let mut fault = None;
    while !rest.is_empty() {
        let Some((block, following)) = decode_block(rest) else {
            fault.get_or_insert_with(|| "unable to parse bytes as PEM block".to_owned());
            break;
        };
        rest = following;
        if block.label != "CERTIFICATE" || block.has_headers {
            continue;
        }
        match parse_certificate(&block.bytes) {
            Ok(_) => return Ok(()),
            Err(error) => fault.get_or_insert_with(|| format!("failed to parse certificate: {error}")),
        };
    }
    Err(fault.unwrap_or_else(|| "no valid certificate authority data seen".to_owned()))
}

#[cfg(test)]
mod tests {
    use pratique_json::Value;
    use pratique_types::field::Path;

    use super::*;

    #[track_caller]
    fn check(validate: fn(&Node<'_, '_>, &mut Errors), value: &Value<'_>, expected: &[&str]) {
        let mut errors = Errors::default();
        validate(&Node::with_path(value, Path::ROOT.child("f")), &mut errors);
        let errors = errors.into_list().into_vec().into_iter();
        let texts: Vec<String> = errors.map(|error| error.to_string()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn urls_are_of_hosts() {
        let form = "; desired format: https://host[/path]";
        check(validate_webhook_url, &Value::from("https://a.b/c"), &[]);
        check(
            validate_webhook_url,
            &Value::from("http://u:p@a/b?c#d"),
            &[
                &format!("f: Invalid value: \"http\": 'https' is the only allowed URL scheme{form}"),
                "f: Invalid value: \"u:p\": user information is not permitted in the URL",
                "f: Invalid value: \"d\": fragments are not permitted in the URL",
                "f: Invalid value: \"c\": query parameters are not permitted in the URL",
            ],
        );
    }

    #[test]
    fn names_and_namespaces_are_swapped() {
        let service = pratique_json::parse(br#"{"name": "a", "port": 0, "path": "/x//"}"#).unwrap();
        check(
            validate_webhook_service,
            &service,
            &[
                "f.name: Required value",
                "f.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
                "f.path: Invalid value: \"/x//\": segment[1] may not be empty",
            ],
        );
    }

    #[test]
    fn paths_begin_behind_their_first_byte() {
        let service =
            pratique_json::parse("{\"name\": \"a\", \"namespace\": \"b\", \"path\": \"é\"}".as_bytes())
                .unwrap();
        let mut errors = Errors::default();
        validate_webhook_service(&Node::root(&service), &mut errors);
        let errors = errors.into_list().into_vec();
        let texts: Vec<&str> = errors.iter().map(|error| error.body.as_str()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(
            texts[1].contains("segment[0]: a lowercase RFC 1123 subdomain"),
            "{texts:?}"
        );
    }

    #[test]
    fn bundles_have_certificates() {
        let block =
            |label: &str, body: &str| format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
        let check = |text: &str, fault: Option<&str>| {
            assert_eq!(find_authority(text.as_bytes()).err().as_deref(), fault, "{text}");
        };
        check("x", Some("unable to parse bytes as PEM block"));
        check(
            &block("CERTIFICATE", "AAAA"),
            Some("failed to parse certificate: x509: malformed certificate"),
        );
        // A frame is not enough, and the first fault is told.
        check(
            &(block("CERTIFICATE", "MAMCAQE=") + &block("CERTIFICATE", "AAAA")),
            Some("failed to parse certificate: x509: malformed tbs certificate"),
        );
        check(
            &block("PRIVATE KEY", "MAMCAQE="),
            Some("no valid certificate authority data seen"),
        );
        let authority = include_str!("../../../testdata/validation/authority.pem");
        check(authority, None);
        check(&(block("CERTIFICATE", "AAAA") + authority), None);
    }
}
