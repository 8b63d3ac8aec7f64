//! The beginning of a list that is too long to be held.

use super::json::{JsonScan, StopReason, skip_blanks};
use super::piece::ListHeader;
use super::yaml::{begins_item, indentation, is_separator, scalar_of};

/// Where the items of a list begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListStart {
    /// The offset of the first item, or of the blanks before it.
    pub(crate) at: usize,
    /// The indentation of the items in YAML; 0 in JSON.
    pub(crate) indent: usize,
    pub(crate) header: ListHeader,
}

/// The list that a JSON text begins, as far as the text shows that it is one: whatever its kind is, as for `kubectl`. A kind
/// may follow the items, as `kubectl` prints it: then the first item decides.
pub(crate) fn in_json(text: &[u8]) -> Option<ListStart> {
    let mut header = ListHeader::default();
    let mut at = skip_blanks(text, 0)? + 1;
    loop {
        let (key, after) = string(text, skip_blanks(text, at)?)?;
        let value = skip_blanks(text, after)?;
        let value = skip_blanks(text, value + usize::from(text.get(value) == Some(&b':')))?;
        if key == b"items" && text.get(value) == Some(&b'[') {
            let start = ListStart {
                at: value + 1,
                indent: 0,
                header,
            };
            return Some(start).filter(|start| match &start.header.kind {
                Some(_) => has_item(text, start.at),
                None => names_itself(text, start.at),
            });
        }
        let end = value_end(text, value)?;
        let scalar = string(text, value).and_then(|(text, _)| String::from_utf8(text.to_vec()).ok());
        match key {
            b"kind" | b"apiVersion" if !scalar.as_deref().is_none_or(is_plain_scalar) => return None,
            b"kind" => header.kind = scalar,
            b"apiVersion" => header.api_version = scalar,
            _ => {}
        }
        at = skip_blanks(text, end)?;
        at += usize::from(text.get(at) == Some(&b','));
    }
}

/// Whether a list is known to have an item: one without items may be read as an object.
fn has_item(text: &[u8], at: usize) -> bool {
    let first = skip_blanks(text, at).and_then(|at| text.get(at));
    first.is_some_and(|first| *first != b']')
}

/// Whether the object at an offset has a version and a kind.
fn names_itself(text: &[u8], at: usize) -> bool {
    let member_names = || {
        let mut names = 0;
        let mut at = skip_blanks(text, at).filter(|at| text.get(*at) == Some(&b'{'))? + 1;
        while names < 2 {
            let (key, after) = string(text, skip_blanks(text, at)?)?;
            names += usize::from(matches!(key, b"kind" | b"apiVersion"));
            let value = skip_blanks(text, skip_blanks(text, after)? + 1)?;
            at = skip_blanks(text, value_end(text, value)?)?;
            at += usize::from(text.get(at) == Some(&b','));
        }
        Some(())
    };
    member_names().is_some()
}

/// The text of a string without its quotes, with escapes as they are written, and the offset after it.
fn string(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = text.get(at..)?.strip_prefix(b"\"")?;
    let mut end = 0;
    loop {
        match rest.get(end)? {
            b'"' => return Some((rest.get(..end)?, at + end + 2)),
            b'\\' => end += 2,
            b'\n' => return None,
            _ => end += 1,
        }
    }
}

/// The offset after a value.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string(text, at).map(|(_, end)| end),
        b'{' | b'[' => {
            let mut scan = JsonScan::default();
            let mut at = at;
            loop {
                match scan.run(text, at) {
                    StopReason::End(end) => return Some(end),
                    StopReason::Line(next) => at = next,
                    StopReason::Text => return None,
                }
            }
        }
        _ => {
            let rest = text.get(at..)?;
            let end = rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']'))?;
            Some(at + end)
        }
    }
}

