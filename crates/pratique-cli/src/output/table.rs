//! Tables of text.

use super::text::{PrintableText, text};

/// A name, or what stands for an empty one.
pub(crate) fn or<'n>(name: &'n str, empty: &'n str) -> &'n str {
    if name.is_empty() { empty } else { name }
}

/// A table with a header, whose columns are aligned: the first `names` to the left, numbers to the right.
pub(crate) fn table(header: &[&str], names: usize, rows: &[Vec<String>]) -> PrintableText {
    let header: Vec<String> = header.iter().map(|title| (*title).to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(rows).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut out = PrintableText::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| {
            if column < names {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push(&text!("{}\n", line.trim_end()));
    }
    out
}
