//! What two runs differ in, as a page in one file.

use std::fmt::{self, Display, Formatter};

use super::escaped_text::EscapedText;
use super::{head, parts};
use crate::Tally;

/// A comparison as HTML: numbers that say what changes, and a tally of each change.
///
/// ```
/// use pratique_report::{ComparisonPage, Limits, Tally};
///
/// let tally = Tally::new(Limits::default());
/// let page = ComparisonPage {
///     title: "A change",
///     lead: "2 requests: <none> are newly refused",
///     numbers: &[("the same", 2)],
///     sections: &[("Newly refused", &tally)],
///     notes: &["webhooks are not called".to_owned()],
///     about: &[("Command", "pratique impact".to_owned())],
/// };
/// assert!(page.to_string().contains("&lt;none&gt;"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ComparisonPage<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The summary, in a sentence.
    pub lead: &'a str,
    /// How many requests there are of each outcome.
    pub numbers: &'a [(&'a str, u64)],
    /// Tallies, each with a heading.
    pub sections: &'a [(&'a str, &'a Tally)],
    /// Notes about the numbers.
    pub notes: &'a [String],
    /// How the page was made: names with texts.
    pub about: &'a [(&'a str, String)],
}

impl Display for ComparisonPage<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        head(out, self.title)?;
        writeln!(out, "<p class=\"lead\">{}</p>", EscapedText(self.lead))?;
        parts::tiles(
            out,
            self.numbers.iter().map(|(name, count)| (*name, *count, "mild")),
        )?;
        out.write_str("</header>\n")?;
        for (heading, tally) in self.sections {
            parts::policies(out, tally, heading)?;
            parts::places(out, tally, heading)?;
            parts::examples(out, tally, heading)?;
        }
        parts::footer(out, self.notes.iter().map(String::as_str), self.about)?;
        super::tail(out)
    }
}
