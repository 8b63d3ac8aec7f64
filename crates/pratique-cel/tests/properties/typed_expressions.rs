//! Expressions of a wanted type over variables of declared types, without `dyn`.

use crate::choices::Choices;

/// The types that expressions are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Time,
    Span,
    Amount,
    Texts,
    Ints,
    Lists,
    Labels,
    Limits,
    MaybeText,
    MaybeInt,
}

use Of::*;

pub(crate) const ALL: [Of; 16] = [
    Bool, Int, Text, Texts, Ints, Labels, Limits, Lists, Uint, Double, Bytes, Time, Span, Amount, MaybeText,
    MaybeInt,
];

/// Makes expressions; holds the variables of comprehensions in scope.
pub(crate) struct Typed<'c, 'n> {
    choices: &'c mut Choices<'n>,
    locals: Vec<(String, Of)>,
    templates: fn(Of) -> &'static [&'static str],
    /// How often an expression is of any type but the wanted one.
    pub(crate) faulty: bool,
    /// Whether it makes no use of what the reference underestimates: sorting costs by pairs only up to a point, a text
    /// has one part more than separators, and an index of what is no variable costs one more.
    pub(crate) bounded: bool,
}

/// What the reference underestimates.
const UNDERESTIMATED: [&str; 11] = [
    "distinct", "sort", "slice", "join", "split", "flatten", "$N[", "$L[", "$M[", "$G[", "$X[",
];

