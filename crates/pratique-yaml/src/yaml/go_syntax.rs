//! Values as the server's messages show them: in Go's syntax.

use std::cmp::Ordering;

use pratique_gotext::strconv::{general_form, quote, quote_bytes};

use super::SyntaxError;
use super::graph::{GraphId, GraphKind, GraphNode, NodeGraph};
use super::number::ScalarNumber;
use super::resolve::{ScalarValue, is_merge, resolve};
use crate::tree::StringStyle;

/// Deeper values are not shown.
const MAX_DEPTH: usize = 128;

/// How many values are shown, including those of aliases.
const MAX_VALUES: usize = 100_000;

/// How many bytes of scalars are shown, including those of aliases.
const MAX_BYTES: usize = 4 << 20;

const NOT_SHOWN: &str = "...";

/// Formats a value. The error is that of a mapping or list in it that is used as a key, which the server finds first.
pub(super) fn format_value(graph: &NodeGraph<'_>, id: GraphId) -> Result<String, SyntaxError> {
    let mut writer = GoSyntax {
        graph,
        left: MAX_VALUES,
        bytes: MAX_BYTES,
    };
    writer.value(id, 0)
}

/// Formats values as Go's `%#v` does: maps sorted by keys, aliases as the values that they stand for.
struct GoSyntax<'g, 'text> {
    graph: &'g NodeGraph<'text>,
    left: usize,
    bytes: usize,
}

/// An entry of a map.
struct MapEntry {
    key: ScalarValue,
    value: String,
}

impl GoSyntax<'_, '_> {
    fn value(&mut self, id: GraphId, depth: usize) -> Result<String, SyntaxError> {
        let node = self.graph.get(id).filter(|_| depth < MAX_DEPTH && self.left > 0);
        let Some(node) = node else {
            return Ok(NOT_SHOWN.to_owned());
        };
        self.left -= 1;
        match node.kind {
            GraphKind::Alias => self.value(self.graph.target(node), depth + 1),
            GraphKind::Scalar(_) => Ok(match self.scalar(node)? {
                ScalarValue::Null if depth > 0 => "interface {}(nil)".to_owned(),
                scalar => shown_scalar(&scalar),
            }),
            GraphKind::Sequence => {
                let mut items = Vec::new();
                let mut children = self.graph.children(id);
                while let Some(child) = children.next(self.graph) {
                    items.push(self.value(child, depth + 1)?);
                }
                Ok(format!("[]interface {{}}{{{}}}", items.join(", ")))
            }
            GraphKind::Mapping => {
                let mut entries = Vec::new();
                self.entries(id, depth, &mut entries)?;
                // Equal keys stay in their order, and the first stays.
                entries.sort_by(|a, b| by_type_and_value(&a.key, &b.key));
                entries.dedup_by(|later, first| later.key == first.key);
                let format_entry = |entry: &MapEntry| match entry.key {
                    ScalarValue::Null => format!("interface {{}}(nil):{}", entry.value),
                    ref key => format!("{}:{}", shown_scalar(key), entry.value),
                };
                let entries: Vec<String> = entries.iter().map(format_entry).collect();
                Ok(format!(
                    "map[interface {{}}]interface {{}}{{{}}}",
                    entries.join(", ")
                ))
            }
        }
    }

    /// Adds the entries of a mapping, those with keys that are there already as well.
    fn entries(&mut self, id: GraphId, depth: usize, entries: &mut Vec<MapEntry>) -> Result<(), SyntaxError> {
        let graph = self.graph;
        let mut children = graph.children(id);
        while let (Some(key), Some(value)) = (children.next(graph), children.next(graph)) {
            let Some(node) = graph.get(key) else { continue };
            if let GraphKind::Scalar(style) = node.kind
                && is_merge(graph.tag(node), graph.scalar(node), style == StringStyle::Plain)
            {
                self.merged(value, depth, entries)?;
                continue;
            }
            let key = self.key(key, depth)?;
            let value = self.value(value, depth + 1)?;
            entries.push(MapEntry { key, value });
        }
        Ok(())
    }

    /// The entries of the mappings of a merge key; of a list the last comes first.
    fn merged(&mut self, id: GraphId, depth: usize, entries: &mut Vec<MapEntry>) -> Result<(), SyntaxError> {
        let graph = self.graph;
        let target = |id| match graph.get(id) {
            Some(node) if node.kind == GraphKind::Alias => graph.target(node),
            _ => id,
        };
        let mut sources = vec![target(id)];
        if graph.kind(id) == Some(GraphKind::Sequence) {
            let mut children = graph.children(id);
            sources = std::iter::from_fn(|| children.next(graph)).map(target).collect();
        }
        for source in sources.into_iter().rev() {
            if depth + 1 < MAX_DEPTH && self.left > 0 && graph.kind(source) == Some(GraphKind::Mapping) {
                self.left -= 1;
                self.entries(source, depth + 1, entries)?;
            }
        }
        Ok(())
    }

    /// A key, which must be a scalar.
    fn key(&mut self, id: GraphId, depth: usize) -> Result<ScalarValue, SyntaxError> {
        let Some(node) = self.graph.get(id).filter(|_| depth < MAX_DEPTH) else {
            return Ok(ScalarValue::Null);
        };
        match node.kind {
            GraphKind::Alias => self.key(self.graph.target(node), depth + 1),
            GraphKind::Scalar(_) => self.scalar(node),
            GraphKind::Sequence | GraphKind::Mapping => {
                let message = format!("yaml: invalid map key: {}", self.value(id, depth + 1)?);
                Err(SyntaxError::new(message, node.span))
            }
        }
    }

