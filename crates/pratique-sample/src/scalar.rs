//! Generates scalar values: valid ones for the field, and those that expressions compare it with.

use pratique_json::Value;
use pratique_schema::Scalar;

use crate::random::RandomNumbers;
use crate::reads::{ComparedText, ReadTree};

/// The field of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarField<'f> {
    /// The name of the field, or of the list or map that it is in.
    pub(crate) name: &'f str,
    /// The allowed values of an enumeration; empty if any value is allowed.
    pub(crate) values: &'f [&'static str],
}

/// The maximum length of a name.
pub(crate) const LONGEST_NAME: usize = 63;

/// Generates a scalar; `reads` has the values that it is compared with.
pub(crate) fn generate(
    scalar: Scalar,
    field: ScalarField<'_>,
    reads: Option<&ReadTree>,
    random: &mut RandomNumbers,
) -> Value<'static> {
    match scalar {
        Scalar::Bool => Value::Bool(random.chance(50)),
        Scalar::Int32 | Scalar::Int64 => Value::Int(number(field, reads, random)),
        Scalar::Float => Value::Float(0.5),
        Scalar::String => generate_text(field, reads, random).into(),
        Scalar::Bytes => "YQ==".to_owned().into(),
        Scalar::Quantity => quantity(reads, random).into(),
        Scalar::IntOrString => {
            if reads.is_some_and(|reads| !reads.texts.is_empty()) && random.chance(50) {
                generate_text(field, reads, random).into()
            } else {
                Value::Int(number(field, reads, random))
            }
        }
        Scalar::Time => "2024-01-01T00:00:00Z".to_owned().into(),
        Scalar::MicroTime => "2024-01-01T00:00:00.000000Z".to_owned().into(),
        Scalar::Duration => "1s".to_owned().into(),
        Scalar::Json => untyped(reads, random, 0),
    }
}

/// Generates a value without a schema, such as a param, from the reads of it.
pub(crate) fn untyped(reads: Option<&ReadTree>, random: &mut RandomNumbers, depth: usize) -> Value<'static> {
    const DEEPEST: usize = 24;
    let Some(reads) = reads.filter(|_| depth < DEEPEST) else {
        return Value::Object(pratique_json::Object::default());
    };
    if let Some(item) = &reads.item {
        let count = 1 + random.below(3);
        let items = (0..count).map(|_| untyped(Some(item), random, depth + 1));
        return Value::Array(items.collect());
    }
    if !reads.fields.is_empty() {
        let fields = reads.fields.iter();
        let fields = fields.map(|(name, of)| (name.to_string().into(), untyped(Some(of), random, depth + 1)));
        return Value::Object(fields.collect());
    }
    if !reads.numbers.is_empty() {
        return Value::Int(number(ANY, Some(reads), random));
    }
    match depth {
        0 => Value::Object(pratique_json::Object::default()),
        _ => generate_text(ANY, Some(reads), random).into(),
    }
}

const ANY: ScalarField<'static> = ScalarField {
    name: "",
    values: &[],
};

/// A number near one of those that it is compared with.
fn number(field: ScalarField<'_>, reads: Option<&ReadTree>, random: &mut RandomNumbers) -> i64 {
    let known = reads.and_then(|reads| random.pick(&reads.numbers).copied());
    let near = known.map(|known| known.saturating_add(random.below(3) as i64 - 1));
    let is_port = field.name.to_ascii_lowercase().ends_with("port");
    match near {
        Some(near) if is_port => near.clamp(1, 65_535),
        Some(near) => near.max(0),
        None if is_port => 8080,
        None => 1,
    }
}

fn quantity(reads: Option<&ReadTree>, random: &mut RandomNumbers) -> String {
    const SOME: [&str; 4] = ["1", "100m", "1Gi", "500Mi"];
    let known = reads.map(|reads| whole_texts(reads)).unwrap_or_default();
    let is_quantity = |text: &&str| text.starts_with(|c: char| c.is_ascii_digit()) && text.len() < 16;
    let known: Vec<&str> = known.into_iter().filter(is_quantity).collect();
    let one = if random.chance(50) {
        random.pick(&known).or_else(|| random.pick(&SOME))
    } else {
        SOME.first()
    };
    one.copied().unwrap_or("1").to_owned()
}

fn whole_texts(reads: &ReadTree) -> Vec<&str> {
    let texts = reads.texts.iter();
    let whole = texts.filter_map(|text| match text {
        ComparedText::Whole(text) => Some(&**text),
        _ => None,
    });
    whole.collect()
}

/// A valid string for the field: one that it is compared with, one with such a prefix, suffix or substring, or another
/// one.
fn generate_text(field: ScalarField<'_>, reads: Option<&ReadTree>, random: &mut RandomNumbers) -> String {
    if !field.values.is_empty() {
        return enumerated(field.values, reads, random);
    }
    let plain = plain(field.name);
    let known = reads.and_then(|reads| random.pick(&reads.texts));
    let Some(known) = known.filter(|_| random.chance(70)) else {
        return plain.to_owned();
    };
    let made = match known {
        ComparedText::Whole(text) => text.to_string(),
        ComparedText::Start(text) => format!("{text}{plain}"),
        ComparedText::End(text) => format!("{plain}{text}"),
        ComparedText::Part(text) => format!("{plain}{text}{plain}"),
    };
    if fits(field.name, &made) {
        made
    } else {
        plain.to_owned()
    }
}

fn enumerated(values: &[&'static str], reads: Option<&ReadTree>, random: &mut RandomNumbers) -> String {
    let wanted = reads.map(|reads| whole_texts(reads)).unwrap_or_default();
    let known: Vec<&str> = wanted.into_iter().filter(|text| values.contains(text)).collect();
    let one = if random.chance(50) {
        random.pick(&known).or_else(|| random.pick(values))
    } else {
        random.pick(values)
    };
    one.copied().unwrap_or_default().to_owned()
}

/// A default string that is valid for a field of this name.
fn plain(name: &str) -> &'static str {
    match name {
        "ip" | "clusterIP" | "hostIP" | "podIP" | "loadBalancerIP" | "externalIPs" | "clusterIPs" => {
            "10.0.0.1"
        }
        "cidr" | "podCIDR" | "loadBalancerSourceRanges" => "10.0.0.0/8",
        "mountPath" | "path" | "hostPath" | "devicePath" => "/a",
        "apiVersion" => "v1",
        "kind" => "Pod",
        "operator" => "Exists",
        "schedule" => "0 0 * * *",
        "apiGroup" => "rbac.authorization.k8s.io",
        _ => "a",
    }
}

/// Whether a string is valid for a field of this name.
fn fits(name: &str, text: &str) -> bool {
    let is_name = name == "name" || name == "namespace" || name.ends_with("Name");
    let is_plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | ':' | '/');
    let bounded = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric());
    !is_name || (text.len() <= LONGEST_NAME && bounded && text.chars().all(is_plain))
}

/// The maximum length of a string field.
pub(crate) fn longest(name: &str, values: &[&str]) -> usize {
    let is_name = name == "name" || name == "namespace" || name.ends_with("Name");
    let short = [
        "kind",
        "apiVersion",
        "operator",
        "effect",
        "protocol",
        "ip",
        "type",
        "mountPath",
        "key",
        "labels",
        "matchLabels",
        "nodeSelector",
    ];
    if is_name || short.contains(&name) || !values.is_empty() {
        LONGEST_NAME
    } else {
        usize::MAX
    }
}
