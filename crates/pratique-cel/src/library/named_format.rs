//! The named formats of CEL's format library: `format.dns1123Label()`, `format.named('uuid')` and so on.

use pratique_gotext::strfmt::{is_base64, is_date, is_datetime, is_uuid};
use pratique_gotext::url::Url;
use pratique_gotext::validation;

/// A format that can be asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NamedFormat {
    /// `dns1123Label`
    Dns1123Label,
    /// `dns1123Subdomain`
    Dns1123Subdomain,
    /// `dns1035Label`
    Dns1035Label,
    /// `qualifiedName`
    QualifiedName,
    /// `dns1123LabelPrefix`
    Dns1123LabelPrefix,
    /// `dns1123SubdomainPrefix`
    Dns1123SubdomainPrefix,
    /// `dns1035LabelPrefix`
    Dns1035LabelPrefix,
    /// `labelValue`
    LabelValue,
    /// `uri`
    Uri,
    /// `uuid`
    Uuid,
    /// `byte`
    Byte,
    /// `date`
    Date,
    /// `datetime`
    Datetime,
}

impl NamedFormat {
    /// All formats there are.
    pub(super) const ALL: [Self; 13] = [
        Self::Dns1123Label,
        Self::Dns1123Subdomain,
        Self::Dns1035Label,
        Self::QualifiedName,
        Self::Dns1123LabelPrefix,
        Self::Dns1123SubdomainPrefix,
        Self::Dns1035LabelPrefix,
        Self::LabelValue,
        Self::Uri,
        Self::Uuid,
        Self::Byte,
        Self::Date,
        Self::Datetime,
    ];

    /// The format that expressions call `name`.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What expressions call the format.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Dns1123Label => "dns1123Label",
            Self::Dns1123Subdomain => "dns1123Subdomain",
            Self::Dns1035Label => "dns1035Label",
            Self::QualifiedName => "qualifiedName",
            Self::Dns1123LabelPrefix => "dns1123LabelPrefix",
            Self::Dns1123SubdomainPrefix => "dns1123SubdomainPrefix",
            Self::Dns1035LabelPrefix => "dns1035LabelPrefix",
            Self::LabelValue => "labelValue",
            Self::Uri => "uri",
            Self::Uuid => "uuid",
            Self::Byte => "byte",
            Self::Date => "date",
            Self::Datetime => "datetime",
        }
    }

    /// What the format calls itself.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Dns1123Label => "DNS1123Label",
            Self::Dns1123Subdomain => "DNS1123Subdomain",
            Self::Dns1035Label => "DNS1035Label",
            Self::QualifiedName => "QualifiedName",
            Self::Dns1123LabelPrefix => "DNS1123LabelPrefix",
            Self::Dns1123SubdomainPrefix => "DNS1123SubdomainPrefix",
            Self::Dns1035LabelPrefix => "DNS1035LabelPrefix",
            Self::LabelValue => "LabelValue",
            Self::Uri => "URI",
            Self::Uuid | Self::Byte | Self::Date | Self::Datetime => self.name(),
        }
    }

    /// The length of the regular expression that a check is charged for.
    pub(super) fn regex_size(self) -> u64 {
        match self {
            Self::Dns1123Label | Self::Dns1035Label | Self::Dns1123LabelPrefix | Self::Dns1035LabelPrefix => {
                30
            }
            Self::Dns1123Subdomain | Self::Dns1123SubdomainPrefix | Self::QualifiedName => 60,
            Self::LabelValue => 40,
            Self::Uri => 1103,
            Self::Uuid => 70,
            Self::Byte => 84,
            Self::Date | Self::Datetime => 71,
        }
    }

    /// What is wrong with `value`; empty when nothing is.
    pub(super) fn validate(self, value: &str) -> Vec<String> {
        match self {
            Self::Dns1123Label => validation::dns1123_label(value),
            Self::Dns1123Subdomain => validation::dns1123_subdomain(value),
            Self::Dns1035Label => validation::dns1035_label(value),
            Self::QualifiedName => validation::qualified_name(value),
            Self::Dns1123LabelPrefix => validation::dns1123_label_prefix(value),
            Self::Dns1123SubdomainPrefix => validation::dns1123_subdomain_prefix(value),
            Self::Dns1035LabelPrefix => validation::dns1035_label_prefix(value),
            Self::LabelValue => validation::label_value(value),
            Self::Uri => Url::parse_request_uri(value)
                .err()
                .map(|error| error.to_string())
                .into_iter()
                .collect(),
            Self::Uuid => unless(is_uuid(value), "does not match the UUID format"),
            Self::Byte => unless(is_base64(value), "invalid base64"),
            Self::Date => unless(is_date(value), "invalid date"),
            Self::Datetime => unless(is_datetime(value), "invalid datetime"),
        }
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
            NamedFormat::by_name(name).unwrap().validate(value),
            expected,
            "{name} {value}"
        );
    }

    #[test]
    fn finds_every_format_by_its_name() {
        for format in NamedFormat::ALL {
            assert_eq!(NamedFormat::by_name(format.name()), Some(format));
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
