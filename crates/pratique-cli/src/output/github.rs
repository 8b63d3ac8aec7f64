//! Workflow commands of GitHub Actions, which show messages beside the lines of a change.

use pratique_manifest::Location;

/// A message: the level is `error`, `warning` or `notice`.
pub(crate) fn annotation(level: &str, location: Option<&Location>, title: &str, message: &str) -> String {
    let place = location.map(|location| {
        let (start, end) = (location.start, location.end);
        // An end column is one of the first line.
        let column = match start.line == end.line {
            true => format!("endColumn={},", end.column),
            false => String::new(),
        };
        format!(
            "file={},line={},endLine={},col={},{column}",
            property(&location.file),
            start.line,
            end.line,
            start.column
        )
    });
    format!(
        "::{level} {}title={}::{}\n",
        place.unwrap_or_default(),
        property(title),
        data(message)
    )
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(
            annotation("error", None, "a: b, c", "1%\n2: 3"),
            "::error title=a%3A b%2C c::1%25%0A2: 3\n"
        );
    }
}
