//! Text within HTML.

use std::fmt::{self, Display, Formatter, Write as _};

/// Text that stands for itself, in elements and in quoted attributes. What is not seen, or changes the direction of what
/// follows, is shown by its number.
pub(super) struct EscapedText<'a>(pub(super) &'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\n' => out.write_char('\n')?,
                hidden if is_hidden(hidden) => write!(out, "\\u{{{:x}}}", u32::from(hidden))?,
                plain => out.write_char(plain)?,
            }
        }
        Ok(())
    }
}

/// Whether a character is not seen, or moves others.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::EscapedText;

    #[test]
    fn text_stands_for_itself() {
        let check = |text, expected: &str| assert_eq!(EscapedText(text).to_string(), expected);
        check("plain é 漢", "plain é 漢");
        check("<b a='\"'>&amp;", "&lt;b a=&#39;&quot;&#39;&gt;&amp;amp;");
        check("a\nb\tc\u{0}\u{202e}d", "a\nb\\u{9}c\\u{0}\\u{202e}d");
    }
}