/// Templates of expressions of a type: `$B`, `$I` … stand for expressions of types; `@T{…}` for a body that sees one
/// more variable of a type, named `%`.
fn templates(of: Of) -> &'static [&'static str] {
    match of {
        Bool => &[
            "true",
            "flag",
            "$I < $I",
            "$B && $B",
            "$B || $B",
            "!$B",
            "$I == $I",
            "$T == $T",
            "$T in $L",
            "$B ? $B : $B",
            "$L.all(@T{$B})",
            "$L.exists(@T{$B})",
            "$N.exists_one(@I{$B})",
            "$T.startsWith($T)",
            "$T.contains($T)",
            "$T.endsWith($T)",
            "$T.matches('^[a-c]+')",
            "$T.matches($T)",
            "$M.all(@T{$B})",
            "$T in $M",
            "$W < $W",
            "$S > $S",
            "$D <= $D",
            "$U >= $U",
            "$T < $T",
            "$Y == $Y",
            "$L == $L",
            "$M == $M",
            "$N != $N",
            "$A.isGreaterThan($A)",
            "$A.isInteger()",
            "isQuantity($T)",
            "$L.isSorted()",
            "$N.includes($I)",
            "sets.contains($L, $L)",
            "sets.intersects($N, $N)",
            "sets.equivalent($L, $L)",
            "$O.hasValue()",
            "has(thing.name)",
            "has(labels.a)",
            "isURL($T)",
            "isIP($T)",
            "isCIDR($T)",
            "isSemver($T)",
            "$W == $W",
            "$P == $P",
            "$X.exists(@L{$B})",
            "type($I) == type($I)",
            "$T != $T",
            "bool('true')",
            "$D == $D",
        ],
        Int => &[
            "1",
            "count",
            "$I + $I",
            "$I - $I",
            "$I * $I",
            "$I / $I",
            "$I % $I",
            "-$I",
            "$T.size()",
            "$L.size()",
            "size($M)",
            "$N[$I]",
            "$N[0]",
            "$B ? $I : $I",
            "$G[$T]",
            "limits.a",
            "thing.count",
            "int($T)",
            "int($D)",
            "int($U)",
            "int($W)",
            "$T.indexOf($T)",
            "$T.lastIndexOf($T)",
            "$N.sum()",
            "$N.max()",
            "$N.min()",
            "$N.indexOf($I)",
            "$L.lastIndexOf($T)",
            "$W.getFullYear()",
            "$W.getDayOfWeek('UTC')",
            "$S.getSeconds()",
            "sign($A)",
            "$A.asInteger()",
            "$A.compareTo($A)",
            "$P.orValue($I)",
            "$P.value()",
            "$N.first().orValue($I)",
            "size($Y)",
            "$W.getHours('+01:00')",
            "$S.getMilliseconds()",
            "9223372036854775807",
        ],
        Uint => &[
            "1u",
            "big",
            "$U + $U",
            "$U * $U",
            "$U - $U",
            "$U / $U",
            "uint($I)",
            "uint($T)",
            "$B ? $U : $U",
        ],
        Double => &[
            "1.5",
            "ratio",
            "$D + $D",
            "$D * $D",
            "$D / $D",
            "-$D",
            "double($I)",
            "double($T)",
            "$B ? $D : $D",
            "$A.asApproximateFloat()",
        ],
        Text => &[
            "'a'",
            "name",
            "$T + $T",
            "thing.name",
            "$L[0]",
            "$L[$I]",
            "$M[$T]",
            "labels.a",
            "$B ? $T : $T",
            "string($I)",
            "string($D)",
            "string($B)",
            "string($W)",
            "string($S)",
            "$T.lowerAscii()",
            "$T.upperAscii()",
            "$T.trim()",
            "$T.replace($T, $T)",
            "$T.replace($T, $T, $I)",
            "$T.substring($I)",
            "$T.substring($I, $I)",
            "$T.charAt($I)",
            "$L.join($T)",
            "$L.join()",
            "$T.find('[a-c]+')",
            "'%s-%d'.format([$T, $I])",
            "$O.orValue($T)",
            "$O.value()",
            "$L.min()",
            "$L.max()",
            "strings.quote($T)",
            "string($U)",
            "string($Y)",
            "$X[0][0]",
        ],
        Bytes => &["b'a'", "blob", "$Y + $Y", "bytes($T)", "$B ? $Y : $Y"],
        Time => &[
            "timestamp('2024-01-01T00:00:00Z')",
            "when",
            "$W + $S",
            "$W - $S",
            "timestamp($T)",
            "timestamp($I)",
        ],
        Span => &[
            "duration('1s')",
            "span",
            "$S + $S",
            "$S - $S",
            "$W - $W",
            "duration($T)",
        ],
        Amount => &[
            "quantity('1')",
            "amount",
            "$A.add($A)",
            "$A.sub($I)",
            "quantity($T)",
        ],
        Texts => &[
            "['a']",
            "names",
            "[$T, $T]",
            "$L + $L",
            "$L.map(@T{$T})",
            "$L.filter(@T{$B})",
            "$N.map(@I{$T})",
            "$L.map(@T{$B}, $T)",
            "$T.split($T)",
            "$T.split($T, $I)",
            "$T.findAll('[a-c]')",
            "$L.slice(0, 1)",
            "$L.slice($I, $I)",
            "$L.reverse()",
            "$L.distinct()",
            "$L.sort()",
            "$X.flatten()",
            "$X[0]",
            "thing.tags",
            "$M.map(@T{$T})",
            "$L.sortBy(@T{$I})",
            "$B ? $L : $L",
            "$M.transformList(k, v, v + k)",
            "[?$O, $T]",
        ],
        Ints => &[
            "[1]",
            "counts",
            "[$I, $I]",
            "$N + $N",
            "$L.map(@T{$I})",
            "$N.filter(@I{$B})",
            "lists.range(3)",
            "$N.sort()",
            "$N.distinct()",
            "$N.reverse()",
            "$X.map(@L{$I})",
            "$N.sortBy(@I{$T})",
            "$N.slice(0, $I)",
        ],
        Lists => &[
            "[['a']]",
            "lists_of_texts",
            "[$L, $L]",
            "$L.map(@T{$L})",
            "$X + $X",
            "$X.filter(@L{$B})",
        ],
        Labels => &[
            "{'a': 'b'}",
            "labels",
            "{$T: $T}",
            "$B ? $M : $M",
            "$M.transformMap(k, v, v + k)",
            "{?$T: $O}",
            "$L.transformMapEntry(i, v, {v: v})",
        ],
        Limits => &[
            "{'a': 1}",
            "limits",
            "{$T: $I}",
            "$M.transformMap(k, v, k.size())",
        ],
        MaybeText => &[
            "optional.of($T)",
            "optional.none()",
            "$M[?$T]",
            "labels.?a",
            "$L[?$I]",
            "$L.first()",
            "$L.last()",
            "$O.or($O)",
            "$O.optMap(x, x + x)",
            "optional.ofNonZeroValue($T)",
            "$O.optFlatMap(x, optional.of(x))",
        ],
        MaybeInt => &[
            "optional.of($I)",
            "$G[?$T]",
            "limits.?b",
            "$N[?0]",
            "$O.optMap(x, x.size())",
        ],
    }
}