/// The list that a YAML text begins, if its items are a block sequence at the top of the document.
pub(crate) fn in_yaml(text: &[u8]) -> Option<ListStart> {
    let mut header = ListHeader::default();
    let mut lines = lines(text);
    for (at, line) in lines.by_ref() {
        if at > 0 && is_separator(line) {
            return None;
        }
        if let Some(kind) = scalar_of(line, "kind") {
            header.kind = Some(kind.to_owned());
        } else if let Some(version) = scalar_of(line, "apiVersion") {
            header.api_version = Some(version.to_owned());
        } else if scalar_of(line, "items") == Some("") {
            break;
        }
    }
    let (at, first) = lines.find(|(_, line)| indentation(line).is_some())?;
    let indent = indentation(first).filter(|indent| begins_item(first, *indent))?;
    let is_plain = |text: &Option<String>| text.as_deref().is_none_or(is_plain_scalar);
    if !is_plain(&header.kind) || !is_plain(&header.api_version) {
        return None;
    }
    let known = match header.kind {
        Some(_) => true,
        None => {
            let field = |line: &[u8], name: &str| {
                let field = line.get(indent + 2..).unwrap_or_default();
                scalar_of(field, name).is_some()
            };
            let item: Vec<&[u8]> = std::iter::once(first)
                .chain(
                    lines
                        .map(|(_, line)| line)
                        .take_while(|line| !begins_item(line, indent)),
                )
                .collect();
            let has = |name: &str| item.iter().any(|line| field(line, name));
            has("kind") && has("apiVersion")
        }
    };
    known.then_some(ListStart { at, indent, header })
}

/// Whether a scalar is written as it is. What has escapes, tags or anchors is read where the whole document is.
fn is_plain_scalar(text: &str) -> bool {
    !text.contains('\\') && !text.starts_with(['!', '&', '*', '|', '>', '"', '\''])
}

/// The whole lines of a text, with their ends, and their offsets.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n")).map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: Option<ListStart>, expected: Option<(usize, usize, Option<&str>)>) {
        let found = found.map(|start| (start.at, start.indent, start.header.kind));
        let expected = expected.map(|(at, indent, kind)| (at, indent, kind.map(str::to_owned)));
        assert_eq!(found, expected);
    }

    #[test]
    fn lists_of_json() {
        check(
            in_json(br#"{"kind": "PodList", "metadata": {"a": []}, "items": [{"#),
            Some((53, 0, Some("PodList"))),
        );
        check(
            in_json(br#"{"items": [{"apiVersion": "v1", "spec": {}, "kind": "Pod"}, {"#),
            Some((11, 0, None)),
        );
        check(in_json(br#"{"items": [{"kind": "Pod"}, {"#), None);
        check(
            in_json(br#"{"kind": "Bundle", "items": [{"#),
            Some((29, 0, Some("Bundle"))),
        );
        check(in_json(br#"{"kind": "Bundle", "items": ["#), None);
        check(in_json(br#"{"kind": "Bundle", "items": [ ]"#), None);
        check(in_json(br#"{"kind": "Pod\u004cist", "items": [{"#), None);
        check(in_json(br#"{"metadata": {"items": [{"#), None);
        check(in_json(br#"{"data": {"a": "b"#), None);
    }

    #[test]
    fn lists_of_yaml() {
        check(
            in_yaml(b"apiVersion: v1\nkind: List # all\nitems:\n# one\n- kind: Pod\n"),
            Some((45, 0, Some("List"))),
        );
        check(
            in_yaml(b"items:\n  - apiVersion: v1\n    kind: Pod\n  - a"),
            Some((7, 2, None)),
        );
        check(
            in_yaml(b"items:\n  - name: v1\n    spec: {kind: Pod}\n  - a"),
            None,
        );
        check(
            in_yaml(b"kind: Bundle\nitems:\n- kind: Pod\n"),
            Some((20, 0, Some("Bundle"))),
        );
        check(in_yaml(b"kind: !!str PodList\nitems:\n- kind: Pod\n"), None);
        check(in_yaml(b"kind: List\nitems: [\n{}\n"), None);
    }
}
