//! Which line of a template a line of what it makes is of.
//!
//! A template is text, and its lines come out in order: as they are, or with something in place of their actions
//! (`replicas: {{ .Values.replicas }}`). So the lines of a document are aligned with those of the template, where as much text as
//! possible stands in both, in the same order. What an action makes of its own accord, such as `{{ toYaml … }}`, is of the line of the
//! action.

use std::cmp::Reverse;
use std::ops::Range;

/// The most lines that are aligned by a table, of a template times a document: it has a cell for each pair. Of longer ones, such as
/// definitions of custom resources, what is the same at both ends is aligned without one.
const MAX_CELLS: usize = 4_000_000;

/// The least letters and digits of a line with actions by which it is recognized.
const MIN_LITERAL: usize = 2;

/// The line of the template for each line of a document.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::input) struct TemplateLines(Vec<Option<u32>>);

/// A line of a document.
struct MadeLine<'m> {
    text: &'m str,
    /// How many blanks are before it.
    indent: usize,
}

impl<'m> MadeLine<'m> {
    fn parse(line: &'m str) -> Self {
        MadeLine {
            text: line.trim(),
            indent: indent_of(line),
        }
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line of a template.
struct TemplateLine<'t> {
    /// How many blanks are before it: so many has each line that is made of its text.
    indent: usize,
    /// The text around its actions, of which the first and the last are at the ends of the line.
    literals: Vec<LiteralText<'t>>,
    /// The letters and digits of the text that is in each line made of it.
    letters: usize,
    /// Whether it has text by which it is recognized.
    is_recognized: bool,
    /// Whether it has an action that makes text.
    makes_text: bool,
    /// The least blanks before what its action makes, if it says so: `nindent 8`.
    made_indent: usize,
}

/// Text of a line of a template, between two actions or at an end.
struct LiteralText<'t> {
    text: &'t str,
    /// Whether it is within a condition or a loop that ends on the line: texts of both branches exclude each other.
    is_optional: bool,
}

impl LiteralText<'_> {
    fn letters(&self) -> usize {
        let letters = self.text.chars();
        letters.filter(|letter| letter.is_alphanumeric()).count()
    }
}

impl<'t> TemplateLine<'t> {
    fn parse(line: &'t str) -> Self {
        let indent = indent_of(line);
        let line = line.trim();
        let mut literals = Vec::new();
        let (mut makes_text, mut made_indent) = (false, 0);
        let mut rest = line;
        // Where the conditions and loops begin that have not ended.
        let mut open = Vec::new();
        let bound = |text| LiteralText {
            text,
            is_optional: false,
        };
        while let Some((literal, after)) = rest.split_once("{{") {
            let (action, behind) = after.split_once("}}").unwrap_or((after, ""));
            literals.push(bound(literal));
            makes_text |= is_output(action);
            made_indent = said_indent(action).unwrap_or(made_indent);
            match action_word(action) {
                "if" | "with" | "range" => open.push(literals.len()),
                "end" => {
                    let begin = open.pop().unwrap_or(literals.len());
                    let within = literals.iter_mut().skip(begin);
                    within.for_each(|literal| literal.is_optional = true);
                }
                _ => {}
            }
            rest = behind;
        }
        literals.push(bound(rest));
        let all_letters: usize = literals.iter().map(LiteralText::letters).sum();
        let bound_literals = literals.iter().filter(|literal| !literal.is_optional);
        TemplateLine {
            indent,
            letters: bound_literals.map(LiteralText::letters).sum(),
            is_recognized: match literals.as_slice() {
                [whole] => !whole.text.is_empty(),
                _ => all_letters >= MIN_LITERAL,
            },
            literals,
            makes_text,
            made_indent,
        }
    }

    /// Whether each line that is made of it has text by which it is recognized.
    fn has_bound_text(&self) -> bool {
        self.is_recognized && (self.literals.len() == 1 || self.letters >= MIN_LITERAL)
    }

