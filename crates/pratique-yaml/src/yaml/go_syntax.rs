//! Values as the server's messages show them: in Go's syntax.

use std::cmp::Ordering;

use pratique_gotext::strconv::{general_form, quote, quote_bytes};

use super::SyntaxError;
use super::graph::{GraphId, GraphKind, GraphNode, NodeGraph};
use super::number::Number;
use super::resolve::{Scalar, is_merge, resolve};
use crate::tree::Style;

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
    key: Scalar,
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
                Scalar::Null if depth > 0 => "interface {}(nil)".to_owned(),
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
                    Scalar::Null => format!("interface {{}}(nil):{}", entry.value),
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
                && is_merge(graph.tag(node), graph.scalar(node), style == Style::Plain)
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
    fn key(&mut self, id: GraphId, depth: usize) -> Result<Scalar, SyntaxError> {
        let Some(node) = self.graph.get(id).filter(|_| depth < MAX_DEPTH) else {
            return Ok(Scalar::Null);
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

    fn scalar(&mut self, node: &GraphNode) -> Result<Scalar, SyntaxError> {
        let length = self.graph.scalar(node).len();
        if length > self.bytes {
            self.left = 0;
            return Ok(Scalar::Text(NOT_SHOWN.to_owned()));
        }
        self.bytes -= length;
        let plain = node.kind == GraphKind::Scalar(Style::Plain);
        resolve(self.graph.tag(node), self.graph.scalar(node), plain, node.span)
    }
}

/// The order of the keys of a map in Go's formats: by type, in the order of the types in memory, then by value.
fn by_type_and_value(a: &Scalar, b: &Scalar) -> Ordering {
    let rank = |scalar: &Scalar| match scalar {
        Scalar::Null => 0,
        Scalar::Text(_) | Scalar::Bytes(_) => 1,
        Scalar::Number(Number::Unsigned(_)) => 2,
        Scalar::Number(Number::Int(_)) => 3,
        Scalar::Number(Number::Float(_)) => 4,
        Scalar::Bool(_) => 5,
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Scalar::Number(Number::Unsigned(a)), Scalar::Number(Number::Unsigned(b))) => a.cmp(b),
        (Scalar::Number(Number::Int(a)), Scalar::Number(Number::Int(b))) => a.cmp(b),
        (Scalar::Number(Number::Float(a)), Scalar::Number(Number::Float(b))) => {
            // NaN comes first.
            let by_number = b.is_nan().cmp(&a.is_nan());
            by_number.then_with(|| a.partial_cmp(b).unwrap_or(Ordering::Equal))
        }
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
        (a, b) => bytes(a).cmp(bytes(b)),
    })
}

fn bytes(scalar: &Scalar) -> &[u8] {
    match scalar {
        Scalar::Text(text) => text.as_bytes(),
        Scalar::Bytes(bytes) => bytes,
        _ => &[],
    }
}

pub(super) fn shown_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Text(text) => quote(text),
        Scalar::Bytes(bytes) => quote_bytes(bytes),
        Scalar::Number(Number::Int(value)) => value.to_string(),
        Scalar::Number(Number::Unsigned(value)) => format!("0x{value:x}"),
        Scalar::Number(Number::Float(value)) => general_form(*value),
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
