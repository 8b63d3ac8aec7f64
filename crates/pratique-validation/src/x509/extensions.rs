//! Extensions of certificates, as far as they are looked into.

use pratique_gotext::strconv::quote;
use pratique_gotext::url::Url;

use super::certificate::X509Certificate;
use super::der::{
    BOOLEAN, DerReader, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, constructed, context,
    is_negative, to_int,
};
use super::names::is_domain;
use super::{X509Error, required};

const AUTHORITY_INFORMATION: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01];

struct CertificateExtension<'d> {
    identifier: &'d [u8],
    is_critical: bool,
    value: DerReader<'d>,
}

/// Reads the extensions of a certificate: first all of them, then what each says.
pub(super) fn read_extensions(
    mut wrapper: DerReader<'_>,
    certificate: &mut X509Certificate,
) -> Result<(), X509Error> {
    let mut list = required(wrapper.read(SEQUENCE), "x509: malformed extensions")?;
    let mut extensions: Vec<CertificateExtension<'_>> = Vec::new();
    let mut identifiers = std::collections::HashSet::new();
    while !list.is_empty() {
        let extension = required(list.read(SEQUENCE), "x509: malformed extension")?;
        let extension = read_extension(extension)?;
        if !identifiers.insert(extension.identifier) {
            let identifier = quote(&dotted(extension.identifier));
            let text = format!("x509: certificate contains duplicate extension with OID {identifier}");
            return Err(X509Error(text.into()));
        }
        extensions.push(extension);
    }
    let mut extensions = extensions.into_iter();
    extensions.try_for_each(|extension| process_extension(extension, certificate))
}

// Upstream: crypto/x509/parser.go, parseExtension
fn read_extension(mut extension: DerReader<'_>) -> Result<CertificateExtension<'_>, X509Error> {
    let identifier = required(extension.read_identifier(), "x509: malformed extension OID field")?;
    let mut is_critical = false;
    if extension.has_tag(BOOLEAN) {
        is_critical = required(
            extension.read_boolean(),
            "x509: malformed extension critical field",
        )?;
    }
    let value = extension.read(OCTET_STRING);
    Ok(CertificateExtension {
        identifier,
        is_critical,
        value: required(value, "x509: malformed extension value field")?,
    })
}

/// An identifier as its numbers.
fn dotted(identifier: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut value = 0u64;
    for byte in identifier {
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            // The first two numbers are one.
            if numbers.is_empty() {
                let first = (value / 40).min(2);
                numbers.extend([first, value - 40 * first]);
            } else {
                numbers.push(value);
            }
            value = 0;
        }
    }
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    texts.join(".")
}

// Upstream: crypto/x509/parser.go, processExtensions
fn process_extension(
    extension: CertificateExtension<'_>,
    certificate: &mut X509Certificate,
) -> Result<(), X509Error> {
    let CertificateExtension {
        identifier,
        is_critical,
        mut value,
    } = extension;
    let unless_critical = |text: &'static str| {
        if is_critical {
            Err(X509Error::new(text))
        } else {
            Ok(())
        }
    };
    match identifier {
        [0x55, 0x1d, 15] => required(value.read_bits(), "x509: invalid key usage").map(|_| ()),
        [0x55, 0x1d, 19] => {
            certificate.is_authority = read_basic_constraints(value)?;
            certificate.has_basic_constraints = true;
            Ok(())
        }
        [0x55, 0x1d, 17] => {
            let names = read_alternative_names(value)?;
            (certificate.dns_names, certificate.email_addresses) = names;
            Ok(())
        }
        [0x55, 0x1d, 30] => check_name_constraints(value),
        [0x55, 0x1d, 31] => check_distribution_points(value),
        [0x55, 0x1d, 35] => {
            unless_critical("x509: authority key identifier incorrectly marked critical")?;
            const INVALID: &str = "x509: invalid authority key identifier";
            let mut identifier = required(value.read(SEQUENCE), INVALID)?;
            required(identifier.read_optional(context(0)), INVALID).map(|_| ())
        }
        [0x55, 0x1d, 36] => check_policy_constraints(value),
        [0x55, 0x1d, 37] => {
            const INVALID: &str = "x509: invalid extended key usages";
            let mut usages = required(value.read(SEQUENCE), INVALID)?;
            while !usages.is_empty() {
                required(usages.read_identifier(), INVALID)?;
            }
            Ok(())
        }
        [0x55, 0x1d, 14] => {
            unless_critical("x509: subject key identifier incorrectly marked critical")?;
            required(value.read(OCTET_STRING), "x509: invalid subject key identifier").map(|_| ())
        }
        [0x55, 0x1d, 32] => check_policies(value),
        [0x55, 0x1d, 33] => check_policy_mappings(value),
        [0x55, 0x1d, 54] => required(
            value.read_integer().and_then(to_int),
            "x509: invalid inhibit any policy extension",
        )
        .map(|_| ()),
        AUTHORITY_INFORMATION => {
            unless_critical("x509: authority info access incorrectly marked critical")?;
            check_authority_information(value)
        }
        _ => Ok(()),
    }
}

