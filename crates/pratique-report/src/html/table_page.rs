//! Findings in tables, as a page in one file.

use std::fmt::{self, Display, Formatter};

use super::escaped_text::EscapedText;
use super::{head, parts};

/// Tables as HTML, with numbers that sum them up.
///
/// ```
/// use pratique_report::{PageTable, TablePage};
///
/// let page = TablePage {
///     title: "An upgrade".to_owned(),
///     lead: "1 object breaks".to_owned(),
///     numbers: vec![("breaks".to_owned(), 3)],
///     tables: vec![PageTable {
///         heading: "Breaks".to_owned(),
///         header: vec!["Object".to_owned()],
///         rows: vec![vec!["<web>".to_owned()]],
///         total: 3,
///     }],
///     notes: vec!["webhooks are not called".to_owned()],
///     about: vec![("Inputs".to_owned(), "objects".to_owned())],
/// };
/// let html = page.to_string();
/// assert!(html.contains("&lt;web&gt;") && html.contains("and 2 more"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TablePage {
    /// The title of the page.
    pub title: String,
    /// The summary, in a sentence.
    pub lead: String,
    /// How much there is of each kind.
    pub numbers: Vec<(String, u64)>,
    /// The tables; those without rows are left out.
    pub tables: Vec<PageTable>,
    /// Notes about what is shown.
    pub notes: Vec<String>,
    /// How the page was made: names with texts.
    pub about: Vec<(String, String)>,
}

/// A table of a page.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    /// The heading above it.
    pub heading: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its rows, a text for each column.
    pub rows: Vec<Vec<String>>,
    /// How many rows there are, of which some may not be shown.
    pub total: u64,
}

impl Display for TablePage {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        head(out, &self.title)?;
        writeln!(out, "<p class=\"lead\">{}</p>", EscapedText(&self.lead))?;
        let numbers = self.numbers.iter();
        parts::tiles(out, numbers.map(|(name, count)| (name.as_str(), *count, "mild")))?;
        out.write_str("</header>\n")?;
        for table in self.tables.iter().filter(|table| !table.rows.is_empty()) {
            write!(out, "{table}")?;
        }
        let about: Vec<(&str, String)> = self
            .about
            .iter()
            .map(|(name, text)| (name.as_str(), text.clone()))
            .collect();
        parts::footer(out, self.notes.iter().map(String::as_str), &about)?;
        super::tail(out)
    }
}

impl Display for PageTable {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let heading = EscapedText(&self.heading);
        writeln!(
            out,
            "<section>\n<h2>{heading}</h2>\n<div class=\"scroll\"><table>\n<thead><tr>"
        )?;
        for name in &self.header {
            writeln!(out, "<th scope=\"col\">{}</th>", EscapedText(name))?;
        }
        out.write_str("</tr></thead>\n<tbody>\n")?;
        for row in &self.rows {
            out.write_str("<tr>")?;
            for cell in row {
                write!(out, "<td>{}</td>", EscapedText(cell))?;
            }
            out.write_str("</tr>\n")?;
        }
        out.write_str("</tbody>\n</table></div>\n")?;
        let row_count = u64::try_from(self.rows.len()).unwrap_or(u64::MAX);
        let more = self.total.saturating_sub(row_count);
        if more > 0 {
            writeln!(out, "<p>and {more} more</p>")?;
        }
        out.write_str("</section>\n")
    }
}
