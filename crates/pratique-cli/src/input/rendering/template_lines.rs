//! Which line of a template a line of what it makes is of.
//!
//! A template is text, and its lines come out in order: as they are, or with something in place of their actions
//! (`replicas: {{ .Values.replicas }}`). So the lines of a document are aligned with those of the template, where as much text as
//! possible stands in both, in the same order. What an action makes of its own accord, such as `{{ toYaml … }}`, is of the line of the
//! action.

use std::cmp::Reverse;
use std::ops::Range;

/// The most lines that are aligned, of a template times a document: a table has a cell for each pair.
const MAX_CELLS: usize = 4_000_000;

/// The least letters and digits of a line with actions by which it is recognized.
const MIN_LITERAL: usize = 2;

/// The line of the template for each line of a document.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::input) struct TemplateLines(Vec<Option<u32>>);

/// A line of a template.
struct TemplateLine<'t> {
    /// The text around its actions, of which the first and the last are at the ends of the line.
    literals: Vec<&'t str>,
    /// How much of it is text.
    weight: u32,
    /// Whether it has an action that makes text.
    makes_text: bool,
}

impl<'t> TemplateLine<'t> {
    fn parse(line: &'t str) -> Self {
        let line = line.trim();
        let mut literals = Vec::new();
        let mut makes_text = false;
        let mut rest = line;
        while let Some((literal, after)) = rest.split_once("{{") {
            let (action, behind) = after.split_once("}}").unwrap_or((after, ""));
            literals.push(literal);
            makes_text |= is_output(action);
            rest = behind;
        }
        literals.push(rest);
        let count = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let letters: usize = literals.iter().map(|literal| count(literal)).sum();
        let is_recognized = match literals.as_slice() {
            [whole] => !whole.is_empty(),
            _ => letters >= MIN_LITERAL,
        };
        let weight = if is_recognized {
            1 + u32::try_from(letters).unwrap_or(u32::MAX).min(200)
        } else {
            0
        };
        TemplateLine {
            literals,
            weight,
            makes_text,
        }
    }

    /// How well a line of a document is of this line; 0 if it is not.
    fn weight_of(&self, made: &str) -> u32 {
        if self.weight == 0 || made.is_empty() {
            return 0;
        }
        let is_of = match self.literals.as_slice() {
            [] => false,
            [whole] => *whole == made,
            [first, inner @ .., last] => {
                let rest = made.strip_prefix(first);
                let rest = inner.iter().try_fold(rest, |rest, literal| {
                    let (_, behind) = rest?.split_once(literal)?;
                    Some(Some(behind))
                });
                rest.flatten().is_some_and(|rest| rest.ends_with(last))
            }
        };
        if is_of { self.weight } else { 0 }
    }
}

/// Whether an action makes text, rather than only deciding which text is made.
fn is_output(action: &str) -> bool {
    let action = action.trim_start_matches('-').trim_start();
    let word = action.split([' ', '-', '\t']).next().unwrap_or_default();
    let decides = [
        "if", "else", "end", "range", "with", "define", "block", "break", "continue",
    ];
    !(decides.contains(&word) || action.starts_with("/*") || action.contains(":="))
}

impl TemplateLines {
    /// Aligns the lines of a document with a template; `None` if they are too many, or nothing of them is in both. Of a template
    /// with several documents, it is the one that has the most text of it.
    pub(super) fn align(made: &[&str], template: &str) -> Option<Self> {
        let lines: Vec<TemplateLine<'_>> = template.lines().map(TemplateLine::parse).collect();
        let made: Vec<&str> = made.iter().map(|line| line.trim()).collect();
        if (lines.len() + 1).checked_mul(made.len() + 1)? > MAX_CELLS {
            return None;
        }
        let mut best: Option<TemplatePart<'_>> = None;
        for part in parts(&lines) {
            let part = TemplatePart::align(part, &made, &lines);
            if best.as_ref().map_or(0, |best| best.weight) < part.weight {
                best = Some(part);
            }
        }
        let part = best?;
        let placed = (0..made.len()).map(|index| {
            let line = part.line(index, &made)?;
            u32::try_from(line + 1).ok()
        });
        Some(TemplateLines(placed.collect()))
    }

    /// The line of the template, from 1, for a line of the document, from 0.
    pub(super) fn source_line(&self, made: u32) -> Option<u32> {
        *self.0.get(usize::try_from(made).ok()?)?
    }
}

/// The documents of a template, as ranges of its lines.
fn parts(lines: &[TemplateLine<'_>]) -> Vec<Range<usize>> {
    let is_end = |line: &TemplateLine<'_>| line.literals.as_slice() == ["---"];
    let mut begin = 0;
    let mut parts = Vec::new();
    for part in lines.split(is_end) {
        parts.push(begin..begin + part.len());
        begin += part.len() + 1;
    }
    parts
}

/// A document of a template, and which of its lines those of a document that was made of it are.
struct TemplatePart<'t> {
    lines: &'t [TemplateLine<'t>],
    /// The number of its first line, from 0.
    begin: usize,
    /// How much text is in both.
    weight: u32,
    aligned: Vec<Option<usize>>,
}

impl<'t> TemplatePart<'t> {
    /// Finds the alignment with the most text in both.
    fn align(range: Range<usize>, made: &[&str], lines: &'t [TemplateLine<'t>]) -> Self {
        let begin = range.start;
        let lines = lines.get(range).unwrap_or_default();
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
        let mut aligned = vec![None; made.len()];
        let (mut row, mut column) = (0, 0);
        while let (Some(text), Some(line)) = (made.get(row), lines.get(column)) {
            let here = get(&most, at(row, column));
            let weight = line.weight_of(text);
            if weight > 0 && here == weight.saturating_add(get(&most, at(row + 1, column + 1))) {
                if let Some(place) = aligned.get_mut(row) {
                    *place = Some(column);
                }
                (row, column) = (row + 1, column + 1);
            } else if here == get(&most, at(row + 1, column)) {
                row += 1;
            } else {
                column += 1;
            }
        }
        TemplatePart {
            lines,
            begin,
            weight: get(&most, 0),
            aligned,
        }
    }

    /// The line of the template, from 0, for one of the document: the one that it is aligned with, or one that a loop made again, or
    /// else the action between the lines around it, or else the line above.
    fn line(&self, index: usize, made: &[&str]) -> Option<usize> {
        let is_of = (*self.aligned.get(index)?).or_else(|| self.unaligned_line(index, made));
        is_of.map(|line| self.begin + line)
    }

    fn unaligned_line(&self, index: usize, made: &[&str]) -> Option<usize> {
        let above = self.aligned.get(..index)?.iter().rev().find_map(|line| *line);
        let below = self.aligned.get(index..)?.iter().find_map(|line| *line);
        let text = made.get(index)?;
        let weights = self.lines.iter().map(|line| line.weight_of(text)).enumerate();
        let repeated = weights
            .filter(|(_, weight)| *weight > 0)
            .max_by_key(|(line, weight)| (*weight, Reverse(above.unwrap_or_default().abs_diff(*line))));
        if let Some((line, _)) = repeated {
            return Some(line);
        }
        let first = above.map_or(0, |above| above + 1);
        let end = below.unwrap_or(self.lines.len());
        let mut between = self.lines.iter().enumerate().take(end).skip(first);
        let action = between.find(|(_, line)| line.makes_text);
        action.map(|(line, _)| line).or(above)
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
        let many = "a: b\n".repeat(3000);
        let made: Vec<&str> = many.lines().collect();
        assert_eq!(TemplateLines::align(&made, &many), None);
    }
}
