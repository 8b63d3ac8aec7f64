//! The status of a PodCertificateRequest: the certificates that were issued for it, or that there are none.

use pratique_gotext::time::Timestamp;
use pratique_json::base64;
use pratique_types::field::BadValue;

use crate::conditions::validate_conditions;
use crate::errors::Errors;
use crate::kinds::Request;
use crate::node::Node;
use crate::object_meta::validate_core_meta_update;
use crate::x509::{
    PublicKey, X509Certificate, decode_block, is_mailbox, parse_certificate, parse_public_key, parse_request,
};

const OUTCOMES: &[&str] = &["Issued", "Denied", "Failed"];
const MAX_CHAIN: usize = 100 << 10;
const TEN_MINUTES: i64 = 600;

// Upstream: pkg/apis/certificates/validation/validation.go, ValidatePodCertificateRequestStatusUpdate
pub(super) fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    // What is said of the metadata of all objects is another list.
    let mut faults = Errors::of_gates(errors.gates());
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), &mut faults);
    let (status, old_status) = (object.child("status"), old.child("status"));
    if faults.is_empty() {
        let conditions = status.child("conditions");
        validate_outcomes(&conditions, &mut faults);
        validate_conditions(&conditions, &mut faults);
    }
    if faults.is_empty() {
        validate_outcome(&status, &old_status, request, &mut faults);
    }
    errors.extend(faults);
}

/// At most one of the known conditions, which is true.
fn validate_outcomes(conditions: &Node<'_, '_>, errors: &mut Errors) {
    let mut count = 0;
    for (at, condition) in conditions.items().enumerate() {
        let (kind, status) = (condition.child("type"), condition.child("status"));
        // Before 1.38, the index is a name in these paths.
        let index = format!("[{at}]");
        let path = if errors.release().at_least(1, 38) {
            conditions.path().index(at)
        } else {
            conditions.path().child(&index)
        };
        let (kind, status) = (
            Node::with_path(kind.value(), path.child("type")),
            Node::with_path(status.value(), path.child("status")),
        );
        if !OUTCOMES.contains(&kind.as_text()) {
            errors.unsupported_text(&kind, OUTCOMES);
            continue;
        }
        count += 1;
        if count > 1 {
            errors.invalid_or_empty(
                &kind,
                r#"There may be at most one condition with type "Issued", "Denied", or "Failed""#,
            );
        }
        if status.as_text() != "True" {
            errors.not_supported(&status, &["True"]);
        }
    }
}

fn has_outcome(status: &Node<'_, '_>, outcome: &str) -> bool {
    let conditions = status.child("conditions");
    conditions.items().any(|condition| {
        condition.child("type").as_text() == outcome && condition.child("status").as_text() == "True"
    })
}

fn validate_outcome(status: &Node<'_, '_>, old: &Node<'_, '_>, request: &Request<'_>, errors: &mut Errors) {
    let is_unchanged = status.is_same(old);
    let mut refuse_unless = |is_allowed: bool, detail: &str| {
        if !is_allowed {
            errors.invalid(status, BadValue::Omitted, detail);
        }
    };
    if OUTCOMES.iter().any(|outcome| has_outcome(old, outcome)) {
        refuse_unless(
            is_unchanged,
            "immutable after PodCertificateRequest is issued, denied, or failed",
        );
    } else if has_outcome(status, "Denied") || has_outcome(status, "Failed") {
        let others = ["certificateChain", "notBefore", "beginRefreshAt", "notAfter"];
        refuse_unless(
            others.iter().all(|name| status.child(name).as_text().is_empty()),
            "non-condition status fields must be empty when denying or failing the PodCertificateRequest",
        );
    } else if has_outcome(status, "Issued") {
        validate_issued(status, request, errors);
    } else {
        refuse_unless(
            is_unchanged,
            r#"status is immutable unless transitioning to "Issued", "Denied", or "Failed""#,
        );
    }
}

fn validate_issued(status: &Node<'_, '_>, request: &Request<'_>, errors: &mut Errors) {
    let chain = status.child("certificateChain");
    let text = chain.as_text();
    if text.len() > MAX_CHAIN {
        errors.too_long(chain, MAX_CHAIN as i64);
        return;
    }
    let Some((leaf, rest)) = decode_block(text.as_bytes()) else {
        errors.invalid(
            chain,
            text,
            "issued certificate chain must contain at least one certificate",
        );
        return;
    };
    if leaf.label != "CERTIFICATE" {
        errors.invalid(
            chain,
            text,
            "issued certificate chain must consist entirely of CERTIFICATE PEM blocks",
        );
        return;
    }
    let Ok(leaf) = parse_certificate(&leaf.bytes) else {
        errors.invalid(chain, text, "leaf certificate does not parse as valid X.509");
        return;
    };
    // Since 1.35.
    if errors.release().at_least(1, 35) {
        validate_names(&chain, &leaf, errors);
    }
    let old_spec = request.old.child("spec");
    if validate_issued_key(&chain, &leaf, &old_spec, errors)
        && validate_times(status, &leaf, &request.object.child("spec"), errors)
    {
        validate_rest(&chain, rest, errors);
    }
}

