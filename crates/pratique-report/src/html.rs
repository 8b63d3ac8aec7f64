//! A report as a page in one file.
//!
//! The page has no scripts and loads nothing: it can be sent by mail, kept, and opened without a network. Everything in it that
//! is not ours is [`EscapedText`].

mod comparison;
mod escaped_text;
mod parts;
mod table_page;

use std::fmt::{self, Display, Formatter};

use crate::Report;
pub use comparison::ComparisonPage;
use escaped_text::EscapedText;
pub use table_page::{PageTable, TablePage};

const STYLE: &str = include_str!("html/style.css");

/// Nothing may be loaded or run, whatever the page says.
const SECURITY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A report as HTML.
///
/// ```
/// use pratique_report::{Page, Report, ReportRun, InputShard, Tally, Limits};
///
/// let run = ReportRun { command: "scan".to_owned(), inputs: vec!["<all>".to_owned()], ..ReportRun::default() };
/// let report = Report::new(run, InputShard::WHOLE, Tally::new(Limits::default()));
/// let page = Page { report: &report, title: "A cluster", time: "2026-11-23" }.to_string();
/// assert!(page.starts_with("<!doctype html>") && page.contains("&lt;all&gt;"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The report.
    pub report: &'a Report,
    /// The title of the page.
    pub title: &'a str,
    /// When the report was made; empty to leave it out.
    pub time: &'a str,
}

impl Display for Page<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        head(out, self.title)?;
        parts::summary(out, self.report)?;
        out.write_str("</header>\n")?;
        let tally = self.report.tally();
        parts::policies(out, tally, "")?;
        parts::places(out, tally, "")?;
        parts::examples(out, tally, "")?;
        parts::problems(out, self.report)?;
        parts::about(out, self.report, self.time)?;
        tail(out)
    }
}

/// The beginning of a page, up to its title.
fn head(out: &mut Formatter<'_>, title: &str) -> fmt::Result {
    let title = EscapedText(title);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{SECURITY}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n"
    )
}

fn tail(out: &mut Formatter<'_>) -> fmt::Result {
    out.write_str("</main>\n</body>\n</html>\n")
}

#[cfg(test)]
mod tests;
