//! Lines of YAML.

/// Whether a line begins another document. As in an API server, lines count, and not what YAML would make of them.
pub(crate) fn is_separator(line: &[u8]) -> bool {
    line.starts_with(b"---")
}

/// Whether a line is a separator with nothing behind it but a comment.
pub(crate) fn is_plain_separator(line: &[u8]) -> bool {
    let rest = line.strip_prefix(b"---").map(<[u8]>::trim_ascii);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"#"))
}

/// The spaces that a line begins with; `None` for a line that is blank or a comment.
pub(crate) fn indentation(line: &[u8]) -> Option<usize> {
    let spaces = line.iter().take_while(|byte| **byte == b' ').count();
    match line.get(spaces..).unwrap_or_default().trim_ascii() {
        [] | [b'#', ..] => None,
        _ => Some(spaces),
    }
}

/// Whether a line begins an item of a sequence with an indentation.
pub(crate) fn begins_item(line: &[u8], indent: usize) -> bool {
    indentation(line) == Some(indent)
        && matches!(
            line.get(indent..).unwrap_or_default(),
            [b'-'] | [b'-', b' ' | b'\t' | b'\r' | b'\n', ..]
        )
}

/// The scalar after a key in a line: `kind: List # of Pods`.
pub(crate) fn scalar_of<'l>(line: &'l [u8], key: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(key.as_bytes())?.strip_prefix(b":")?;
    let text = std::str::from_utf8(rest).ok()?;
    let text = text.split_once(" #").map_or(text, |(text, _)| text).trim();
    Some(text.trim_matches(['"', '\'']))
}