    fn scalar(&mut self, node: &GraphNode) -> Result<ScalarValue, SyntaxError> {
        let length = self.graph.scalar(node).len();
        if length > self.bytes {
            self.left = 0;
            return Ok(ScalarValue::Text(NOT_SHOWN.to_owned()));
        }
        self.bytes -= length;
        let plain = node.kind == GraphKind::Scalar(StringStyle::Plain);
        resolve(self.graph.tag(node), self.graph.scalar(node), plain, node.span)
    }
}

/// The order of the keys of a map in Go's formats: by type, in the order of the types in memory, then by value.
fn by_type_and_value(a: &ScalarValue, b: &ScalarValue) -> Ordering {
    let rank = |scalar: &ScalarValue| match scalar {
        ScalarValue::Null => 0,
        ScalarValue::Text(_) | ScalarValue::Bytes(_) => 1,
        ScalarValue::Number(ScalarNumber::Unsigned(_)) => 2,
        ScalarValue::Number(ScalarNumber::Int(_)) => 3,
        ScalarValue::Number(ScalarNumber::Float(_)) => 4,
        ScalarValue::Bool(_) => 5,
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (ScalarValue::Number(ScalarNumber::Unsigned(a)), ScalarValue::Number(ScalarNumber::Unsigned(b))) => {
            a.cmp(b)
        }
        (ScalarValue::Number(ScalarNumber::Int(a)), ScalarValue::Number(ScalarNumber::Int(b))) => a.cmp(b),
        (ScalarValue::Number(ScalarNumber::Float(a)), ScalarValue::Number(ScalarNumber::Float(b))) => {
            // NaN comes first.
            let by_number = b.is_nan().cmp(&a.is_nan());
            by_number.then_with(|| a.partial_cmp(b).unwrap_or(Ordering::Equal))
        }
        (ScalarValue::Bool(a), ScalarValue::Bool(b)) => a.cmp(b),
        (a, b) => bytes(a).cmp(bytes(b)),
    })
}

fn bytes(scalar: &ScalarValue) -> &[u8] {
    match scalar {
        ScalarValue::Text(text) => text.as_bytes(),
        ScalarValue::Bytes(bytes) => bytes,
        _ => &[],
    }
}

pub(super) fn shown_scalar(scalar: &ScalarValue) -> String {
    match scalar {
        ScalarValue::Null => "<nil>".to_owned(),
        ScalarValue::Bool(value) => value.to_string(),
        ScalarValue::Text(text) => quote(text),
        ScalarValue::Bytes(bytes) => quote_bytes(bytes),
        ScalarValue::Number(ScalarNumber::Int(value)) => value.to_string(),
        ScalarValue::Number(ScalarNumber::Unsigned(value)) => format!("0x{value:x}"),
        ScalarValue::Number(ScalarNumber::Float(value)) => general_form(*value),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_text;
    use crate::budget::Budget;

    #[track_caller]
    fn check(key: &str, expected: &str) {
        let error = parse_text(&format!("? {key}\n: v"), &Budget::unlimited()).unwrap_err();
        assert_eq!(error.message, format!("yaml: {expected}"), "{key}");
    }

    #[test]
    fn keys_of_maps_are_sorted_as_go_does() {
        const MAP: &str = "invalid map key: map[interface {}]interface {}";
        check("{10: a, 9: b}", &format!(r#"{MAP}{{9:"b", 10:"a"}}"#));
        check(
            "{true: 1, false: 2, 1: 3, a: 4, 2.5: 6, null: 7, 18446744073709551615: 8}",
            &format!(
                r#"{MAP}{{interface {{}}(nil):7, "a":4, 0xffffffffffffffff:8, 1:3, 2.5:6, false:2, true:1}}"#
            ),
        );
        check("{a: 1, a: 2}", &format!(r#"{MAP}{{"a":1}}"#));
        check("{b: 5, <<: {b: 6, c: 7}}", &format!(r#"{MAP}{{"b":5, "c":7}}"#));
        check(
            "{<<: [{a: 1}, {a: 2, b: 3}], b: 5}",
            &format!(r#"{MAP}{{"a":2, "b":3}}"#),
        );
        check(
            "{a: ~, b: {}}",
            &format!(r#"{MAP}{{"a":interface {{}}(nil), "b":map[interface {{}}]interface {{}}{{}}}}"#),
        );
    }

    /// As many as are shown, and none of them takes as long as all before it.
    #[test]
    fn large_maps_are_shown() {
        let keys = 49_000;
        let entries: Vec<String> = (0..keys).rev().map(|at| format!("k{at:05}: 1")).collect();
        let expected: Vec<String> = (0..keys).map(|at| format!(r#""k{at:05}":1"#)).collect();
        check(
            &format!("{{{}, k00000: 2}}", entries.join(", ")),
            &format!(
                "invalid map key: map[interface {{}}]interface {{}}{{{}}}",
                expected.join(", ")
            ),
        );
    }

    #[test]
    fn aliases_are_what_they_stand_for() {
        check("[&x a, *x]", r#"invalid map key: []interface {}{"a", "a"}"#);
        check(
            "{a: &x [1], b: *x}",
            r#"invalid map key: map[interface {}]interface {}{"a":[]interface {}{1}, "b":[]interface {}{1}}"#,
        );
    }

    #[test]
    fn the_innermost_key_is_at_fault() {
        check("{? [x]: y}", r#"invalid map key: []interface {}{"x"}"#);
        check("[{? [a] : b}]", r#"invalid map key: []interface {}{"a"}"#);
        check(
            "{a: {? {b: 1} : 2}}",
            r#"invalid map key: map[interface {}]interface {}{"b":1}"#,
        );
    }

    #[test]
    fn bytes_are_shown() {
        check(
            "[!!binary gIGC, a]",
            r#"invalid map key: []interface {}{"\x80\x81\x82", "a"}"#,
        );
    }
}
