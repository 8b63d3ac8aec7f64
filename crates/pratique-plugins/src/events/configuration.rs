//! The configuration of EventRateLimit.

use pratique_gotext::strconv::quote;
use pratique_json::Value;
use pratique_plugin::StartError;

use crate::answer::aggregate;
use crate::configuration::decode;
use crate::object::text;

/// A limit.
pub(super) struct Limit {
    pub(super) limit_type: LimitType,
    pub(super) qps: i64,
    pub(super) burst: i64,
    pub(super) cache_size: i64,
}

/// What events share a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitType {
    Server,
    Namespace,
    User,
    SourceAndObject,
}

impl LimitType {
    const ALL: [Self; 4] = [Self::Server, Self::Namespace, Self::User, Self::SourceAndObject];

    pub(super) fn name(self) -> &'static str {
        match self {
            LimitType::Server => "Server",
            LimitType::Namespace => "Namespace",
            LimitType::User => "User",
            LimitType::SourceAndObject => "SourceAndObject",
        }
    }
}

/// The limits of a configuration.
// Upstream: plugin/pkg/admission/eventratelimit/apis/eventratelimit/validation/validation.go
pub(super) fn limits(configuration: Option<&[u8]>) -> Result<Vec<Limit>, StartError> {
    let decoded = match configuration {
        None => Value::Null,
        Some(text) => decode(
            text,
            "eventratelimit.admission.k8s.io",
            "v1alpha1",
            "Configuration",
        )?,
    };
    let listed = decoded.get("limits").and_then(Value::as_array);
    let mut faults = Vec::new();
    if listed.is_none_or(<[_]>::is_empty) {
        let shown = listed.map_or("null", |_| "[]");
        faults.push(format!("limits: Invalid value: {shown}: must not be empty"));
    }
    let mut limits = Vec::new();
    for (index, limit) in listed.unwrap_or_default().iter().enumerate() {
        limits.extend(checked(index, limit, &mut faults));
    }
    match faults.is_empty() {
        true => Ok(limits),
        false => Err(StartError::new(aggregate(&faults))),
    }
}

fn checked(index: usize, limit: &Value<'_>, faults: &mut Vec<String>) -> Option<Limit> {
    let number = |field: &str| limit.get(field).and_then(Value::as_int).unwrap_or_default();
    let name = text(limit, &["type"]);
    let limit_type = LimitType::ALL.into_iter().find(|known| known.name() == name);
    if limit_type.is_none() {
        let (name, known) = (quote(name), LimitType::ALL.map(|known| quote(known.name())));
        faults.push(format!(
            "limits[{index}].type: Unsupported value: {name}: supported values: {}",
            known.join(", ")
        ));
    }
    let (qps, burst, cache_size) = (number("qps"), number("burst"), number("cacheSize"));
    for (field, value) in [("burst", burst), ("qps", qps)] {
        if value <= 0 {
            faults.push(format!(
                "limits[{index}].{field}: Invalid value: {value}: must be positive"
            ));
        }
    }
    if limit_type != Some(LimitType::Server) && cache_size < 0 {
        faults.push(format!(
            "limits[{index}].cacheSize: Invalid value: {cache_size}: must not be negative"
        ));
    }
    Some(Limit {
        limit_type: limit_type?,
        qps,
        burst,
        cache_size,
    })
}