/// Templates of expressions that evaluate all that is in them, and more of it the larger `name` and `names` are.
fn growing(of: Of) -> &'static [&'static str] {
    match of {
        Text => &[
            "'abc'",
            "name",
            "$T + $T",
            "$T.lowerAscii()",
            "$T.trim()",
            "$L.join($T)",
            "strings.quote($T)",
            "$T.replace('x', $T)",
        ],
        Texts => &[
            "['x']",
            "names",
            "[$T, $T]",
            "$L + $L",
            "$L.map(@T{$T})",
            "$L.filter(@T{true})",
            "$L.reverse()",
            "$T.findAll('x')",
        ],
        Bool => &[
            "true",
            "flag",
            "$L.all(@T{true})",
            "$T.startsWith($T)",
            "$T.contains($T)",
            "$T.matches('^x*')",
            "$T == $T",
            "$T in $L",
        ],
        _ => &["1", "count", "$T.size()", "$L.size()", "$I + $I"],
    }
}

impl<'c, 'n> Typed<'c, 'n> {
    pub(crate) fn new(choices: &'c mut Choices<'n>) -> Self {
        Typed {
            choices,
            locals: Vec::new(),
            templates,
            faulty: false,
            bounded: false,
        }
    }

    /// Makes expressions of which all is evaluated, whatever the data: what they cost only grows with it.
    pub(crate) fn growing(choices: &'c mut Choices<'n>) -> Self {
        Typed {
            templates: growing,
            ..Typed::new(choices)
        }
    }

    /// An expression of a type.
    pub(crate) fn expression(&mut self, of: Of, depth: usize) -> String {
        let of = if self.faulty && self.choices.below(6) == 5 {
            *self.choices.one(&ALL)
        } else {
            of
        };
        let locals: Vec<String> = self.named(of);
        if !locals.is_empty() && self.choices.below(3) == 1 {
            return self.choices.one(&locals).clone();
        }
        let templates = (self.templates)(of);
        // The first two of each have nothing within them.
        let count = if depth == 0 { 2 } else { templates.len() };
        let fits =
            |template: &&str| !self.bounded || !UNDERESTIMATED.iter().any(|word| template.contains(word));
        let templates: Vec<&str> = templates.iter().copied().take(count).filter(fits).collect();
        let template = *self.choices.one(&templates);
        let text = self.fill(template, depth);
        let operator = template.contains(" == ") || template.starts_with(['-', '!']);
        if operator || (template.contains(' ') && !template.ends_with([')', ']', '}'])) {
            format!("({text})")
        } else {
            text
        }
    }

    fn named(&self, wanted: Of) -> Vec<String> {
        let locals = self.locals.iter().filter(|(_, of)| *of == wanted);
        locals.map(|(name, _)| name.clone()).collect()
    }

    fn fill(&mut self, template: &str, depth: usize) -> String {
        let mut text = String::new();
        let mut rest = template.chars();
        while let Some(found) = rest.next() {
            match found {
                '$' => {
                    let of = rest.next().map_or(Bool, letter);
                    text += &self.expression(of, depth.saturating_sub(1));
                }
                '@' => {
                    let of = rest.next().map_or(Bool, letter);
                    let body: String = rest.by_ref().skip(1).take_while(|found| *found != '}').collect();
                    let name = format!("v{}", self.locals.len());
                    self.locals.push((name.clone(), of));
                    let body = self.fill(&body, depth);
                    self.locals.pop();
                    text += &format!("{name}, {body}");
                }
                other => text.push(other),
            }
        }
        text
    }
}

fn letter(letter: char) -> Of {
    match letter {
        'B' => Bool,
        'I' => Int,
        'U' => Uint,
        'D' => Double,
        'T' => Text,
        'Y' => Bytes,
        'W' => Time,
        'S' => Span,
        'A' => Amount,
        'L' => Texts,
        'N' => Ints,
        'X' => Lists,
        'M' => Labels,
        'G' => Limits,
        'O' => MaybeText,
        'P' => MaybeInt,
        other => unreachable!("{other} stands for no type"),
    }
}
