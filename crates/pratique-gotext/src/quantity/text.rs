//! The text that a quantity was read from.

/// A text that is stored inline if it is short, as nearly all are.
#[derive(Debug, Clone)]
pub(super) enum InlineText {
    Short { bytes: [u8; ROOM], len: u8 },
    Long(Box<str>),
}

const ROOM: usize = 14;

impl InlineText {
    pub(super) fn new(text: &str) -> Self {
        let mut bytes = [0; ROOM];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(place), Ok(len)) => {
                place.copy_from_slice(text.as_bytes());
                InlineText::Short { bytes, len }
            }
            _ => InlineText::Long(text.into()),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            InlineText::Short { bytes, len } => {
                let text = bytes.get(..usize::from(*len)).unwrap_or_default();
                // It was a text.
                std::str::from_utf8(text).unwrap_or_default()
            }
            InlineText::Long(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length() {
        for length in 0..40 {
            let text = "1".repeat(length);
            assert_eq!(InlineText::new(&text).as_str(), text);
        }
    }
}
