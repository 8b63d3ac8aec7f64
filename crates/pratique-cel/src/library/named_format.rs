//! The named formats of CEL's format library: `format.dns1123Label()`, `format.named('uuid')` and so on.

use pratique_gotext::strfmt::{is_base64, is_date, is_datetime, is_uuid};
use pratique_gotext::url::Url;
use pratique_gotext::validation;

/// A format with a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedFormat {
    /// Its name in expressions.
    pub(super) name: &'static str,
    /// Its name in upstream's text form.
    pub(super) title: &'static str,
    /// The size of the regular expression that upstream would need to check it, which costs are computed from.
    pub(super) regex_size: u64,
    /// Why a text is not of the format; empty if it is.
    pub(super) validate: fn(&str) -> Vec<String>,
}

impl PartialEq for NamedFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All formats there are.
pub(super) const FORMATS: [NamedFormat; 13] = [
    format("dns1123Label", "DNS1123Label", 30, validation::dns1123_label),
    format(
        "dns1123Subdomain",
        "DNS1123Subdomain",
        60,
        validation::dns1123_subdomain,
    ),
    format("dns1035Label", "DNS1035Label", 30, validation::dns1035_label),
    format("qualifiedName", "QualifiedName", 60, validation::qualified_name),
    format(
        "dns1123LabelPrefix",
        "DNS1123LabelPrefix",
        30,
        validation::dns1123_label_prefix,
    ),
    format(
        "dns1123SubdomainPrefix",
        "DNS1123SubdomainPrefix",
        60,
        validation::dns1123_subdomain_prefix,
    ),
    format(
        "dns1035LabelPrefix",
        "DNS1035LabelPrefix",
        30,
        validation::dns1035_label_prefix,
    ),
    format("labelValue", "LabelValue", 40, validation::label_value),
    format("uri", "URI", 1103, |value| {
        let error = Url::parse_request_uri(value).err();
        error.map(|error| error.to_string()).into_iter().collect()
    }),
    format("uuid", "uuid", 70, |value| {
        unless(is_uuid(value), "does not match the UUID format")
    }),
    format("byte", "byte", 84, |value| {
        unless(is_base64(value), "invalid base64")
    }),
    format("date", "date", 71, |value| unless(is_date(value), "invalid date")),
    format("datetime", "datetime", 71, |value| {
        unless(is_datetime(value), "invalid datetime")
    }),
];

const fn format(
    name: &'static str,
    title: &'static str,
    regex_size: u64,
    validate: fn(&str) -> Vec<String>,
) -> NamedFormat {
    NamedFormat {
        name,
        title,
        regex_size,
        validate,
    }
}

impl NamedFormat {
    /// The format that expressions call `name`.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.name == name)
    }
}

fn unless(valid: bool, error: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![error.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, expected: &[&str]) {
        assert_eq!(
            (NamedFormat::by_name(name).unwrap().validate)(value),
            expected,
            "{name} {value}"
        );
    }

    #[test]
    fn finds_every_format_by_its_name() {
        for format in FORMATS {
            assert_eq!(NamedFormat::by_name(format.name), Some(format));
        }
        assert_eq!(NamedFormat::by_name("DNS1123Label"), None);
    }

    #[test]
    fn formats_without_a_name_rule() {
        check("uri", "https://example.com/a#b", &[]);
        check("uri", "a b", &["parse \"a b\": invalid URI for request"]);
        check("uuid", "x", &["does not match the UUID format"]);
        check("byte", "x", &["invalid base64"]);
        check("date", "x", &["invalid date"]);
        check("datetime", "x", &["invalid datetime"]);
    }
}
