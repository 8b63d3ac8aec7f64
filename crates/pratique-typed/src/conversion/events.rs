//! Events, which the core group and `events.k8s.io` share. The hub is `v1`.

use pratique_json::Object;

use super::{ApiVersion, ConversionError, ConversionFamily, rename};

pub(super) const EVENT: ConversionFamily = ConversionFamily::new(|version| version != "v1", to_hub, from_hub);

/// The names of fields in `events.k8s.io` and in the core group.
const NAMES: [(&str, &str); 7] = [
    ("deprecatedCount", "count"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedSource", "source"),
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
];

fn to_hub(_: ApiVersion<'_>, event: &mut Object<'_>) -> Result<(), ConversionError> {
    NAMES.iter().for_each(|(from, to)| rename(event, from, to));
    Ok(())
}

fn from_hub(_: ApiVersion<'_>, event: &mut Object<'_>) -> Result<(), ConversionError> {
    NAMES.iter().for_each(|(to, from)| rename(event, from, to));
    Ok(())
}
