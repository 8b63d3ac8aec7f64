//! The configuration of EventRateLimit.

use pratique_gotext::strconv::quote;
use pratique_manifest::{
    ConfigurationFault, ConfigurationKind, FieldStrictness, decode_plugin_configuration,
};
use pratique_plugin::{PluginSettings, StartError};
use serde_json::Value as Json;

/// A limit.
pub(super) struct RateLimit {
    pub(super) limit_type: LimitType,
    pub(super) qps: i64,
    pub(super) burst: i64,
    pub(super) cache_size: i64,
}

/// Which events share a bucket.
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

const GROUP: &str = "eventratelimit.admission.k8s.io";

const KIND: &str = "Configuration";

const KINDS: [ConfigurationKind; 2] = [
    ConfigurationKind::new(GROUP, "v1alpha1", KIND, "eventratelimit/v1alpha1.Configuration"),
    ConfigurationKind::internal(GROUP, KIND),
];

/// The limits of a configuration.
// Upstream: plugin/pkg/admission/eventratelimit/config.go, LoadConfiguration
pub(super) fn limits(settings: &PluginSettings<'_>) -> Result<Vec<RateLimit>, StartError> {
    let Some(text) = settings.configuration else {
        let mut faults = Vec::new();
        checked(&Json::Null, &mut faults);
        return Err(StartError::new(ConfigurationFault::aggregate(&faults)));
    };
    let how = (FieldStrictness::Lenient, settings.feature_gates.release());
    let decoded = decode_plugin_configuration(settings.configuration_file, text, &KINDS, how)?;
    let mut faults = Vec::new();
    let limits = checked(decoded.value(), &mut faults);
    if faults.is_empty() {
        Ok(limits)
    } else {
        Err(decoded
            .invalid(ConfigurationFault::aggregate(&faults), &faults)
            .into())
    }
}

// Upstream: plugin/pkg/admission/eventratelimit/apis/eventratelimit/validation/validation.go, ValidateConfiguration
fn checked(configuration: &Json, faults: &mut Vec<ConfigurationFault>) -> Vec<RateLimit> {
    let listed = configuration.get("limits").and_then(Json::as_array);
    if listed.is_none_or(Vec::is_empty) {
        let value_text = listed.map_or("null", |_| "[]");
        let message = format!("limits: Invalid value: {value_text}: must not be empty");
        faults.push(ConfigurationFault::new("limits", message));
    }
    let limits = listed.into_iter().flatten().enumerate();
    limits
        .filter_map(|(index, limit)| checked_limit(index, limit, faults))
        .collect()
}

fn checked_limit(index: usize, limit: &Json, faults: &mut Vec<ConfigurationFault>) -> Option<RateLimit> {
    let mut fault = |field: &str, error: &str| {
        let field = format!("limits[{index}].{field}");
        let message = format!("{field}: {error}");
        faults.push(ConfigurationFault::new(field, message));
    };
    let number = |field: &str| limit.get(field).and_then(Json::as_i64).unwrap_or_default();
    let name = limit.get("type").and_then(Json::as_str).unwrap_or_default();
    let limit_type = LimitType::ALL.into_iter().find(|known| known.name() == name);
    if limit_type.is_none() {
        let (name, known) = (quote(name), LimitType::ALL.map(|known| quote(known.name())));
        let known = known.join(", ");
        fault(
            "type",
            &format!("Unsupported value: {name}: supported values: {known}"),
        );
    }
    let (qps, burst, cache_size) = (number("qps"), number("burst"), number("cacheSize"));
    for (field, value) in [("burst", burst), ("qps", qps)] {
        if value <= 0 {
            fault(field, &format!("Invalid value: {value}: must be positive"));
        }
    }
    if limit_type != Some(LimitType::Server) && cache_size < 0 {
        fault(
            "cacheSize",
            &format!("Invalid value: {cache_size}: must not be negative"),
        );
    }
    Some(RateLimit {
        limit_type: limit_type?,
        qps,
        burst,
        cache_size,
    })
}
