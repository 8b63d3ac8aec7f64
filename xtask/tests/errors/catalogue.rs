//! Lists of the texts that errors can have.

/// A text that an error can have.
pub(crate) struct KnownText<'c> {
    pub(crate) section: &'c str,
    /// The text, with `…` for what is different each time.
    pub(crate) text: &'c str,
    /// Whether there is help; otherwise a reason why there is none.
    pub(crate) is_helped: bool,
    pub(crate) what: &'c str,
}

/// The texts of a list: each on a line of its own, and below it `+ help` or `- reason`.
pub(crate) fn read_texts(list: &str) -> Vec<KnownText<'_>> {
    let (mut section, mut last) = ("", "");
    let lines = list.lines().filter_map(|line| {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
            return None;
        }
        match line.split_once(' ') {
            Some((sign @ ("+" | "-"), what)) => Some(KnownText {
                section,
                text: last,
                is_helped: sign == "+",
                what,
            }),
            _ => {
                last = line;
                None
            }
        }
    });
    lines.collect()
}

impl KnownText<'_> {
    /// Whether a text is this one, with something in the place of each `…`.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        let Some((first, rest)) = self.text.split_once('…') else {
            return text.trim() == self.text;
        };
        let mut parts: Vec<&str> = rest.split('…').collect();
        let last = parts.pop().unwrap_or_default();
        let Some(mut text) = text.trim().strip_prefix(first) else {
            return false;
        };
        for part in parts {
            let Some((_, behind)) = text.split_once(part) else {
                return false;
            };
            text = behind;
        }
        text.ends_with(last)
    }
}
