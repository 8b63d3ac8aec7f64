//! An HTML writer, which escapes text.

use pratique_types::is_nonprinting;

/// An HTML page.
#[derive(Debug, Default)]
pub(super) struct HtmlPage {
    text: String,
    /// The columns of the current table, and the number of cells in its current row.
    columns: Vec<&'static str>,
    cells: usize,
}

impl HtmlPage {
    /// Appends markup.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.text.push_str(markup);
        self
    }

    /// Appends text, also within quoted attributes. Invisible characters and those that change the direction of others are
    /// shown as escapes.
    pub(super) fn push_text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                // White space.
                '\n' | '\t' => self.text.push(character),
                _ if is_nonprinting(character) => self.text.extend(character.escape_unicode()),
                _ => self.text.push(character),
            }
        }
        self
    }

    /// Appends a heading.
    pub(super) fn heading(&mut self, heading: &str) -> &mut Self {
        self.raw("<h2>").push_text(heading).raw("</h2>")
    }

    /// Starts a table with these columns.
    pub(super) fn table(&mut self, columns: &[&'static str]) -> &mut Self {
        self.raw("<div class=\"wide\"><table><thead><tr>");
        for column in columns {
            self.raw("<th scope=\"col\">").push_text(column).raw("</th>");
        }
        self.columns = columns.to_vec();
        self.raw("</tr></thead><tbody>")
    }

    /// Starts a row.
    pub(super) fn row(&mut self) -> &mut Self {
        self.cells = 0;
        self.raw("<tr>")
    }

    /// Starts the next cell of the row. On narrow screens, cells are shown with the names of their columns.
    pub(super) fn open(&mut self, class: &'static str) -> &mut Self {
        let column = self.columns.get(self.cells).copied().unwrap_or_default();
        self.cells += 1;
        self.raw("<td data-column=\"").push_text(column).raw("\"");
        if !class.is_empty() {
            self.raw(" class=\"").raw(class).raw("\"");
        }
        self.raw(">")
    }

    /// Ends a cell.
    pub(super) fn close(&mut self) -> &mut Self {
        self.raw("</td>")
    }

    /// Appends a cell with text.
    pub(super) fn cell(&mut self, text: &str) -> &mut Self {
        self.open("").push_text(text).close()
    }

    /// Appends a cell with a time.
    pub(super) fn time(&mut self, text: &str) -> &mut Self {
        self.open("time").push_text(text).close()
    }

    /// Appends a cell with a number.
    pub(super) fn number(&mut self, text: &str) -> &mut Self {
        self.open("number").push_text(text).close()
    }

    /// Appends text with a CSS class.
    pub(super) fn span(&mut self, class: &'static str, text: &str) -> &mut Self {
        self.raw("<span class=\"")
            .raw(class)
            .raw("\">")
            .push_text(text)
            .raw("</span>")
    }

    /// Ends a table.
    pub(super) fn end(&mut self) {
        self.raw("</tbody></table></div>");
    }

    /// The page as text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::HtmlPage;

    #[test]
    fn invisible_characters_are_escaped() {
        let mut out = HtmlPage::default();
        out.push_text("a\0b\u{1b}[2J\u{202e}txt.exe\u{200b}\r\n\té");
        assert_eq!(
            out.finish(),
            "a\\u{0}b\\u{1b}[2J\\u{202e}txt.exe\\u{200b}\\u{d}\n\té"
        );
    }

    #[test]
    fn markup_in_text_is_escaped() {
        let mut out = HtmlPage::default();
        out.cell("<img src=x onerror='a'>&\"");
        assert_eq!(
            out.finish(),
            "<td data-column=\"\">&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;</td>"
        );
    }
}
