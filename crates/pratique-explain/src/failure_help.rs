//! What to do about an error of an evaluation or of a call: all texts that there are, each with help or with the reason why
//! there is none.

/// A text that an error can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FailureText {
    /// The text, with `…` for what is different each time.
    text: &'static str,
    /// What to do, or why that is not told.
    help: FailureHelp,
}

/// What is told beside an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureHelp {
    /// What to do.
    Help(&'static str),
    /// Nothing, for this reason.
    Reason(&'static str),
}

/// The texts, special ones before general ones.
const TEXTS: &str = include_str!("../data/failures.txt");

/// Why there is no help for a text that has another error in it.
const HOLDER: &str = "the text goes on";

/// The help for the text of an error, which may stand within other texts: `expression 'a' resulted in error: no such key: b`.
pub fn help_for_failure(text: &str) -> Option<&'static str> {
    let mut known = failure_texts().filter(|known| known.is_in(text));
    let known = known.find(|known| !known.is_holder())?;
    match known.help {
        FailureHelp::Help(help) => Some(help),
        FailureHelp::Reason(_) => None,
    }
}

/// All texts, in the order in which they are looked for.
fn failure_texts() -> impl Iterator<Item = FailureText> {
    let mut last = "";
    TEXTS.lines().filter_map(move |line| {
        let help = match line.split_once(' ') {
            Some(("+", help)) => FailureHelp::Help(help),
            Some(("-", reason)) => FailureHelp::Reason(reason),
            _ => {
                last = line;
                return None;
            }
        };
        Some(FailureText { text: last, help })
    })
}

impl FailureText {
    /// Whether another error stands within it, which has the help.
    fn is_holder(&self) -> bool {
        matches!(self.help, FailureHelp::Reason(reason) if reason.starts_with(HOLDER))
    }

    /// Whether a text has this one in it.
    fn is_in(&self, text: &str) -> bool {
        let mut rest = text;
        self.text.split('…').all(|part| match rest.split_once(part) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_texts_stand_before_general_ones() {
        let texts: Vec<FailureText> = failure_texts().collect();
        for (index, special) in texts.iter().enumerate() {
            let earlier = texts[..index].iter().filter(|general| !general.is_holder());
            let hiding =
                earlier.filter(|general| general.is_in(special.text) && general.help != special.help);
            let hiding: Vec<&FailureText> = hiding.collect();
            assert!(hiding.is_empty(), "{special:?} has the help of {hiding:?}");
        }
        assert_eq!(
            help_for_failure(
                "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"
            ),
            Some("the webhook answers with an AdmissionReview of admission.k8s.io/v1")
        );
    }

    #[test]
    fn errors_within_others_have_help() {
        for (text, expected) in [
            (
                "policy 'p' with binding 'b' denied request: JSON Patch: add operation does not apply: doc is missing path: \
                 \"/metadata/labels/a\": missing value",
                Some("the parent is not there"),
            ),
            (
                "expression 'object.a == 1' resulted in error: no such key: a",
                Some("not every object has it"),
            ),
            (
                "type conversion error from 'string' to 'int'",
                Some("the text is no whole number"),
            ),
            (
                "error applying patch: failed to convert patch object to typed object: .spec.replicas: expected numeric (int or \
                 float), got string",
                Some("write a number"),
            ),
            (
                "failed calling webhook \"a.b.c\": failed to call webhook: Post \"https://a\": context deadline exceeded",
                Some("the webhook does not answer in time"),
            ),
            ("internal error: what is this", None),
            ("nothing that is known", None),
        ] {
            let help = help_for_failure(text);
            assert_eq!(help.is_some(), expected.is_some(), "{text}: {help:?}");
            let fits = expected
                .zip(help)
                .is_none_or(|(expected, help)| help.starts_with(expected));
            assert!(fits, "{text}: {help:?}");
        }
    }
}
