//! Texts as Markdown.

/// A text in which nothing but its `code` is markup.
pub(super) fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => plain(part),
        _ => format!("`{part}`"),
    });
    parts.collect()
}

fn plain(text: &str) -> String {
    let mut within_word = false;
    let mut plain = String::new();
    for c in text.chars() {
        // Within a word, `_` is no markup.
        if "<>*[]|#".contains(c) || (c == '_' && !within_word) {
            plain.push('\\');
        }
        plain.push(c);
        within_word = c.is_alphanumeric() || (c == '_' && within_word);
    }
    plain
}

/// A table with a heading for each column.
pub(super) fn table(columns: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = row(columns.iter().map(|name| (*name).to_owned()).collect());
    let line = format!("|{}\n", "---|".repeat(columns.len()));
    rows.into_iter()
        .fold(head + &line, |table, cells| table + &row(cells))
}

/// Names as code, with commas.
pub(super) fn codes<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let codes: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    codes.join(", ")
}

#[test]
fn only_code_is_markup() {
    assert_eq!(
        escaped("a <b> *c* `<d>` [e] f_g _h"),
        r"a \<b\> \*c\* `<d>` \[e\] f_g \_h"
    );
    assert_eq!(
        table(&["a", "b"], [vec!["1".to_owned(), "2".to_owned()]]),
        "| a | b |\n|---|---|\n| 1 | 2 |\n"
    );
}
