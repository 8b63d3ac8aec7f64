//! The execution of a machine over a text.

use std::ops::Range;

use regex_syntax::hir::Look;

use super::machine::{InstructionPlace, PatternInstruction, PatternMachine};
use super::meter::Meter;

/// The ways of matching that lead on from a place of the text, the preferred ones first.
struct ThreadList {
    /// Instructions that take a character, or that have matched, each with where its match began.
    ways: Vec<(InstructionPlace, usize)>,
    /// For each instruction the number of the last step that came to it.
    entered: Vec<u32>,
    step: u32,
}

impl ThreadList {
    fn new(machine: &PatternMachine) -> Self {
        ThreadList {
            ways: Vec::new(),
            entered: vec![0; machine.len()],
            step: 0,
        }
    }

    fn clear(&mut self) {
        self.ways.clear();
        self.step = self.step.wrapping_add(1);
        if self.step == 0 {
            self.entered.fill(0);
            self.step = 1;
        }
    }

    /// Whether an instruction is new in this step.
    fn enters(&mut self, place: InstructionPlace) -> bool {
        match self.entered.get_mut(place as usize) {
            Some(last) if *last != self.step => {
                *last = self.step;
                true
            }
            _ => false,
        }
    }
}

/// The work of a step of one thread.
const STEP: u64 = 8;

/// The first match at or after a place of a text, that which the pattern prefers; where `any` is enough, its end may be
/// that of another one that begins later or ends earlier.
pub(super) fn find<M: Meter>(
    machine: &PatternMachine,
    text: &str,
    from: usize,
    any: bool,
    meter: &M,
) -> Result<Option<Range<usize>>, M::Stop> {
    meter.work(machine.len() as u64 / 4)?;
    meter.reserve(
        machine
            .len()
            .saturating_mul(4 * size_of::<(InstructionPlace, usize)>()),
    )?;
    let (mut ways, mut next) = (ThreadList::new(machine), ThreadList::new(machine));
    let mut stack = Vec::new();
    let mut best_match: Option<Range<usize>> = None;
    let mut at = from;
    let mut previous_character = text.get(..from).and_then(|text| text.chars().next_back());
    ways.clear();
    loop {
        let character = text.get(at..).and_then(|text| text.chars().next());
        let here = NeighborCharacters {
            before: previous_character,
            after: character,
        };
        if best_match.is_none() {
            let steps = follow(machine, (machine.start(), at), here, &mut ways, &mut stack);
            meter.work(STEP.saturating_mul(steps))?;
        } else if ways.ways.is_empty() {
            return Ok(best_match);
        }
        let end = at + character.map_or(1, char::len_utf8);
        let here = NeighborCharacters {
            before: character,
            after: text.get(end..).and_then(|text| text.chars().next()),
        };
        next.clear();
        for (place, began) in ways.ways.drain(..) {
            let lead = match machine.instruction(place) {
                PatternInstruction::Match => {
                    best_match = Some(began..at);
                    if any {
                        return Ok(best_match);
                    }
                    // Those after it are less preferred.
                    break;
                }
                PatternInstruction::Character(expected, lead) if character == Some(expected) => lead,
                PatternInstruction::Class(class, lead)
                    if character.is_some_and(|character| machine.class_holds(class, character)) =>
                {
                    lead
                }
                _ => {
                    meter.work(STEP)?;
                    continue;
                }
            };
            let steps = follow(machine, (lead, began), here, &mut next, &mut stack);
            meter.work(STEP.saturating_mul(steps))?;
        }
        std::mem::swap(&mut ways, &mut next);
        if character.is_none() {
            return Ok(best_match);
        }
        previous_character = character;
        at = end;
    }
}

/// The characters around a place.
#[derive(Clone, Copy)]
struct NeighborCharacters {
    before: Option<char>,
    after: Option<char>,
}

impl NeighborCharacters {
    fn is(self, look: Look) -> bool {
        let is_word = |character: Option<char>| {
            character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        match look {
            Look::Start => self.before.is_none(),
            Look::End => self.after.is_none(),
            Look::StartLF => matches!(self.before, None | Some('\n')),
            Look::EndLF => matches!(self.after, None | Some('\n')),
            Look::WordAscii => is_word(self.before) != is_word(self.after),
            Look::WordAsciiNegate => is_word(self.before) == is_word(self.after),
            // Go's patterns have no others.
            _ => false,
        }
    }
}

/// Adds all that an instruction leads to without a character; gives the number of instructions it came by.
fn follow(
    machine: &PatternMachine,
    (place, began): (InstructionPlace, usize),
    here: NeighborCharacters,
    ways: &mut ThreadList,
    stack: &mut Vec<InstructionPlace>,
) -> u64 {
    let mut steps = 0;
    stack.push(place);
    while let Some(place) = stack.pop() {
        steps += 1;
        if !ways.enters(place) {
            continue;
        }
        match machine.instruction(place) {
            PatternInstruction::Split(first, second) => stack.extend([second, first]),
            PatternInstruction::Look(look, lead) if here.is(look) => stack.push(lead),
            PatternInstruction::Look(..) | PatternInstruction::Fail => {}
            PatternInstruction::Match | PatternInstruction::Character(..) | PatternInstruction::Class(..) => {
                ways.ways.push((place, began));
            }
        }
    }
    steps
}
