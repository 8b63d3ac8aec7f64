//! HTML as it grows: markup as it is, text escaped.

/// A page that grows.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Markup.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, also within quoted attributes.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                _ => self.0.push(character),
            }
        }
        self
    }

    /// A heading, and a table with these columns.
    pub(super) fn table(&mut self, heading: &str, columns: &[&str]) -> &mut Self {
        self.raw("<h2>")
            .text(heading)
            .raw("</h2><div class=\"wide\"><table><thead><tr>");
        for column in columns {
            self.raw("<th scope=\"col\">").text(column).raw("</th>");
        }
        self.raw("</tr></thead><tbody>")
    }

    /// A cell of text.
    pub(super) fn cell(&mut self, text: &str) -> &mut Self {
        self.raw("<td>").text(text).raw("</td>")
    }

    /// A cell of a time.
    pub(super) fn time(&mut self, text: &str) -> &mut Self {
        self.raw("<td class=\"time\">").text(text).raw("</td>")
    }

    /// A cell of a number.
    pub(super) fn number(&mut self, text: &str) -> &mut Self {
        self.raw("<td class=\"number\">").text(text).raw("</td>")
    }

    /// The end of a table.
    pub(super) fn end(&mut self) {
        self.raw("</tbody></table></div>");
    }

    /// The whole.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn text_is_no_markup() {
        let mut out = Html::default();
        out.cell("<img src=x onerror='a'>&\"");
        assert_eq!(
            out.finish(),
            "<td>&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;</td>"
        );
    }
}
