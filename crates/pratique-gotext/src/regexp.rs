//! Regular expressions as Go has them: RE2's syntax and meaning, in time linear in the text.
//!
//! A front end reads Go's syntax; `regex-automata` does the matching where pattern and text are small, and where the text
//! is long by what cannot take long. For all else there is a machine of our own, which takes no more memory than Go's and
//! can be stopped. Matches are leftmost, and among those the first that the pattern prefers.
//!
//! ```
//! use pratique_gotext::regexp::Regex;
//!
//! let regex = Regex::new("[a-z]+").unwrap();
//! assert_eq!(regex.find_all("ab 1 cd", -1), ["ab", "cd"]);
//! assert_eq!(
//!     Regex::new("a(").unwrap_err().to_string(),
//!     "error parsing regexp: missing closing ): `a(`",
//! );
//! ```
//!
//! Methods whose names begin with `try_` do the same within the bounds of a [`Meter`].

mod automaton;
mod class;
mod error;
mod machine;
mod meter;
mod names;
mod parser;
mod piece;
mod scan;
mod search;
mod set;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use automaton::PatternAutomaton;
use machine::PatternMachine;
use meter::NoMeter;

pub use error::{Error, ErrorKind, RefusedPattern};
pub use meter::Meter;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    /// `None` for a pattern that would be too large.
    automaton: Option<PatternAutomaton>,
    /// Made when it is needed where there is an automaton as well.
    machine: OnceLock<Arc<PatternMachine>>,
    pattern: Box<str>,
}

impl Regex {
    /// Compiles a pattern as Go's `regexp.Compile` would.
    ///
    /// # Errors
    /// Go's.
    pub fn new(pattern: &str) -> Result<Self, Error> {
        Regex::try_new(pattern, &NoMeter).map_err(|refused| match refused {
            RefusedPattern::Pattern(error) | RefusedPattern::Stopped(error) => error,
        })
    }

    /// [`new`](Self::new), on behalf of a meter.
    ///
    /// # Errors
    /// Go's, or the meter's.
    pub fn try_new<M: Meter>(pattern: &str, meter: &M) -> Result<Self, RefusedPattern<M::Stop>> {
        let parsed = parser::parse(pattern, meter)?;
        let automaton = if parsed.weight <= automaton::LARGEST {
            let making = automaton::MAKING.saturating_mul(parsed.weight);
            meter.work(making).map_err(RefusedPattern::Stopped)?;
            PatternAutomaton::new(&parsed.hir, parsed.weight)
        } else {
            None
        };
        let machine = OnceLock::new();
        if automaton.is_none() {
            let made = PatternMachine::new(&parsed.hir, meter).map_err(RefusedPattern::Stopped)?;
            let _ = machine.set(Arc::new(made));
        }
        Ok(Regex {
            automaton,
            machine,
            pattern: pattern.into(),
        })
    }

    /// Whether a text is a pattern.
    pub fn is_pattern(text: &str) -> bool {
        parser::parse(text, &NoMeter).is_ok()
    }

    /// Whether the text has a match (`MatchString`).
    pub fn is_match(&self, text: &str) -> bool {
        matches!(self.try_is_match(text, &NoMeter), Ok(true))
    }

    /// The first match (`FindString`, which gives an empty string where there is none).
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        let first_match = self.try_find(text, &NoMeter);
        first_match.unwrap_or_default()
    }

    /// Matches from left to right that do not overlap, at most `limit`; all where that is negative (`FindAllString`).
    /// An empty match right after another match does not count.
    pub fn find_all<'t>(&self, text: &'t str, limit: i64) -> Vec<&'t str> {
        self.try_find_all(text, limit, &NoMeter).unwrap_or_default()
    }

    /// [`is_match`](Self::is_match), on behalf of a meter.
    ///
    /// # Errors
    /// The meter's.
    #[inline]
    pub fn try_is_match<M: Meter>(&self, text: &str, meter: &M) -> Result<bool, M::Stop> {
        if let Some(automaton) = &self.automaton
            && automaton.is_quick_on(text)
        {
            return Ok(automaton.is_match(text));
        }
        self.search(text, 0, true, meter)
            .map(|first_match| first_match.is_some())
    }

    /// [`find`](Self::find), on behalf of a meter.
    ///
    /// # Errors
    /// The meter's.
    pub fn try_find<'t, M: Meter>(&self, text: &'t str, meter: &M) -> Result<Option<&'t str>, M::Stop> {
        let first_match = self.search(text, 0, false, meter)?;
        Ok(first_match.and_then(|range| text.get(range)))
    }

    /// [`find_all`](Self::find_all), on behalf of a meter.
    ///
    /// # Errors
    /// The meter's.
    pub fn try_find_all<'t, M: Meter>(
        &self,
        text: &'t str,
        limit: i64,
        meter: &M,
    ) -> Result<Vec<&'t str>, M::Stop> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut matches = Vec::new();
        let mut position = 0;
        let mut last_end = None;
        while matches.len() < limit && position <= text.len() {
            let Some(range) = self.search(text, position, false, meter)? else {
                break;
            };
            // A search may look at all that follows, even if what it finds is short.
            meter.work(MATCH + (text.len() - position) as u64 / 16)?;
            if matches.len().is_multiple_of(PORTION) {
                let more = matches.len().saturating_add(PORTION);
                meter.reserve(more.saturating_mul(4 * size_of::<&str>()))?;
            }
            let repeated = range.end == position && Some(range.start) == last_end;
            last_end = Some(range.end);
            position = if range.end == position {
                after_character(text, position)
            } else {
                range.end
            };
            if !repeated {
                matches.extend(text.get(range));
            }
        }
        Ok(matches)
    }

    /// The first match at or after a place; where `any` is enough, perhaps another one.
    fn search<M: Meter>(
        &self,
        text: &str,
        from: usize,
        any: bool,
        meter: &M,
    ) -> Result<Option<Range<usize>>, M::Stop> {
        if let Some(automaton) = &self.automaton {
            if automaton.is_quick_on(text) {
                return Ok(automaton.find(text, from));
            }
            meter.work((text.len() - from) as u64)?;
            let parsed = || parser::parse(&self.pattern, &NoMeter).ok();
            let hir = || parsed().map(|parsed| parsed.hir);
            if let Ok(first_match) = automaton.find_in_long(text, from, any, hir) {
                return Ok(first_match);
            }
        }
        search::find(&*self.machine(meter)?, text, from, any, meter)
    }

    fn machine<M: Meter>(&self, meter: &M) -> Result<Arc<PatternMachine>, M::Stop> {
        if let Some(machine) = self.machine.get() {
            return Ok(machine.clone());
        }
        let machine = match parser::parse(&self.pattern, meter) {
            Ok(parsed) => Arc::new(PatternMachine::new(&parsed.hir, meter)?),
            Err(RefusedPattern::Stopped(stop)) => return Err(stop),
            // It was one before.
            Err(RefusedPattern::Pattern(error)) => return Err(error.into()),
        };
        Ok(self.machine.get_or_init(|| machine).clone())
    }
}

