//! Regular expressions as Go has them: RE2's syntax and meaning, in time linear in the text.
//!
//! A front end reads Go's syntax; `regex-automata` does the matching. Matches are leftmost, and among those the
//! first that the pattern prefers.

mod class;
mod error;
mod names;
mod parser;
mod piece;
mod scan;
mod set;

use regex_automata::{Input, meta};
use regex_syntax::hir::Hir;

pub use error::{Error, ErrorKind};

/// How much memory the automaton of a pattern may take, once forward and once backward. Go's own limit is in
/// instructions, of which some that match Unicode classes take more here: `\pL{1000}` fits once.
const MAX_AUTOMATON: usize = 64 << 20;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    regex: meta::Regex,
}

impl Regex {
    /// Compiles a pattern as Go's `regexp.Compile` would.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let hir = parser::parse(pattern)?;
        compile(&hir)
            .map(|regex| Regex { regex })
            .or_else(|_| error::whole(ErrorKind::Large, pattern))
    }

    /// Whether a text is a pattern; most are not compiled to find out.
    pub fn is_pattern(text: &str) -> bool {
        // What is short and repeats nothing a number of times is not too large.
        let is_small = text.len() < 1_000 && !text.contains('{');
        match is_small {
            true => parser::parse(text).is_ok(),
            false => Regex::new(text).is_ok(),
        }
    }

    /// Whether the text has a match (`MatchString`).
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The first match (`FindString`, which gives an empty string where there is none).
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.get(self.regex.find(text)?.range())
    }

    /// Matches from left to right that do not overlap, at most `limit`; all where that is negative (`FindAllString`).
    /// An empty match right after another match does not count.
    pub fn find_all<'t>(&self, text: &'t str, limit: i64) -> Vec<&'t str> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut position = 0;
        let mut last_end = None;
        while found.len() < limit && position <= text.len() {
            let input = Input::new(text).span(position..text.len());
            let Some(range) = self.regex.find(input).map(|matched| matched.range()) else {
                break;
            };
            let repeated = range.end == position && Some(range.start) == last_end;
            last_end = Some(range.end);
            position = if range.end == position {
                after_character(text, position)
            } else {
                range.end
            };
            if !repeated {
                found.extend(text.get(range));
            }
        }
        found
    }
}

fn compile(hir: &Hir) -> Result<meta::Regex, Box<meta::BuildError>> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(MAX_AUTOMATON))
        // It would only serve to find the ends of groups.
        .onepass(false)
        .which_captures(regex_automata::nfa::thompson::WhichCaptures::Implicit);
    meta::Builder::new()
        .configure(config)
        .build_from_hir(hir)
        .map_err(Box::new)
}