/// Whether the certificate is one of an authority.
fn read_basic_constraints(mut value: DerReader<'_>) -> Result<bool, X509Error> {
    const INVALID: &str = "x509: invalid basic constraints";
    let mut constraints = required(value.read(SEQUENCE), INVALID)?;
    let mut is_authority = false;
    if constraints.has_tag(BOOLEAN) {
        is_authority = required(constraints.read_boolean(), INVALID)?;
    }
    if constraints.has_tag(INTEGER) {
        let length = constraints.read_integer().filter(|bytes| !is_negative(bytes));
        required(length.and_then(to_int), INVALID)?;
    }
    Ok(is_authority)
}

/// The domain names and the addresses of mail.
// Upstream: crypto/x509/parser.go, parseSANExtension
pub(super) fn read_alternative_names(
    mut value: DerReader<'_>,
) -> Result<(Vec<String>, Vec<String>), X509Error> {
    let (mut domains, mut addresses) = (Vec::new(), Vec::new());
    let mut names = required(value.read(SEQUENCE), "x509: invalid subject alternative names")?;
    while !names.is_empty() {
        let (tag, name, _) = required(names.read_any(), "x509: invalid subject alternative name")?;
        let text = std::str::from_utf8(name.bytes())
            .ok()
            .filter(|text| text.is_ascii());
        match tag ^ 0x80 {
            1 => addresses.push(required(text, "x509: SAN rfc822Name is malformed")?.to_owned()),
            2 => domains.push(required(text, "x509: SAN dNSName is malformed")?.to_owned()),
            6 => check_uri(required(
                text,
                "x509: SAN uniformResourceIdentifier is malformed",
            )?)?,
            7 if !matches!(name.bytes().len(), 4 | 16) => {
                let text = format!("x509: cannot parse IP address of length {}", name.bytes().len());
                return Err(X509Error(text.into()));
            }
            _ => {}
        }
    }
    Ok((domains, addresses))
}

