//! The Prometheus text format 0.0.4, byte for byte as an API server writes it.

use std::fmt::{self, Display, Formatter};

use crate::snapshot::{MetricFamily, MetricKind, MetricSeries, SeriesValue};

/// Families in the text format, in the order in which they are given: those of [`Metrics`](crate::Metrics), or any others.
#[must_use]
pub fn write(families: &[MetricFamily]) -> String {
    families
        .iter()
        .map(|family| FamilyText(family).to_string())
        .collect()
}

/// The samples of a series.
pub(crate) fn samples<'a>(family: &'a MetricFamily, series: &'a MetricSeries) -> impl Display + 'a {
    fmt::from_fn(move |out| write_samples(out, family.name, series))
}

/// A number in the shortest form of Go's `strconv`.
pub(crate) fn number(value: f64) -> impl Display {
    pratique_gotext::strconv::general_form(value)
}

struct FamilyText<'a>(&'a MetricFamily);

impl Display for FamilyText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.0.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge | MetricKind::Info => "gauge",
            MetricKind::Histogram => "histogram",
            MetricKind::Summary => "summary",
        };
        writeln!(out, "# HELP {} {}", self.0.name, EscapedText(self.0.help, false))?;
        writeln!(out, "# TYPE {} {kind}", self.0.name)?;
        self.0
            .series
            .iter()
            .try_for_each(|series| write_samples(out, self.0.name, series))
    }
}

fn write_samples(out: &mut Formatter<'_>, name: &str, series: &MetricSeries) -> fmt::Result {
    let plain = BracedLabels(&series.labels, None);
    match &series.value {
        SeriesValue::Counter(count) => writeln!(out, "{name}{plain} {}", whole(*count)),
        SeriesValue::Gauge(value) => writeln!(out, "{name}{plain} {}", number(*value)),
        SeriesValue::Histogram(distribution) => {
            let mut within = 0;
            for (bound, count) in &distribution.buckets {
                within += count;
                let labels = BracedLabels(&series.labels, Some(("le", *bound)));
                writeln!(out, "{name}_bucket{labels} {}", whole(within))?;
            }
            writeln!(out, "{name}_sum{plain} {}", number(distribution.sum))?;
            writeln!(out, "{name}_count{plain} {}", whole(distribution.count))
        }
        SeriesValue::Summary(quantiles) => {
            for (quantile, value) in &quantiles.quantiles {
                let labels = BracedLabels(&series.labels, Some(("quantile", *quantile)));
                writeln!(out, "{name}{labels} {}", number(*value))?;
            }
            writeln!(out, "{name}_sum{plain} {}", number(quantiles.sum))?;
            writeln!(out, "{name}_count{plain} {}", whole(quantiles.count))
        }
    }
}

/// Labels in braces, if there are any, with an additional numeric label.
struct BracedLabels<'a>(&'a [(&'static str, String)], Option<(&'static str, f64)>);

impl Display for BracedLabels<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut separator = "{";
        for (name, value) in self.0 {
            write!(out, "{separator}{name}=\"{}\"", EscapedText(value, true))?;
            separator = ",";
        }
        if let Some((name, value)) = self.1 {
            write!(out, "{separator}{name}=\"{}\"", number(value))?;
            separator = ",";
        }
        if separator == "," {
            out.write_str("}")
        } else {
            Ok(())
        }
    }
}

/// Text with backslashes and line feeds escaped, and quotes if it is quoted.
struct EscapedText<'a>(&'a str, bool);

impl Display for EscapedText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(['\\', '\n', '"']) {
            match (part.strip_suffix(['\\', '\n', '"']), part.chars().next_back()) {
                (Some(plain), Some('\\')) => write!(out, "{plain}\\\\")?,
                (Some(plain), Some('\n')) => write!(out, "{plain}\\n")?,
                (Some(plain), Some('"')) if self.1 => write!(out, "{plain}\\\"")?,
                _ => out.write_str(part)?,
            }
        }
        Ok(())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts are floating point numbers in this format"
)]
fn whole(count: u64) -> impl Display {
    number(count as f64)
}

#[cfg(test)]
mod tests {
    use super::EscapedText;

    #[test]
    fn text_is_escaped() {
        let check =
            |text, quoted, expected: &str| assert_eq!(EscapedText(text, quoted).to_string(), expected);
        check("plain", true, "plain");
        check("a\"b\\c\nd\\", true, r#"a\"b\\c\nd\\"#);
        check("a\"b\\c\nd", false, r#"a"b\\c\nd"#);
        check("", true, "");
    }
}