    /// How well a line of a document is of this line; 0 if it is not. What is indented otherwise is of it if nothing else is.
    fn weight_of(&self, made: &MadeLine<'_>) -> u32 {
        let is_level = self.indent == made.indent;
        if !self.is_recognized || made.text.is_empty() {
            return 0;
        }
        let letters = match self.literals.as_slice() {
            [whole] => (whole.text == made.text).then_some(self.letters),
            _ => self
                .optional_letters(made.text)
                .map(|optional| self.letters + optional)
                .filter(|letters| *letters >= MIN_LITERAL),
        };
        let weight = letters.map_or(0, |letters| {
            1 + u32::try_from(letters).unwrap_or(u32::MAX).min(200)
        });
        match weight {
            0 => 0,
            weight => weight * 2 + u32::from(is_level),
        }
    }

    /// How many letters and digits of its conditional text are in a line; `None` if the line does not have the other text, in its
    /// order.
    fn optional_letters(&self, made: &str) -> Option<usize> {
        let [first, inner @ .., last] = self.literals.as_slice() else {
            return None;
        };
        let mut rest = made.strip_prefix(first.text)?.strip_suffix(last.text)?;
        let mut letters = 0;
        let mut pending: Vec<&LiteralText<'_>> = Vec::new();
        for literal in inner {
            if literal.is_optional {
                pending.push(literal);
                continue;
            }
            let (gap, behind) = rest.split_once(literal.text)?;
            letters += self.letters_within(gap, &std::mem::take(&mut pending))?;
            rest = behind;
        }
        Some(letters + self.letters_within(rest, &pending)?)
    }

