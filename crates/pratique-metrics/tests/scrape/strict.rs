//! A strict parser of both formats, which checks the order of metadata, suffixes, uniqueness and buckets.

use std::collections::{BTreeMap, BTreeSet};

use super::sample::{self, FormatError, Sample, check_name};

/// A parsed family.
#[derive(Debug, Default)]
pub(crate) struct MetricFamily {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) help: String,
    pub(crate) samples: Vec<Sample>,
}

/// Parses an OpenMetrics exposition.
pub(crate) fn openmetrics(text: &str) -> Result<Vec<MetricFamily>, FormatError> {
    let text = text.strip_suffix("# EOF\n").ok_or(FormatError::Missing("EOF"))?;
    if text.contains("# EOF") {
        return Err(FormatError::Misplaced("# EOF".into()));
    }
    let suffixes = |kind: &str| match kind {
        "counter" => Ok(&["_total", "_created"][..]),
        "gauge" | "unknown" => Ok(&[""][..]),
        "info" => Ok(&["_info"][..]),
        "histogram" => Ok(&["_bucket", "_sum", "_count"][..]),
        "summary" => Ok(&["", "_sum", "_count"][..]),
        _ => Err(FormatError::UnknownType(kind.into())),
    };
    families(text, suffixes)
}

/// Parses an exposition of the Prometheus text format.
pub(crate) fn text(text: &str) -> Result<Vec<MetricFamily>, FormatError> {
    let suffixes = |kind: &str| match kind {
        "counter" | "gauge" => Ok(&[""][..]),
        "histogram" => Ok(&["_bucket", "_sum", "_count"][..]),
        "summary" => Ok(&["", "_sum", "_count"][..]),
        _ => Err(FormatError::UnknownType(kind.into())),
    };
    families(text, suffixes)
}

type Suffixes = fn(&str) -> Result<&'static [&'static str], FormatError>;

fn families(text: &str, suffixes: Suffixes) -> Result<Vec<MetricFamily>, FormatError> {
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(FormatError::Missing("end of the last line"));
    }
    let mut all: Vec<MetricFamily> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or(FormatError::Missing("help"))?;
            check_name(name)?;
            all.push(MetricFamily {
                name: name.into(),
                help: help.into(),
                ..MetricFamily::default()
            });
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let family = all
                .last_mut()
                .ok_or_else(|| FormatError::Misplaced(line.into()))?;
            let (name, kind) = rest.split_once(' ').ok_or(FormatError::Missing("type"))?;
            if name != family.name || !family.kind.is_empty() || !family.samples.is_empty() {
                return Err(FormatError::Misplaced(line.into()));
            }
            family.kind = kind.into();
        } else if line.starts_with('#') {
            return Err(FormatError::Misplaced(line.into()));
        } else {
            let sample = sample::read(line)?;
            let family = all
                .last_mut()
                .ok_or_else(|| FormatError::Misplaced(line.into()))?;
            let suffix = sample
                .name
                .strip_prefix(&family.name)
                .ok_or_else(|| FormatError::Misplaced(line.into()))?;
            if !suffixes(&family.kind)?.contains(&suffix) {
                return Err(FormatError::BadSuffix(suffix.into()));
            }
            family.samples.push(sample);
        }
    }
    check_names(&all)?;
    all.iter().try_for_each(check_family)?;
    Ok(all)
}

/// Checks that no family has the name of a sample of another one.
fn check_names(all: &[MetricFamily]) -> Result<(), FormatError> {
    let mut names = BTreeSet::new();
    for family in all {
        let family_names: BTreeSet<&str> = family
            .samples
            .iter()
            .map(|sample| &*sample.name)
            .chain([&*family.name])
            .collect();
        for name in family_names {
            if !names.insert(name) {
                return Err(FormatError::SharedName(name.into()));
            }
        }
    }
    Ok(())
}

