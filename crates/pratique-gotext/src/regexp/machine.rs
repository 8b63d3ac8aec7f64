//! Matching one character at a time, for patterns that are too much for automata of bytes.
//!
//! An automaton of bytes needs hundreds of states for a class such as `\pL`, and cannot be stopped. This machine has one
//! instruction for it, as Go's has, follows all ways of matching at the same time in the order of their preference, and
//! accounts for each step.

use std::collections::HashMap;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Look, Repetition};

use super::meter::Meter;

/// A pattern as instructions.
#[derive(Debug)]
pub(super) struct PatternMachine {
    instructions: Vec<PatternInstruction>,
    classes: Vec<CharacterSet>,
    start: InstructionPlace,
}

/// The place of an instruction.
pub(super) type InstructionPlace = u32;

#[derive(Clone, Copy, Debug)]
pub(super) enum PatternInstruction {
    /// The pattern has matched.
    Match,
    /// No text leads on.
    Fail,
    /// This character leads on.
    Character(char, InstructionPlace),
    /// A character of a class leads on.
    Class(u32, InstructionPlace),
    /// Both ways lead on; the first is preferred.
    Split(InstructionPlace, InstructionPlace),
    /// This place of the text leads on.
    Look(Look, InstructionPlace),
}

/// The characters of a class.
#[derive(Debug)]
struct CharacterSet {
    /// A bit for each character of ASCII.
    ascii: u128,
    /// The others, in order.
    ranges: Vec<(char, char)>,
}

impl PatternMachine {
    /// The instructions of a pattern: about as many as Go has. Each is accounted for.
    pub(super) fn new<M: Meter>(hir: &Hir, meter: &M) -> Result<Self, M::Stop> {
        let machine = PatternMachine {
            instructions: vec![PatternInstruction::Match],
            classes: Vec::new(),
            start: 0,
        };
        let mut builder = MachineBuilder {
            machine,
            known: HashMap::new(),
            meter,
        };
        let start = builder.compile(hir, 0)?;
        Ok(PatternMachine {
            start,
            ..builder.machine
        })
    }

    /// How many instructions there are.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    pub(super) fn start(&self) -> InstructionPlace {
        self.start
    }

    pub(super) fn instruction(&self, place: InstructionPlace) -> PatternInstruction {
        let instruction = self.instructions.get(place as usize);
        instruction.copied().unwrap_or(PatternInstruction::Fail)
    }

    pub(super) fn class_holds(&self, class: u32, character: char) -> bool {
        let set = self.classes.get(class as usize);
        set.is_some_and(|set| set.holds(character))
    }
}

impl CharacterSet {
    fn new(class: &ClassUnicode) -> Self {
        let mut set = CharacterSet {
            ascii: 0,
            ranges: Vec::new(),
        };
        for range in class.ranges() {
            let (low, high) = (u32::from(range.start()), u32::from(range.end()));
            for code in low..=high.min(0x7F) {
                set.ascii |= 1 << code;
            }
            if high > 0x7F {
                set.ranges.push((range.start().max('\u{80}'), range.end()));
            }
        }
        set
    }

    fn holds(&self, character: char) -> bool {
        if character.is_ascii() {
            return self.ascii >> u32::from(character) & 1 == 1;
        }
        let after = self.ranges.partition_point(|(low, _)| *low <= character);
        let range = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|(_, high)| character <= *high)
    }
}

/// Compiles from the end to the start: each part is given the instruction after it.
struct MachineBuilder<'m, M> {
    machine: PatternMachine,
    /// Classes that are there already, by their address: repetitions have them again and again.
    known: HashMap<*const ClassUnicode, u32>,
    meter: &'m M,
}

/// The work of making an instruction.
const INSTRUCTION: u64 = 30;

/// The number of instructions that are made between two reservations of memory.
const PORTION: usize = 4_096;

