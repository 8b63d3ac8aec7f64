//! Generates params.

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

use crate::random::RandomNumbers;
use crate::reads::ReadTree;
use crate::scalar::untyped;

/// The kind, name and namespace of a param.
#[derive(Clone, Copy, Debug)]
pub struct ParamName<'n> {
    /// Its kind.
    pub kind: &'n GroupVersionKind,
    /// Its name.
    pub name: &'n str,
    /// Its namespace; empty for one of the cluster.
    pub namespace: &'n str,
}

/// Generates a param with the fields that expressions read of it, the same for the same seed.
pub fn generate_param(of: ParamName<'_>, reads: &ReadTree, seed: u64) -> Value<'static> {
    let mut random = RandomNumbers::new(seed);
    let mut param = match untyped(Some(reads), &mut random, 0) {
        Value::Object(param) => param,
        _ => Object::default(),
    };
    let mut metadata = match param.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Object::default(),
    };
    metadata.insert("name", of.name.to_owned());
    if !of.namespace.is_empty() {
        metadata.insert("namespace", of.namespace.to_owned());
    }
    param.insert("metadata", Value::Object(metadata));
    param.insert("apiVersion", of.kind.api_version());
    param.insert("kind", of.kind.kind.clone());
    if (of.kind.group.as_str(), of.kind.kind.as_str()) == ("", "ConfigMap")
        && let Some(Value::Object(data)) = param.get_mut("data")
    {
        data.values_mut()
            .for_each(|value| *value = entry(value, &mut random));
    }
    Value::Object(param)
}

/// An entry of a ConfigMap: a text, and a number or a boolean where expressions may read one from it.
fn entry(value: &Value<'_>, random: &mut RandomNumbers) -> Value<'static> {
    const SOME: [&str; 5] = ["3", "a", "0", "true", "10"];
    let text = match value {
        Value::Int(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::String(text) if text != "a" => text.to_string(),
        _ => random.pick(&SOME).copied().unwrap_or_default().to_owned(),
    };
    Value::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_maps_have_texts() {
        let kind = GroupVersionKind::new("", "v1", "ConfigMap");
        let mut reads = ReadTree::default();
        let data = reads.fields.entry("data".into()).or_default();
        data.fields.entry("most".into()).or_default().numbers.push(5);
        data.fields.entry("name".into()).or_default();
        let of = ParamName {
            kind: &kind,
            name: "p",
            namespace: "shop",
        };
        let made: Vec<Value<'_>> = (0..20).map(|seed| generate_param(of, &reads, seed)).collect();
        for param in &made {
            let entry = |name| param.at(&["data", name]).and_then(Value::as_str);
            assert!(["4", "5", "6"].contains(&entry("most").unwrap()), "{param}");
            assert!(entry("name").is_some(), "{param}");
            assert_eq!(
                param.at(&["metadata", "namespace"]).unwrap().as_str(),
                Some("shop")
            );
        }
        let names = made
            .iter()
            .filter_map(|param| param.at(&["data", "name"])?.as_str());
        assert!(names.collect::<std::collections::BTreeSet<_>>().len() > 2);
    }
}