fn check_uri(text: &str) -> Result<(), X509Error> {
    let fault = match Url::parse(text) {
        Ok(url) if is_domain(&url.host(), false) => return Ok(()),
        Ok(_) => "invalid domain".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(X509Error(
        format!("x509: cannot parse URI {}: {fault}", quote(text)).into(),
    ))
}

// Upstream: crypto/x509/parser.go, parseNameConstraintsExtension
fn check_name_constraints(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid NameConstraints extension";
    let mut lists = required(value.read(SEQUENCE), INVALID)?;
    let permitted = required(lists.read_optional(constructed(0)), INVALID)?;
    let excluded = required(lists.read_optional(constructed(1)), INVALID)?;
    if !value.is_empty() || !lists.is_empty() {
        return Err(X509Error::new(INVALID));
    }
    let trees: Vec<DerReader<'_>> = [permitted, excluded].into_iter().flatten().collect();
    if trees.iter().all(DerReader::is_empty) {
        return Err(X509Error::new("x509: empty name constraints extension"));
    }
    for mut trees in trees {
        while !trees.is_empty() {
            let mut tree = required(trees.read(SEQUENCE), INVALID)?;
            let (tag, name, _) = required(tree.read_any(), INVALID)?;
            check_constraint(tag, name.bytes())?;
        }
    }
    Ok(())
}

fn check_constraint(tag: u8, value: &[u8]) -> Result<(), X509Error> {
    if tag == context(7) {
        return check_network(value);
    }
    let names = [
        (context(1), "rfc822Name"),
        (context(2), "dnsName"),
        (context(6), "URI"),
    ];
    let Some((_, kind)) = names.iter().find(|(known, _)| *known == tag) else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(value);
    let quoted = quote(&text);
    let fault = if !value.is_ascii() {
        format!("x509: invalid constraint value: x509: {quoted} cannot be encoded as an IA5String")
    } else if *kind == "URI" && text.parse::<std::net::IpAddr>().is_ok() {
        format!("x509: failed to parse URI constraint {quoted}: cannot be IP address")
    } else {
        let domain = match text.rsplit_once('@') {
            Some((local, domain)) if *kind == "rfc822Name" && !local.is_empty() => domain,
            _ => &text,
        };
        if is_domain(domain, true) {
            return Ok(());
        }
        format!("x509: failed to parse {kind} constraint {quoted}")
    };
    Err(X509Error(fault.into()))
}

/// An address and a mask after it.
fn check_network(value: &[u8]) -> Result<(), X509Error> {
    if !matches!(value.len(), 8 | 32) {
        let text = format!("x509: IP constraint contained value of length {}", value.len());
        return Err(X509Error(text.into()));
    }
    let mask = value.get(value.len() / 2..).unwrap_or_default();
    let ones: u32 = mask.iter().map(|byte| byte.count_ones()).sum();
    let leading = mask.iter().position(|byte| *byte != 0xff).map_or(ones, |at| {
        let full = u32::try_from(at * 8).unwrap_or(u32::MAX);
        full.saturating_add(mask.get(at).map_or(0, |byte| byte.leading_ones()))
    });
    if ones == leading {
        return Ok(());
    }
    let digits: String = mask.iter().map(|byte| format!("{byte:02x}")).collect();
    Err(X509Error(
        format!("x509: IP constraint contained invalid mask {digits}").into(),
    ))
}

fn check_distribution_points(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid CRL distribution point";
    let mut points = required(value.read(SEQUENCE), "x509: invalid CRL distribution points")?;
    while !points.is_empty() {
        let mut point = required(points.read(SEQUENCE), INVALID)?;
        let Some(mut name) = required(point.read_optional(constructed(0)), INVALID)? else {
            continue;
        };
        let mut addresses = required(name.read(constructed(0)), INVALID)?;
        while addresses.has_tag(context(6)) {
            required(addresses.read(context(6)), INVALID)?;
        }
    }
    Ok(())
}

fn check_policy_constraints(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid policy constraints extension";
    let mut constraints = required(value.read(SEQUENCE), INVALID)?;
    for tag in [context(0), context(1)] {
        if let Some(number) = required(constraints.read_optional(tag), INVALID)? {
            required(to_int(number.bytes()).filter(|_| !number.is_empty()), INVALID)?;
        }
    }
    Ok(())
}

fn check_policies(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid certificate policies";
    let mut policies = required(value.read(SEQUENCE), INVALID)?;
    let mut identifiers = std::collections::HashSet::new();
    while !policies.is_empty() {
        let mut policy = required(policies.read(SEQUENCE), INVALID)?;
        let identifier = required(policy.read_identifier(), INVALID)?;
        if !identifiers.insert(identifier) {
            return Err(X509Error::new(INVALID));
        }
    }
    Ok(())
}

fn check_policy_mappings(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid policy mappings extension";
    let mut mappings = required(value.read(SEQUENCE), INVALID)?;
    while !mappings.is_empty() {
        let mut mapping = required(mappings.read(SEQUENCE), INVALID)?;
        for _ in 0..2 {
            required(mapping.read(OBJECT_IDENTIFIER), INVALID)?;
        }
    }
    Ok(())
}

fn check_authority_information(mut value: DerReader<'_>) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid authority info access";
    let mut descriptions = required(value.read(SEQUENCE), INVALID)?;
    while !descriptions.is_empty() {
        let mut description = required(descriptions.read(SEQUENCE), INVALID)?;
        required(description.read_identifier(), INVALID)?;
        required(description.read_optional(context(6)), INVALID)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_printed_as_numbers() {
        assert_eq!(dotted(&[0x55, 0x1d, 17]), "2.5.29.17");
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]), "1.2.840.113549");
    }

    #[test]
    fn masks_are_ones_before_zeros() {
        assert!(check_network(&[10, 0, 0, 0, 0xff, 0xfe, 0, 0]).is_ok());
        let refused = check_network(&[10, 0, 0, 0, 0xff, 0, 0xff, 0]);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "x509: IP constraint contained invalid mask ff00ff00"
        );
    }
}