    /// How many letters and digits of some conditional texts are in a part of a line; `None` if the part is of something else, where
    /// no action makes any text.
    fn letters_within(&self, gap: &str, optional: &[&LiteralText<'_>]) -> Option<usize> {
        let texts = optional.iter().filter(|literal| !literal.text.is_empty());
        let mut inside = texts.filter(|literal| gap.contains(literal.text)).peekable();
        let is_other = !gap.trim().is_empty() && !self.makes_text && inside.peek().is_none();
        (!is_other).then(|| inside.map(|literal| literal.letters()).sum())
    }
}

/// Whether an action makes text, rather than only deciding which text is made.
fn is_output(action: &str) -> bool {
    let decides = [
        "if", "else", "end", "range", "with", "define", "block", "break", "continue",
    ];
    let word = action_word(action);
    let action = action.trim_start_matches('-').trim_start();
    !(decides.contains(&word) || action.starts_with("/*") || action.contains(":="))
}

/// The first word of an action: `if`.
fn action_word(action: &str) -> &str {
    let action = action.trim_start_matches('-').trim_start();
    action.split([' ', '-', '\t']).next().unwrap_or_default()
}

/// The number behind `nindent` or `indent` in an action.
fn said_indent(action: &str) -> Option<usize> {
    let (_, number) = action.rsplit_once("indent ")?;
    let digits = number.trim_start();
    let end = digits.find(|digit: char| !digit.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

impl TemplateLines {
    /// Aligns the lines of a document with a template; `None` if nothing of them is in both. Of a template with several documents, it
    /// is the one that has the most text of it.
    pub(super) fn align(made: &[&str], template: &str) -> Option<Self> {
        let lines: Vec<TemplateLine<'_>> = template.lines().map(TemplateLine::parse).collect();
        let made: Vec<MadeLine<'_>> = made.iter().map(|line| MadeLine::parse(line)).collect();
        let all = cells(lines.len(), made.len());
        let mut budget = MAX_CELLS;
        let mut best: Option<TemplatePart<'_>> = None;
        for part in parts(&lines) {
            let part = TemplatePart::align(part, &made, &lines, (all > MAX_CELLS).then_some(&mut budget));
            if best.as_ref().map_or(0, |best| best.weight) < part.weight {
                best = Some(part);
            }
        }
        let places = best?.lines_of(&made);
        let numbers = places.into_iter().map(|place| u32::try_from(place? + 1).ok());
        Some(TemplateLines(numbers.collect()))
    }

    /// The line of the template, from 1, for a line of the document, from 0.
    pub(super) fn source_line(&self, made: u32) -> Option<u32> {
        *self.0.get(usize::try_from(made).ok()?)?
    }
}

/// The documents of a template, as ranges of its lines.
fn parts(lines: &[TemplateLine<'_>]) -> Vec<Range<usize>> {
    let is_end = |line: &TemplateLine<'_>| matches!(line.literals.as_slice(), [whole] if whole.text == "---");
    let mut begin = 0;
    let mut parts = Vec::new();
    for part in lines.split(is_end) {
        parts.push(begin..begin + part.len());
        begin += part.len() + 1;
    }
    parts
}

/// How many cells a table of some lines of a template and of a document has.
fn cells(lines: usize, made: usize) -> usize {
    (lines + 1).saturating_mul(made + 1)
}

/// An end of some lines.
#[derive(Clone, Copy)]
enum LinesEnd {
    First,
    Last,
}

impl LinesEnd {
    /// The line at this end.
    fn line(self, lines: &Range<usize>) -> Option<usize> {
        match self {
            _ if lines.is_empty() => None,
            LinesEnd::First => Some(lines.start),
            LinesEnd::Last => lines.end.checked_sub(1),
        }
    }

    /// Leaves the line at this end out.
    fn leave(self, lines: &mut Range<usize>) {
        match self {
            LinesEnd::First => lines.next(),
            LinesEnd::Last => lines.next_back(),
        };
    }
}

/// A document of a template, and which of its lines those of a document that was made of it are.
struct TemplatePart<'t> {
    lines: &'t [TemplateLine<'t>],
    /// The number of its first line, from 0.
    begin: usize,
    /// How much text is in both.
    weight: u32,
    aligned: Vec<Option<usize>>,
    /// The lines of the document that are too many to be aligned.
    skipped: Range<usize>,
}

impl<'t> TemplatePart<'t> {
    /// Finds the alignment with the most text in both; with a budget of cells, only between what is the same at both ends, and as far
    /// as the budget suffices.
    fn align(
        range: Range<usize>,
        made: &[MadeLine<'_>],
        lines: &'t [TemplateLine<'t>],
        budget: Option<&mut usize>,
    ) -> Self {
        let begin = range.start;
        let lines = lines.get(range).unwrap_or_default();
        let mut part = TemplatePart {
            lines,
            begin,
            weight: 0,
            aligned: vec![None; made.len()],
            skipped: 0..0,
        };
        let (mut rows, mut columns) = (0..made.len(), 0..lines.len());
        if let Some(budget) = budget {
            for end in [LinesEnd::First, LinesEnd::Last] {
                part.align_end(end, made, &mut rows, &mut columns);
            }
            match budget.checked_sub(cells(rows.len(), columns.len())) {
                Some(rest) => *budget = rest,
                None => {
                    part.skipped = rows;
                    return part;
                }
            }
        }
        part.align_between(made, rows, columns);
        part
    }

    /// Aligns what is the same at one end, beside lines without text, and leaves what is behind it.
    fn align_end(
        &mut self,
        end: LinesEnd,
        made: &[MadeLine<'_>],
        rows: &mut Range<usize>,
        columns: &mut Range<usize>,
    ) {
        while let (Some(row), Some(column)) = (end.line(rows), end.line(columns)) {
            let (Some(text), Some(line)) = (made.get(row), self.lines.get(column)) else {
                return;
            };
            match (line.weight_of(text), text.text.is_empty()) {
                (0, true) => end.leave(rows),
                (0, false) if !line.has_bound_text() => end.leave(columns),
                (0, false) => return,
                (weight, _) => {
                    self.set(row, column, weight);
                    end.leave(rows);
                    end.leave(columns);
                }
            }
        }
    }

    fn set(&mut self, row: usize, column: usize, weight: u32) {
        self.weight = self.weight.saturating_add(weight);
        if let Some(place) = self.aligned.get_mut(row) {
            *place = Some(column);
        }
    }

    /// Aligns some lines so that the most text is in both.
    fn align_between(&mut self, made: &[MadeLine<'_>], rows: Range<usize>, columns: Range<usize>) {
        let (first_row, first_column) = (rows.start, columns.start);
        let made = made.get(rows).unwrap_or_default();
        let lines = self.lines.get(columns).unwrap_or_default();
        let width = lines.len() + 1;
        // The most weight of what follows a line of the document and one of the template.
        let mut most = vec![0_u32; width * (made.len() + 1)];
        let at = |row: usize, column: usize| row * width + column;
        let get = |most: &[u32], cell: usize| most.get(cell).copied().unwrap_or_default();
        for (row, text) in made.iter().enumerate().rev() {
            for (column, line) in lines.iter().enumerate().rev() {
                let weight = line.weight_of(text);
                let both = if weight > 0 {
                    weight.saturating_add(get(&most, at(row + 1, column + 1)))
                } else {
                    0
                };
                let best = both
                    .max(get(&most, at(row + 1, column)))
                    .max(get(&most, at(row, column + 1)));
                if let Some(cell) = most.get_mut(at(row, column)) {
                    *cell = best;
                }
            }
        }
        let (mut row, mut column) = (0, 0);
        while let (Some(text), Some(line)) = (made.get(row), lines.get(column)) {
            let here = get(&most, at(row, column));
            let weight = line.weight_of(text);
            if weight > 0 && here == weight.saturating_add(get(&most, at(row + 1, column + 1))) {
                self.set(first_row + row, first_column + column, weight);
                (row, column) = (row + 1, column + 1);
            } else if here == get(&most, at(row + 1, column)) {
                row += 1;
            } else {
                column += 1;
            }
        }
    }

    /// The lines of the template, from 0, for those of the document: the one that it is aligned with, or one that a loop made again,
    /// or else the action between the lines around it; `None` where nothing tells.
    fn lines_of(&self, made: &[MadeLine<'_>]) -> Vec<Option<usize>> {
        let mut next = None;
        let mut below: Vec<Option<usize>> = self
            .aligned
            .iter()
            .rev()
            .map(|line| {
                next = line.or(next);
                next
            })
            .collect();
        below.reverse();
        let (mut above, mut action) = (None, None);
        let mut budget = MAX_CELLS;
        let rows = made.iter().zip(&self.aligned).zip(below).enumerate();
        rows.map(|(index, ((text, aligned), below))| {
            if self.skipped.contains(&index) {
                return None;
            }
            if aligned.is_some() {
                (above, action) = (*aligned, None);
            }
            let line = aligned.or_else(|| {
                budget = budget.checked_sub(self.lines.len())?;
                self.unaligned_line(text, (above, below), &mut action)
            });
            line.map(|line| self.begin + line)
        })
        .collect()
    }

    /// The line of the template for one that is aligned with none, between those around it. What follows the lines of an action is of it
    /// or of a later one.
    fn unaligned_line(
        &self,
        made: &MadeLine<'_>,
        (above, below): (Option<usize>, Option<usize>),
        action: &mut Option<usize>,
    ) -> Option<usize> {
        let nearest = |of: &dyn Fn(&TemplateLine<'_>) -> bool| {
            let lines = self.lines.iter().enumerate().filter(|(_, line)| of(line));
            let weights = lines.map(|(index, line)| (index, line.weight_of(made)));
            let of_line = weights.filter(|(_, weight)| *weight > 0);
            let near = |index: usize| Reverse(above.unwrap_or_default().abs_diff(index));
            let best = of_line.max_by_key(|(index, weight)| (*weight, near(*index)));
            best.map(|(index, _)| index)
        };
        if let Some(level) = nearest(&|line| line.indent == made.indent) {
            return Some(level);
        }
        let first = action.or(above.map(|above| above + 1)).unwrap_or_default();
        let end = below.unwrap_or(self.lines.len());
        let between = self.lines.iter().enumerate().take(end).skip(first);
        let mut actions = between
            .filter(|(_, line)| line.makes_text)
            .map(|(index, _)| index);
        let may_make = |index: &usize| {
            self.lines
                .get(*index)
                .is_some_and(|line| line.made_indent <= made.indent)
        };
        match actions.clone().find(may_make).or_else(|| actions.next()) {
            Some(index) => {
                *action = Some(index);
                Some(index)
            }
            // A line that is wrong is worse than none.
            None => nearest(&|_| true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "shop.fullname" . }}
  labels:
    {{- include "shop.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      containers:
      {{- range .Values.containers }}
      - name: {{ .name }}
        image: "{{ .repository }}:{{ .tag }}"
      {{- end }}
      hostNetwork: true
{{- end }}
"#;

    /// The lines of a document, each with that of the template behind a bar.
    #[track_caller]
    fn check(template: &str, expected: &str) {
        let rows: Vec<(&str, &str)> = expected
            .lines()
            .filter_map(|line| line.split_once(" |"))
            .collect();
        let made: Vec<&str> = rows.iter().map(|(made, _)| made.trim_end()).collect();
        let lines = TemplateLines::align(&made, template).unwrap();
        for (index, (made, line)) in rows.iter().enumerate() {
            let found = lines.source_line(u32::try_from(index).unwrap());
            assert_eq!(found, line.trim().parse().ok(), "{made}");
        }
    }

    #[test]
    fn lines_are_those_of_the_template() {
        check(
            TEMPLATE,
            "apiVersion: apps/v1               |2
             kind: Deployment                  |3
             metadata:                         |4
               name: release-name-shop         |5
               labels:                         |6
                 app: shop                     |7
                 helm.sh/chart: shop-0.1.0     |7
             spec:                             |8
               replicas: 3                     |9
               template:                       |10
                 spec:                         |11
                   containers:                 |12
                   - name: a                   |14
                     image: \"x/a:1\"          |15
                   - name: b                   |14
                     image: \"x/b:2\"          |15
                   hostNetwork: true           |17",
        );
    }

    /// Of a condition on a line, one branch is made.
    #[test]
    fn branches_on_a_line_are_of_it() {
        let template = "\
spec:
  containers:
  - name: a
    image: {{ .Values.image }}
    imagePullPolicy: {{ if .Values.fresh }}Always{{ else }}IfNotPresent{{ end }}
    command: [run{{ if .Values.debug }}, --debug{{ end }}{{ range .Values.more }}, {{ . }}{{ end }}]
    {{ if .Values.tty }}tty: true{{ else }}stdin: true{{ end }}
  - name: b
    imagePullPolicy: {{ if .Values.fresh }}Always{{ else }}Never{{ end }}
";
        for (policy, command, other, last) in [
            ("Always", "[run]", "tty: true", "Always"),
            ("IfNotPresent", "[run, --debug]", "stdin: true", "Never"),
            ("Always", "[run, --debug, a, b]", "stdin: true", "Always"),
        ] {
            check(
                template,
                &format!(
                    "spec: |1
  containers: |2
  - name: a |3
    image: a |4
    imagePullPolicy: {policy} |5
    command: {command} |6
    {other} |7
  - name: b |8
    imagePullPolicy: {last} |9"
                ),
            );
        }
        // The one that has the text, however near the other is.
        check(
            "kind: Pod\npolicy: {{ if .a }}Always{{ else }}Never{{ end }}\npolicy: {{ if .a }}Once{{ else }}Twice{{ end }}\n",
            "kind: Pod |1
policy: Twice |3",
        );
    }

    /// What an action makes may look like a line elsewhere, which is indented otherwise.
    #[test]
    fn lines_of_an_action_are_no_others() {
        let template = "spec:\n  containers:\n    - name: {{ .Values.name }}\n      env:\n        - name: A\n          valueFrom:\n            \
                        name: {{ .Values.secret }}\n  volumes:\n    {{- toYaml .Values.volumes | nindent 4 }}\n";
        check(
            template,
            "spec:                   |1
  containers:           |2
    - name: a           |3
      env:              |4
        - name: A       |5
          valueFrom:    |6
            name: b     |7
  volumes:              |8
    - emptyDir: {}      |9
      name: c           |9",
        );
        // Of several actions in a row, the indentation tells the one.
        check(
            "containers:\n- name: a\n  securityContext:\n    {{- toYaml .Values.context | nindent 4 }}\n{{- with .Values.extra }}\n\
             {{- tpl (toYaml .) $ | nindent 0 }}\n{{- end }}\nhostNetwork: true\n",
            "containers:             |1
- name: a               |2
  securityContext:      |3
    privileged: true    |4
- image: b              |6
  ports:                |6
    - containerPort: 1  |6
hostNetwork: true       |8",
        );
    }

    #[test]
    fn of_several_objects_each_is_at_its_lines() {
        let template = "kind: Service\nmetadata:\n  name: {{ .Release.Name }}-web\nspec:\n  type: NodePort\n---\n\
                        kind: Service\nmetadata:\n  name: {{ .Release.Name }}-db\nspec:\n  type: NodePort\n";
        check(
            template,
            "kind: Service         |1
             metadata:             |2
               name: a-web         |3
             spec:                 |4
               type: NodePort      |5",
        );
        check(
            template,
            "kind: Service         |7
             metadata:             |8
               name: a-db          |9
             spec:                 |10
               type: NodePort      |11",
        );
    }

    #[test]
    fn nothing_is_said_of_what_has_nothing_in_common() {
        assert_eq!(TemplateLines::align(&["kind: Pod"], "{{ .Values.all }}"), None);
        assert_eq!(TemplateLines::align(&[], TEMPLATE), None);
    }

    /// Definitions of custom resources have tens of thousands of lines, most of them as they are.
    #[test]
    fn long_documents_are_aligned_from_their_ends() {
        let body: String = (0..9000)
            .map(|number| format!("    field{number}:\n      type: string\n"))
            .collect();
        let head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n";
        let template = format!(
            "{{{{- if .Values.crds }}}}\n{head}  labels:\n    {{{{- include \"labels\" . | nindent 4 }}}}\n  name: a\nspec:\n{body}{{{{- end }}}}\n"
        );
        let document = format!("{head}  labels:\n    app: a\n  name: a\nspec:\n{body}");
        let made: Vec<&str> = document.lines().collect();
        let lines = TemplateLines::align(&made, &template).unwrap();
        for (index, expected) in [(0, 2), (3, 5), (4, 6), (5, 7), (7, 9), (18_006, 18_008)] {
            assert_eq!(
                lines.source_line(index),
                Some(expected),
                "{}",
                made[index as usize]
            );
        }
        // One line of a template may make any number.
        let many = format!("kind: ConfigMap\n{}", "  a: b\n".repeat(100_000));
        let made: Vec<&str> = many.lines().collect();
        let lines = TemplateLines::align(&made, "kind: ConfigMap\n{{ .Values.all }}\n").unwrap();
        assert_eq!(
            (lines.source_line(0), lines.source_line(100_000)),
            (Some(1), Some(2))
        );
        // What is between the ends is not aligned if it is too much.
        let made: Vec<&str> = document.lines().rev().collect();
        let reversed = TemplateLines::align(&made, &template);
        assert!(reversed.is_none_or(|lines| lines.source_line(9000).is_none()));
    }
}