/// Where the next character starts; past the end where there is none.
fn after_character(text: &str, position: usize) -> usize {
    let character = text.get(position..).and_then(|rest| rest.chars().next());
    position + character.map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults() {
        let check = |pattern: &str, expected: &str| {
            let error = Regex::new(pattern).map_or_else(|error| error.to_string(), |_| "accepted".to_owned());
            assert_eq!(error, format!("error parsing regexp: {expected}"), "{pattern}");
        };
        check("a(", "missing closing ): `a(`");
        check("a)b", "unexpected ): `a)b`");
        check("x[a", "missing closing ]: `[a`");
        check("[z-a]", "invalid character class range: `z-a`");
        check("[[:foo:]]", "invalid character class range: `[:foo:]`");
        check("a**", "invalid nested repetition operator: `**`");
        check("a+?*?", "invalid nested repetition operator: `+?*?`");
        check("|*", "missing argument to repetition operator: `*`");
        check("a{1001}", "invalid repeat count: `{1001}`");
        check("a{2,1}", "invalid repeat count: `{2,1}`");
        check("(a{100}){11}b", "invalid repeat count: `{11}`");
        check("a\\", "trailing backslash at end of expression: ``");
        check("\\u0041", "invalid escape sequence: `\\u`");
        check("\\1", "invalid escape sequence: `\\1`");
        check("\\x{110000}", "invalid escape sequence: `\\x{110000`");
        check("\\pX", "invalid character class range: `\\pX`");
        check(
            "\\p{Script=Greek}",
            "invalid character class range: `\\p{Script=Greek}`",
        );
        check("(?x)", "invalid or unsupported Perl syntax: `(?x`");
        check("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`");
        check("(?=a)", "invalid or unsupported Perl syntax: `(?=`");
        check("(?P<a-b>c)", "invalid named capture: `(?P<a-b>`");
        check("(?P<a", "invalid named capture: `(?P<a`");
    }

    #[test]
    fn first_matches() {
        let check = |pattern: &str, text: &str, expected: Option<&str>| {
            let regex = Regex::new(pattern).unwrap();
            assert_eq!(regex.find(text), expected, "{pattern} on {text:?}");
            assert_eq!(regex.is_match(text), expected.is_some());
        };
        check("a|ab", "ab", Some("a"));
        check(".*c|.*b", "cb", Some("c"));
        check("a.*?c|a.*?b", "abc", Some("abc"));
        check("(?:a|ab)c|(?:a|ab)bd|(?:a|ab)", "abd", Some("abd"));
        check("[ab]x*y|[ab]x*", "axxay", Some("axx"));
        check("(?:x*a|x*)b|x*", "xxab", Some("xxab"));
        check("(?:.*d|(?:.*c|.*b))e?", "cbe", Some("c"));
        check("[[:word:]]+", "-é_1", Some("_1"));
        check(r"\w+", "éab1", Some("ab1"));
        check(r"\s", "\u{b}", None);
        check(r"\d", "٣", None);
        check(r"\Qa*\E+", "xa**", Some("a**"));
        check(r"\101\x{e9}\0", "Aé\0", Some("Aé\0"));
        check("{a{,5}", "{a{,5}", Some("{a{,5}"));
        check("[a&&b]+", "xa&b", Some("a&b"));
        check(r"[\d-z]+", "y7-z", Some("7-z"));
        check("[]a]+", "x]a", Some("]a"));
        check(r"\<\>", "<>", Some("<>"));
        check(r"\p{^Lu}+", "ABcD", Some("c"));
        check("(?i)k+", "xKkK", Some("KkK"));
        check(r"(?i)\w", "ſ", Some("ſ"));
        check("(?s).", "\n", Some("\n"));
        check(".", "\n", None);
        check("(?m)^b$", "a\nb\nc", Some("b"));
        check("^b$", "a\nb\nc", None);
        check("(?U)a+", "aaa", Some("a"));
        check("(?P<n>a)(?P<n>b)", "ab", Some("ab"));
        check("(|a)*", "aa", Some(""));
        check(r"[^\x00-\x{10FFFF}]", "a", None);
        check(r"\Bb\b", "ab", Some("b"));
    }

    #[test]
    fn all_matches() {
        let check = |pattern: &str, text: &str, limit, expected: &[&str]| {
            assert_eq!(
                Regex::new(pattern).unwrap().find_all(text, limit),
                expected,
                "{pattern} on {text:?}"
            );
        };
        check("a", "banana", -1, &["a", "a", "a"]);
        check("a", "banana", 2, &["a", "a"]);
        check("a", "banana", 0, &[]);
        check("a*", "baaé", -1, &["", "aa", ""]);
        check("", "é世", -1, &["", "", ""]);
        check("^a", "aaa", -1, &["a"]);
        check("x*", "", -1, &[""]);
    }

    #[test]
    fn bounded_nesting() {
        let nest = |open: &str, close: &str, times| {
            Regex::new(&format!("{}a{}", open.repeat(times), close.repeat(times)))
        };
        assert!(nest("(", ")", 999).is_ok());
        assert!(nest("(?:", ")", 100_000).is_ok());
        for (open, close) in [("(", ")"), ("(?:", ")*"), ("(?:b|", "c)")] {
            let kind = nest(open, close, 20_000).map_err(|error| error.kind).err();
            assert_eq!(kind, Some(ErrorKind::NestingDepth));
        }
        assert!(nest("(?:b|", "c)", 499).is_ok_and(|regex| !regex.is_match("d")));
        assert_eq!(
            nest("(", "", 100_000).map_err(|error| error.kind).err(),
            Some(ErrorKind::MissingParen)
        );
    }

    #[test]
    fn bounded_size() {
        let check = |pattern: String| {
            assert_eq!(
                Regex::new(&pattern).map_err(|error| error.kind).err(),
                Some(ErrorKind::Large)
            )
        };
        check("x{1000}".repeat(4_000));
        check(r"\pL{1000}".repeat(10));
        assert!(Regex::new(r"\pL{1000}").is_ok());
        assert!(Regex::new(r"\w{1000}").is_ok());
    }

    #[test]
    fn linear_time() {
        let text = "a".repeat(20_000);
        assert!(!Regex::new("(a*)*(a|aa)+b$").unwrap().is_match(&text));
    }
}
