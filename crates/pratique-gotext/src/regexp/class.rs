//! Classes of characters: in brackets, and by name after a backslash.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

use super::error::{Error, ErrorKind, between, whole};
use super::scan::{PatternFlags, escape, split_first};
use super::{names, set};

/// Reads classes, and remembers those of Unicode by name: making one again and again would cost more than reading.
#[derive(Default)]
pub(super) struct ClassReader {
    unicode: HashMap<(String, bool), Option<ClassUnicode>>,
}

impl ClassReader {
    /// Reads a class in brackets.
    pub(super) fn bracketed<'t>(
        &mut self,
        text: &'t str,
        flags: PatternFlags,
    ) -> Result<(ClassUnicode, &'t str), Error> {
        let inside = text.strip_prefix('[').unwrap_or(text);
        let (negate, mut rest) = inside
            .strip_prefix('^')
            .map_or((false, inside), |rest| (true, rest));
        // What is put together once takes no longer than it is large.
        let (mut named, mut written) = (Vec::new(), Vec::new());
        let mut first = true;
        loop {
            // A bracket right at the start is a member.
            if let Some(after) = rest.strip_prefix(']').filter(|_| !first) {
                let mut class = ClassUnicode::new(written);
                if flags.fold_case {
                    class = set::folded(&class);
                }
                class.union(&ClassUnicode::new(named));
                return Ok((if negate { set::negated(class) } else { class }, after));
            }
            first = false;
            rest = match self.named(rest, flags)? {
                Some((class, after)) => {
                    named.extend_from_slice(class.ranges());
                    after
                }
                None => {
                    let ((low, high), after) = range(rest, text)?;
                    written.extend(set::ranges(low, high));
                    after
                }
            };
        }
    }

    /// Reads a class with a name: `\d`, `\pL`, and `[:alpha:]` inside brackets.
    fn named<'t>(
        &mut self,
        text: &'t str,
        flags: PatternFlags,
    ) -> Result<Option<(ClassUnicode, &'t str)>, Error> {
        match posix(text, flags)? {
            Some(class) => Ok(Some(class)),
            None => self.escaped(text, flags),
        }
    }

    /// Reads a class with a name after a backslash; `None` where the text starts with something else.
    pub(super) fn escaped<'t>(
        &mut self,
        text: &'t str,
        flags: PatternFlags,
    ) -> Result<Option<(ClassUnicode, &'t str)>, Error> {
        let Some((letter, rest)) = text.strip_prefix('\\').and_then(split_first) else {
            return Ok(None);
        };
        if matches!(letter, 'p' | 'P') {
            return self.unicode(text, rest, letter == 'P', flags).map(Some);
        }
        let class = u8::try_from(letter.to_ascii_lowercase())
            .ok()
            .and_then(names::perl);
        Ok(class.map(|class| (finish(class, letter.is_ascii_uppercase(), flags), rest)))
    }

    /// Reads the name after `\p` or `\P`.
    fn unicode<'t>(
        &mut self,
        text: &'t str,
        rest: &'t str,
        negate: bool,
        flags: PatternFlags,
    ) -> Result<(ClassUnicode, &'t str), Error> {
        let (name, rest) = match rest.strip_prefix('{') {
            Some(braced) => match braced.split_once('}') {
                Some(name_and_rest) => name_and_rest,
                None => return whole(ErrorKind::ClassRange, text),
            },
            None => rest
                .split_at_checked(rest.chars().next().map_or(0, char::len_utf8))
                .unwrap_or((rest, "")),
        };
        let (negate, name) = name
            .strip_prefix('^')
            .map_or((negate, name), |name| (!negate, name));
        match self.lookup(name, flags.fold_case) {
            Some(class) => Ok((if negate { set::negated(class) } else { class }, rest)),
            None => between(ErrorKind::ClassRange, text, rest),
        }
    }

    fn lookup(&mut self, name: &str, fold_case: bool) -> Option<ClassUnicode> {
        let known = self.unicode.entry((name.to_owned(), fold_case));
        let class = known.or_insert_with(|| {
            let class = names::unicode(name)?;
            Some(if fold_case { set::folded(&class) } else { class })
        });
        class.clone()
    }
}

/// Reads `[:alpha:]` or `[:^alpha:]`; without its end it is no such class.
fn posix(text: &str, flags: PatternFlags) -> Result<Option<(ClassUnicode, &str)>, Error> {
    let Some((name, rest)) = text.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) else {
        return Ok(None);
    };
    let (negate, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
    match names::posix(name) {
        Some(class) => Ok(Some((finish(class, negate, flags), rest))),
        None => between(ErrorKind::ClassRange, text, rest),
    }
}

/// Reads a member or a range of a class; returns the rest of the pattern.
fn range<'t>(text: &'t str, whole: &str) -> Result<((u32, u32), &'t str), Error> {
    let (low, mut rest) = member(text, whole)?;
    let mut high = low;
    // Before the closing bracket a hyphen is a hyphen.
    if let Some(after) = rest
        .strip_prefix('-')
        .filter(|after| !after.is_empty() && !after.starts_with(']'))
    {
        (high, rest) = member(after, whole)?;
        if high < low {
            return between(ErrorKind::ClassRange, text, rest);
        }
    }
    Ok(((low, high), rest))
}

/// Reads one code point of a class.
fn member<'t>(text: &'t str, class: &str) -> Result<(u32, &'t str), Error> {
    match split_first(text) {
        None => whole(ErrorKind::MissingBracket, class),
        Some(('\\', _)) => escape(text),
        Some((character, rest)) => Ok((u32::from(character), rest)),
    }
}

/// A named class in the case that the flags ask for.
fn finish(class: ClassUnicode, negate: bool, flags: PatternFlags) -> ClassUnicode {
    let class = if flags.fold_case {
        set::folded(&class)
    } else {
        class
    };
    if negate { set::negated(class) } else { class }
}
