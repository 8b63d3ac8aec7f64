//! Tables of releases that are stored as changes of those of another one.

/// The table that changes make of another one.
///
/// A line `@LINE COUNT` removes so many lines from a line on, which is counted from 0; lines with `+` before them, which follow,
/// take their place. Changes are in order, and other lines are comments.
pub fn apply_changes(table: &str, changes: &str) -> String {
    let mut text = String::with_capacity(table.len());
    let mut lines = table.split_inclusive('\n');
    let mut place = 0;
    for change in changes.lines() {
        if let Some(added) = change.strip_prefix('+') {
            text.push_str(added);
            text.push('\n');
        } else if let Some((start, count)) = change.strip_prefix('@').and_then(read_place) {
            text.extend(lines.by_ref().take(start.saturating_sub(place)));
            lines.by_ref().take(count).for_each(drop);
            place = start + count;
        }
    }
    text.extend(lines);
    text
}

/// `17 2`
fn read_place(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(' ')?;
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::apply_changes as apply;

    #[test]
    fn lines_are_replaced() {
        let table = "# head\na\nb\nc\nd\n";
        assert_eq!(apply(table, ""), table);
        assert_eq!(apply(table, "# nothing\n"), table);
        assert_eq!(
            apply(table, "@1 2\n+x\n@4 0\n+y\n@5 0\n+z\n"),
            "# head\nx\nc\ny\nd\nz\n"
        );
        assert_eq!(apply(table, "@0 5\n"), "");
        assert_eq!(apply(table, "@9 9\n+x\n"), format!("{table}x\n"));
        assert_eq!(apply("", "@0 0\n+x\n"), "x\n");
    }
}