/// The work of a search, whatever it finds.
const MATCH: u64 = 50;

/// The number of matches that are collected between two reservations of memory.
const PORTION: usize = 1_000;

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

    /// A pattern as it is matched in short texts, in long ones, and where there is no automaton.
    fn by_all_means(pattern: &str) -> [Regex; 3] {
        let regex = Regex::new(pattern).unwrap();
        let mut in_long_texts = regex.clone();
        in_long_texts.automaton.as_mut().unwrap().set_short(0);
        let without = Regex {
            automaton: None,
            ..regex.clone()
        };
        [regex, in_long_texts, without]
    }

    #[test]
    fn random_patterns_match_the_same_by_all_means() {
        const PARTS: [&str; 24] = [
            "a", "b", "é", ".", "[ab]", "[^a]", "\\w", "(", ")", "(?:", ")", "|", "*", "+", "?", "*?", "+?",
            "??", "{2}", "{0,2}", "{1,}?", "^", "$", "\\b",
        ];
        let mut state = 7_u64;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut compared = 0;
        while compared < 3_000 {
            let pattern: String = (0..1 + next(9)).map(|_| PARTS[next(PARTS.len())]).collect();
            let text: String = (0..next(9))
                .map(|_| ['a', 'b', 'é', '\n', '-'][next(5)])
                .collect();
            if Regex::new(&pattern).is_err() {
                continue;
            }
            compared += 1;
            let [first, others @ ..] = by_all_means(&pattern);
            for other in others {
                assert_eq!(other.find(&text), first.find(&text), "{pattern} on {text:?}");
                assert_eq!(
                    other.find_all(&text, -1),
                    first.find_all(&text, -1),
                    "{pattern} on {text:?}"
                );
                assert_eq!(
                    other.is_match(&text),
                    first.is_match(&text),
                    "{pattern} on {text:?}"
                );
            }
        }
    }

    #[test]
    fn first_matches() {
        let check = |pattern: &str, text: &str, expected: Option<&str>| {
            for regex in by_all_means(pattern) {
                assert_eq!(regex.find(text), expected, "{pattern} on {text:?}: {regex:?}");
                assert_eq!(regex.is_match(text), expected.is_some(), "{pattern} on {text:?}");
            }
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
            for regex in by_all_means(pattern) {
                assert_eq!(
                    regex.find_all(text, limit),
                    expected,
                    "{pattern} on {text:?}: {regex:?}"
                );
            }
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
        assert!(Regex::new(&r"\pL{1000}".repeat(10)).is_ok());
        assert!(Regex::new(r"\w{1000}").is_ok());
    }

    /// Each took minutes, seconds or a gigabyte once, and is read within milliseconds by a build that is optimized.
    #[test]
    fn compiled_in_linear_time() {
        let descending = |from: u32| (0..100_000).filter_map(move |step| char::from_u32(from - 2 * step));
        let classes = format!("[{}]", descending(0xF_0000).collect::<String>());
        let began = std::time::Instant::now();
        for pattern in [
            r"[\w-\W]".repeat(10_000),
            format!("(?i){classes}"),
            format!("(?i){}", "é".repeat(20_000)),
            r"(\pL{999}N)*".to_owned(),
            r"\pL{999}".repeat(100),
        ] {
            assert!(Regex::new(&pattern).is_ok());
        }
        assert!(
            began.elapsed() < std::time::Duration::from_secs(20),
            "{:?}",
            began.elapsed()
        );
    }

    #[test]
    fn linear_time() {
        let text = "a".repeat(20_000);
        assert!(!Regex::new("(a*)*(a|aa)+b$").unwrap().is_match(&text));
    }
}