impl<M: Meter> MachineBuilder<'_, M> {
    fn push(&mut self, instruction: PatternInstruction) -> Result<InstructionPlace, M::Stop> {
        let instructions = &mut self.machine.instructions;
        self.meter.work(INSTRUCTION)?;
        if instructions.len().is_multiple_of(PORTION) {
            let more = instructions.len() + PORTION;
            // Vectors grow by doubling.
            self.meter
                .reserve(more.saturating_mul(2 * size_of::<PatternInstruction>()))?;
        }
        let place = InstructionPlace::try_from(instructions.len()).unwrap_or(InstructionPlace::MAX);
        instructions.push(instruction);
        Ok(place)
    }

    fn set(&mut self, place: InstructionPlace, instruction: PatternInstruction) {
        if let Some(slot) = self.machine.instructions.get_mut(place as usize) {
            *slot = instruction;
        }
    }

    /// Parts nest no deeper than patterns may.
    fn compile(&mut self, hir: &Hir, next: InstructionPlace) -> Result<InstructionPlace, M::Stop> {
        match hir.kind() {
            HirKind::Empty => Ok(next),
            HirKind::Literal(literal) => self.literal(&literal.0, next),
            HirKind::Class(class) => self.class(class, next),
            HirKind::Look(look) => self.push(PatternInstruction::Look(*look, next)),
            HirKind::Repetition(repetition) => self.repetition(repetition, next),
            HirKind::Capture(capture) => self.compile(&capture.sub, next),
            HirKind::Concat(parts) => {
                let mut parts = parts.iter().rev();
                parts.try_fold(next, |next, part| self.compile(part, next))
            }
            HirKind::Alternation(parts) => {
                let mut parts = parts.iter().rev();
                let Some(last) = parts.next() else {
                    return self.push(PatternInstruction::Fail);
                };
                let last = self.compile(last, next)?;
                parts.try_fold(last, |others, part| {
                    let part = self.compile(part, next)?;
                    self.push(PatternInstruction::Split(part, others))
                })
            }
        }
    }

    /// Patterns are texts, and so are their literals.
    fn literal(&mut self, bytes: &[u8], next: InstructionPlace) -> Result<InstructionPlace, M::Stop> {
        let text = String::from_utf8_lossy(bytes);
        let mut characters = text.chars().rev();
        characters.try_fold(next, |next, character| {
            self.push(PatternInstruction::Character(character, next))
        })
    }

    fn class(&mut self, class: &Class, next: InstructionPlace) -> Result<InstructionPlace, M::Stop> {
        let Class::Unicode(class) = class else {
            // Patterns have no classes of bytes but the one without any.
            return self.push(PatternInstruction::Fail);
        };
        let place = match self.known.get(&std::ptr::from_ref(class)) {
            Some(place) => *place,
            None => {
                self.meter.work(8 * class.ranges().len() as u64)?;
                self.meter.reserve(size_of_val(class.ranges()))?;
                let place = u32::try_from(self.machine.classes.len()).unwrap_or(u32::MAX);
                self.machine.classes.push(CharacterSet::new(class));
                self.known.insert(std::ptr::from_ref(class), place);
                place
            }
        };
        self.push(PatternInstruction::Class(place, next))
    }

    fn repetition(
        &mut self,
        repetition: &Repetition,
        next: InstructionPlace,
    ) -> Result<InstructionPlace, M::Stop> {
        let Repetition { min, max, sub, .. } = repetition;
        let mut next = next;
        let mut required = *min;
        match max {
            Some(max) => {
                let after = next;
                for _ in *min..*max {
                    let part = self.compile(sub, next)?;
                    next = self.split(repetition, part, after)?;
                }
            }
            None if *min == 0 => return self.any_number(repetition, next),
            None => {
                next = self.more(repetition, next)?.0;
                required -= 1;
            }
        }
        for _ in 0..required {
            next = self.compile(sub, next)?;
        }
        Ok(next)
    }

    /// Any number of repetitions, none included. One that may match nothing is taken for `(?:x+)?`, so that what it prefers
    /// is kept.
    fn any_number(
        &mut self,
        repetition: &Repetition,
        next: InstructionPlace,
    ) -> Result<InstructionPlace, M::Stop> {
        let may_be_empty = repetition
            .sub
            .properties()
            .minimum_len()
            .is_none_or(|len| len == 0);
        let (part, again) = self.more(repetition, next)?;
        if may_be_empty {
            self.split(repetition, part, next)
        } else {
            Ok(again)
        }
    }

    /// At least one repetition, and the place where it is decided whether another one follows.
    fn more(
        &mut self,
        repetition: &Repetition,
        next: InstructionPlace,
    ) -> Result<(InstructionPlace, InstructionPlace), M::Stop> {
        let again = self.push(PatternInstruction::Fail)?;
        let part = self.compile(&repetition.sub, again)?;
        let (first, second) = ordered(repetition, part, next);
        self.set(again, PatternInstruction::Split(first, second));
        Ok((part, again))
    }

    fn split(
        &mut self,
        repetition: &Repetition,
        part: InstructionPlace,
        after: InstructionPlace,
    ) -> Result<InstructionPlace, M::Stop> {
        let (first, second) = ordered(repetition, part, after);
        self.push(PatternInstruction::Split(first, second))
    }
}

/// Another repetition and what follows all, the preferred one first.
fn ordered(
    repetition: &Repetition,
    part: InstructionPlace,
    after: InstructionPlace,
) -> (InstructionPlace, InstructionPlace) {
    if repetition.greedy {
        (part, after)
    } else {
        (after, part)
    }
}
