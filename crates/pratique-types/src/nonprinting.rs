//! Characters that are not visible in a text, or change how the text around them is displayed.

/// Whether a character has to be escaped for display: control characters, which move cursors and colour terminals; line
/// ends; characters that change the direction of a text; and characters without width, which make different names look
/// alike. The selectors of an emoji's style are not among them.
pub const fn is_nonprinting(character: char) -> bool {
    match character {
        ' '..='~' => false,
        // C0, DEL and C1.
        '\0'..='\u{9f}' => true,
        // Ends of lines and paragraphs, then the code points with Unicode's property Default_Ignorable_Code_Point, which
        // has the marks, embeddings, overrides and isolates of directions.
        '\u{2028}' | '\u{2029}' => true,
        '\u{fe0e}' | '\u{fe0f}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fe00}'..='\u{fe0d}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_and_nonprinting_characters() {
        for seen in "a~é語 \u{a0}\u{301}\u{1f600}\u{fe0f}\\\"".chars() {
            assert!(!is_nonprinting(seen), "{seen:?}");
        }
        let hidden = "\0\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{200b}\u{200d}\u{200f}\u{2028}\u{2029}\u{202e}\u{2066}\u{2069}\
            \u{feff}\u{fffe}\u{e0041}\u{e0101}";
        for hidden in hidden.chars() {
            assert!(is_nonprinting(hidden), "{hidden:?}");
        }
    }
}
