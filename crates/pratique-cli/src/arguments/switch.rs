//! Arguments that are on or off.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Parses `on` and `off`, also as `true` and `false`.
pub(crate) fn on_or_off() -> impl TypedValueParser<Value = bool> {
    let on = PossibleValue::new("on").alias("true");
    let off = PossibleValue::new("off").alias("false");
    PossibleValuesParser::new([on, off]).map(|text| text == "on" || text == "true")
}