fn check_family(family: &MetricFamily) -> Result<(), FormatError> {
    let mut seen = BTreeSet::new();
    for sample in &family.samples {
        if !seen.insert((&sample.name, &sample.labels)) {
            return Err(FormatError::DuplicateSample(sample.name.clone()));
        }
        if sample.value.is_nan() && family.kind != "summary" {
            return Err(FormatError::BadValue(sample.name.clone()));
        }
        if ["counter", "histogram"].contains(&&*family.kind) && sample.value < 0.0 {
            return Err(FormatError::BadValue(sample.name.clone()));
        }
        if family.kind == "info" && sample.value != 1.0 {
            return Err(FormatError::BadValue(sample.name.clone()));
        }
    }
    check_contiguous(family)?;
    if family.kind == "histogram" {
        check_buckets(family)
    } else {
        Ok(())
    }
}

/// Checks that the samples of a series are contiguous.
fn check_contiguous(family: &MetricFamily) -> Result<(), FormatError> {
    let mut order: Vec<BTreeMap<String, String>> = Vec::new();
    for sample in &family.samples {
        let labels = series_labels(sample);
        if order.last() != Some(&labels) {
            if order.contains(&labels) {
                return Err(FormatError::NotContiguous(family.name.clone()));
            }
            order.push(labels);
        }
    }
    Ok(())
}

fn check_buckets(family: &MetricFamily) -> Result<(), FormatError> {
    let mut series: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        series.entry(series_labels(sample)).or_default().push(sample);
    }
    for samples in series.values() {
        let value = |suffix: &str| {
            samples
                .iter()
                .find(|sample| sample.name.ends_with(suffix))
                .map(|sample| sample.value)
        };
        let buckets: Vec<(f64, f64)> = samples
            .iter()
            .filter(|sample| sample.name.ends_with("_bucket"))
            .map(|sample| (sample::number(&sample.labels["le"]).unwrap(), sample.value))
            .collect();
        let rising = buckets
            .windows(2)
            .all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
        let last = buckets
            .last()
            .copied()
            .ok_or_else(|| FormatError::BadBuckets(family.name.clone()))?;
        if !rising || last.0 != f64::INFINITY || Some(last.1) != value("_count") || value("_sum").is_none() {
            return Err(FormatError::BadBuckets(family.name.clone()));
        }
    }
    Ok(())
}

/// The labels of the series of a sample.
fn series_labels(sample: &Sample) -> BTreeMap<String, String> {
    sample
        .labels
        .iter()
        .filter(|(name, _)| *name != "le" && *name != "quantile")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[test]
fn the_parser_is_strict() {
    use FormatError::*;

    let check = |given: &str, expected: FormatError| {
        assert_eq!(openmetrics(given).expect_err(given), expected, "{given:?}");
    };
    let head = "# HELP a b\n# TYPE a counter\n";
    let histogram = "# HELP a b\n# TYPE a histogram\n";
    let name = || "a".to_owned();
    check("", Missing("EOF"));
    check(&format!("{head}a 1\n# EOF\n"), BadSuffix(String::new()));
    check(
        &format!("{head}a_total 1\na_total 2\n# EOF\n"),
        DuplicateSample("a_total".into()),
    );
    check(
        &format!("{head}a_total{{x=\"\\q\"}} 1\n# EOF\n"),
        BadEscape(Some('q')),
    );
    check(
        &format!("{head}a_total{{x=\"1\",x=\"2\"}} 1\n# EOF\n"),
        DuplicateLabel("x".into()),
    );
    check(&format!("{head}a_total one\n# EOF\n"), BadNumber("one".into()));
    check("# TYPE a counter\n# EOF\n", Misplaced("# TYPE a counter".into()));
    check(&format!("{head}{head}# EOF\n"), SharedName(name()));
    check(
        &format!("{histogram}a_bucket{{le=\"1\"}} 2\na_bucket{{le=\"+Inf\"}} 1\na_count 1\na_sum 1\n# EOF\n"),
        BadBuckets(name()),
    );
    check(
        &format!("{histogram}a_bucket{{le=\"1\"}} 1\na_count 1\na_sum 1\n# EOF\n"),
        BadBuckets(name()),
    );
    check(
        &format!("{head}a_total{{x=\"1\"}} 1\na_total{{x=\"2\"}} 1\na_created{{x=\"1\"}} 1\n# EOF\n"),
        NotContiguous(name()),
    );
}
