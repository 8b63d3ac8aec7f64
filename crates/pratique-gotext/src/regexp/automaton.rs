//! Automata of bytes, for patterns that are small.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex_automata::hybrid::{dfa, regex as lazy};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Input, meta};
use regex_syntax::hir::Hir;

/// The automata of a pattern.
#[derive(Clone, Debug)]
pub(super) struct PatternAutomaton {
    regex: meta::Regex,
    /// For texts that are not short; made when one is seen. `None` where it cannot be made.
    lazy: OnceLock<Option<Arc<lazy::Regex>>>,
    /// Texts up to this length take negligible time, whatever they are.
    short: usize,
}

/// The most that a pattern may weigh: its literals in bytes and its classes in ranges, as often as they are repeated.
pub(super) const LARGEST: u64 = 10_000;

/// How much memory an automaton may take, once forward and once backward.
const MAX_AUTOMATON: usize = 4 << 20;

/// The work of making the automaton, per unit of the pattern's weight.
pub(super) const MAKING: u64 = 2_000;

/// The largest product of weight and length of a text that no search takes long for: each character may lead through each
/// part of the pattern.
const SHORT: u64 = 2 << 20;

/// The automaton gave up, as it would have taken long.
pub(super) struct AutomatonFailure;

impl PatternAutomaton {
    /// `None` where it would be too large.
    pub(super) fn new(hir: &Hir, weight: u64) -> Option<Self> {
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_AUTOMATON))
            // It would only serve to find the ends of groups.
            .onepass(false)
            .which_captures(WhichCaptures::Implicit);
        let regex = meta::Builder::new().configure(config).build_from_hir(hir).ok()?;
        Some(PatternAutomaton {
            regex,
            lazy: OnceLock::new(),
            short: usize::try_from(SHORT / weight.max(1)).unwrap_or(usize::MAX),
        })
    }

    #[cfg(test)]
    pub(super) fn set_short(&mut self, short: usize) {
        self.short = short;
    }

    /// Whether a search in a text takes negligible time.
    #[inline]
    pub(super) fn is_quick_on(&self, text: &str) -> bool {
        text.len() <= self.short
    }

    #[inline]
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    pub(super) fn find(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let input = Input::new(text).span(from..text.len());
        self.regex.find(input).map(|first_match| first_match.range())
    }

    /// A search that takes about a nanosecond for each byte, or fails. Where `any` is enough, the match may be another one.
    /// `hir` is asked for the pattern at the first such search.
    pub(super) fn find_in_long(
        &self,
        text: &str,
        from: usize,
        any: bool,
        hir: impl FnOnce() -> Option<Hir>,
    ) -> Result<Option<Range<usize>>, AutomatonFailure> {
        let regex = self.lazy.get_or_init(|| lazy_regex(&hir()?).map(Arc::new));
        let regex = regex.as_ref().ok_or(AutomatonFailure)?;
        let mut cache = regex.create_cache();
        let input = Input::new(text).span(from..text.len()).earliest(any);
        match regex.try_search(&mut cache, &input) {
            Ok(first_match) => Ok(first_match.map(|first_match| first_match.range())),
            Err(_) => Err(AutomatonFailure),
        }
    }
}

/// It gives up once it forgets states again and again that it has made.
fn lazy_regex(hir: &Hir) -> Option<lazy::Regex> {
    let config = dfa::Config::new()
        .cache_capacity(MAX_CACHE)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(3))
        .minimum_bytes_per_state(Some(10));
    let make = |reverse: bool| {
        let compiler = thompson::Config::new()
            .reverse(reverse)
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .which_captures(WhichCaptures::None);
        let nfa = thompson::Compiler::new()
            .configure(compiler)
            .build_from_hir(hir)
            .ok()?;
        let config = if reverse {
            config.clone().match_kind(regex_automata::MatchKind::All)
        } else {
            config.clone()
        };
        dfa::Builder::new().configure(config).build_from_nfa(nfa).ok()
    };
    Some(lazy::Builder::new().build_from_dfas(make(false)?, make(true)?))
}

/// How much memory the states of a lazy automaton may take while a text is searched.
const MAX_CACHE: usize = 1 << 20;