fn validate_names(chain: &Node<'_, '_>, leaf: &X509Certificate, errors: &mut Errors) {
    for name in &leaf.dns_names {
        if name.is_empty() {
            errors.invalid(chain, name, "leaf certificate should not contain empty DNSName");
        }
        if name.contains("..") {
            errors.invalid(chain, name, "leaf certificate's DNSName should not contain '..'");
        }
        if name.starts_with('.') || name.ends_with('.') {
            errors.invalid(
                chain,
                name,
                "leaf certificate's DNSName should not start or end with '.'",
            );
        }
    }
    for address in leaf.email_addresses.iter().filter(|address| !is_mailbox(address)) {
        errors.invalid(
            chain,
            address,
            "leaf certificate should not contain invalid EmailAddress",
        );
    }
}

/// Whether the certificate is one of the key for which it was requested.
fn validate_issued_key(
    chain: &Node<'_, '_>,
    leaf: &X509Certificate,
    spec: &Node<'_, '_>,
    errors: &mut Errors,
) -> bool {
    let (stub, key) = (spec.child("stubPKCS10Request"), spec.child("pkixPublicKey"));
    let requested = if stub.as_text().is_empty() {
        let bytes = base64::decode(key.as_text()).unwrap_or_default();
        let Ok(key) = parse_public_key(&bytes) else {
            let detail = "must be a valid PKIX-serialized public key";
            // Upstream: ValidatePodCertificateRequestStatusUpdate: printed before 1.36.
            if errors.release().at_least(1, 36) {
                errors.invalid(key, BadValue::Omitted, detail);
            } else {
                errors.invalid_value(&key, detail);
            }
            return false;
        };
        Some(key)
    } else {
        let bytes = base64::decode(stub.as_text()).unwrap_or_default();
        let Ok(request) = parse_request(&bytes) else {
            errors.invalid(stub, BadValue::Omitted, "must be a valid PKCS#10 CSR");
            return false;
        };
        request.public_key
    };
    let is_other = matches!(requested, None | Some(PublicKey::Other));
    if is_other || requested == leaf.public_key {
        return true;
    }
    errors.invalid(
        chain,
        chain.as_text(),
        "leaf certificate was not issued to the requested public key",
    );
    false
}

/// Whether the times are those of the certificate, and a Pod can use it for long enough.
fn validate_times(
    status: &Node<'_, '_>,
    leaf: &X509Certificate,
    spec: &Node<'_, '_>,
    errors: &mut Errors,
) -> bool {
    const CONSISTENT: &str = "must be present and consistent with the issued certificate";
    let count = errors.len();
    let (not_before, not_after) = (status.child("notBefore"), status.child("notAfter"));
    let refresh = status.child("beginRefreshAt");
    for (time, detail) in [
        (&not_before, CONSISTENT),
        (&not_after, CONSISTENT),
        (
            &refresh,
            "must be present and in the range [notbefore+10min, notafter-10min]",
        ),
    ] {
        if !time.is_set() {
            errors.required(time, detail);
        }
    }
    // Errors about names count, too.
    if errors.len() > count || count > 0 {
        return false;
    }
    let seconds = |time: &Node<'_, '_>| Timestamp::parse(time.as_text()).map_or(0, |time| time.seconds());
    let fault = if seconds(&not_before) != leaf.not_before {
        Some((
            not_before,
            "must be set to the NotBefore time encoded in the leaf certificate",
        ))
    } else if !is_recent(leaf.not_before) {
        Some((
            not_before,
            "must be set to within 5 minutes of kube-apiserver's current time",
        ))
    } else if seconds(&not_after) != leaf.not_after {
        Some((
            not_after,
            "must be set to the NotAfter time encoded in the leaf certificate",
        ))
    } else {
        None
    };
    if let Some((time, detail)) = fault {
        errors.invalid_value(&time, detail);
        return false;
    }
    let chain = status.child("certificateChain");
    let lifetime = leaf.not_after.saturating_sub(leaf.not_before);
    let max = spec.child("maxExpirationSeconds").int();
    let fault = if lifetime < 3600 {
        Some("leaf certificate lifetime must be >= 1 hour".to_owned())
    } else if lifetime > max {
        Some(format!(
            "leaf certificate lifetime must be <= spec.maxExpirationSeconds ({max})"
        ))
    } else {
        None
    };
    if let Some(detail) = fault {
        // Go prints durations as nanoseconds here.
        errors.invalid(chain, lifetime.saturating_mul(1_000_000_000), &detail);
        return false;
    }
    let fault = if seconds(&refresh) < leaf.not_before.saturating_add(TEN_MINUTES) {
        "must be at least 10 minutes after status.notBefore"
    } else if seconds(&refresh) > leaf.not_after.saturating_sub(TEN_MINUTES) {
        "must be at least 10 minutes before status.notAfter"
    } else {
        return true;
    };
    errors.invalid_value(&refresh, fault);
    false
}

/// Whether a time is within five minutes of now.
fn is_recent(seconds: i64) -> bool {
    // There is no clock in a browser's sandbox.
    if cfg!(target_family = "wasm") {
        return true;
    }
    let now = jiff::Timestamp::now().as_second();
    now.abs_diff(seconds) < 300
}

/// The certificates after the first one.
fn validate_rest(chain: &Node<'_, '_>, mut rest: &[u8], errors: &mut Errors) {
    while let Some((block, following)) = decode_block(rest) {
        rest = following;
        let fault = if block.label != "CERTIFICATE" {
            // As the server spells it.
            "issued certificate chain must consist entirely of CERTFICATE PEM blocks"
        } else if parse_certificate(&block.bytes).is_err() {
            "intermediate certificate does not parse as valid X.509"
        } else {
            continue;
        };
        errors.invalid(chain, chain.as_text(), fault);
        return;
    }
}
