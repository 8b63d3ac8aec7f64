//! A strict reader of both formats: order of metadata, suffixes, uniqueness, buckets.

use std::collections::{BTreeMap, BTreeSet};

use super::sample::{self, Sample, check_name};

/// A family as it is written.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) help: String,
    pub(crate) samples: Vec<Sample>,
}

/// Reads an exposition of OpenMetrics.
pub(crate) fn openmetrics(text: &str) -> Result<Vec<Family>, String> {
    let text = text.strip_suffix("# EOF\n").ok_or("no EOF at the end")?;
    if text.contains("# EOF") {
        return Err("EOF in the middle".into());
    }
    let suffixes = |kind: &str| match kind {
        "counter" => Ok(&["_total", "_created"][..]),
        "gauge" | "unknown" => Ok(&[""][..]),
        "info" => Ok(&["_info"][..]),
        "histogram" => Ok(&["_bucket", "_sum", "_count"][..]),
        "summary" => Ok(&["", "_sum", "_count"][..]),
        _ => Err(format!("type {kind:?}")),
    };
    families(text, suffixes)
}

/// Reads an exposition of the older text format.
pub(crate) fn text(text: &str) -> Result<Vec<Family>, String> {
    let suffixes = |kind: &str| match kind {
        "counter" | "gauge" => Ok(&[""][..]),
        "histogram" => Ok(&["_bucket", "_sum", "_count"][..]),
        "summary" => Ok(&["", "_sum", "_count"][..]),
        _ => Err(format!("type {kind:?}")),
    };
    families(text, suffixes)
}

type Suffixes = fn(&str) -> Result<&'static [&'static str], String>;

fn families(text: &str, suffixes: Suffixes) -> Result<Vec<Family>, String> {
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line has no end".into());
    }
    let mut all: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').ok_or("no help")?;
            check_name(name)?;
            all.push(Family {
                name: name.into(),
                help: help.into(),
                ..Family::default()
            });
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let family = all.last_mut().ok_or("type before help")?;
            let (name, kind) = rest.split_once(' ').ok_or("no type")?;
            if name != family.name || !family.kind.is_empty() || !family.samples.is_empty() {
                return Err(format!("misplaced {line:?}"));
            }
            family.kind = kind.into();
        } else if line.starts_with('#') {
            return Err(format!("unexpected {line:?}"));
        } else {
            let sample = sample::read(line).map_err(|error| format!("{error} in {line:?}"))?;
            let family = all.last_mut().ok_or("sample before help")?;
            let suffix = sample
                .name
                .strip_prefix(&family.name)
                .ok_or(format!("{line:?} in {}", family.name))?;
            if !suffixes(&family.kind)?.contains(&suffix) {
                return Err(format!("suffix {suffix:?} in a {}", family.kind));
            }
            family.samples.push(sample);
        }
    }
    check_names(&all)?;
    all.iter().try_for_each(check_family)?;
    Ok(all)
}

/// No family may have the name of a sample of another.
fn check_names(all: &[Family]) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for family in all {
        let own: BTreeSet<&str> = family
            .samples
            .iter()
            .map(|sample| &*sample.name)
            .chain([&*family.name])
            .collect();
        for name in own {
            if !names.insert(name) {
                return Err(format!("{name} belongs to two families"));
            }
        }
    }
    Ok(())
}

fn check_family(family: &Family) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for sample in &family.samples {
        if !seen.insert((&sample.name, &sample.labels)) {
            return Err(format!("{} {:?} twice", sample.name, sample.labels));
        }
        if sample.value.is_nan() && family.kind != "summary" {
            return Err(format!("{} is not a number", sample.name));
        }
        if ["counter", "histogram"].contains(&&*family.kind) && sample.value < 0.0 {
            return Err(format!("{} is negative", sample.name));
        }
        if family.kind == "info" && sample.value != 1.0 {
            return Err(format!("{} is not 1", sample.name));
        }
    }
    check_contiguous(family)?;
    if family.kind == "histogram" {
        check_buckets(family)
    } else {
        Ok(())
    }
}

/// The samples of one set of labels stand together.
fn check_contiguous(family: &Family) -> Result<(), String> {
    let mut order: Vec<BTreeMap<String, String>> = Vec::new();
    for sample in &family.samples {
        let labels = own_labels(sample);
        if order.last() != Some(&labels) {
            if order.contains(&labels) {
                return Err(format!("{labels:?} of {} in two places", family.name));
            }
            order.push(labels);
        }
    }
    Ok(())
}

fn check_buckets(family: &Family) -> Result<(), String> {
    let mut series: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        series.entry(own_labels(sample)).or_default().push(sample);
    }
    for samples in series.values() {
        let value = |suffix: &str| {
            samples
                .iter()
                .find(|own| own.name.ends_with(suffix))
                .map(|own| own.value)
        };
        let buckets: Vec<(f64, f64)> = samples
            .iter()
            .filter(|own| own.name.ends_with("_bucket"))
            .map(|own| (sample::number(&own.labels["le"]).unwrap(), own.value))
            .collect();
        let rising = buckets
            .windows(2)
            .all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
        let last = buckets.last().copied().ok_or("no buckets")?;
        if !rising || last.0 != f64::INFINITY || Some(last.1) != value("_count") || value("_sum").is_none() {
            return Err(format!("bad buckets in {}", family.name));
        }
    }
    Ok(())
}

/// Without the labels that tell samples of one series apart.
fn own_labels(sample: &Sample) -> BTreeMap<String, String> {
    sample
        .labels
        .iter()
        .filter(|(name, _)| *name != "le" && *name != "quantile")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[test]
fn the_reader_is_strict() {
    let check = |given: &str, expected: &str| {
        let error = openmetrics(given).expect_err(given);
        assert!(error.contains(expected), "{given:?}: {error}");
    };
    let head = "# HELP a b\n# TYPE a counter\n";
    let histogram = "# HELP a b\n# TYPE a histogram\n";
    check("", "no EOF");
    check(&format!("{head}a 1\n# EOF\n"), "suffix \"\"");
    check(&format!("{head}a_total 1\na_total 2\n# EOF\n"), "twice");
    check(&format!("{head}a_total{{x=\"\\q\"}} 1\n# EOF\n"), "bad escape");
    check(
        &format!("{head}a_total{{x=\"1\",x=\"2\"}} 1\n# EOF\n"),
        "label x twice",
    );
    check(&format!("{head}a_total one\n# EOF\n"), "bad number");
    check("# TYPE a counter\n# EOF\n", "type before help");
    check(&format!("{head}{head}# EOF\n"), "two families");
    check(
        &format!("{histogram}a_bucket{{le=\"1\"}} 2\na_bucket{{le=\"+Inf\"}} 1\na_count 1\na_sum 1\n# EOF\n"),
        "bad buckets",
    );
    check(
        &format!("{histogram}a_bucket{{le=\"1\"}} 1\na_count 1\na_sum 1\n# EOF\n"),
        "bad buckets",
    );
    check(
        &format!("{head}a_total{{x=\"1\"}} 1\na_total{{x=\"2\"}} 1\na_created{{x=\"1\"}} 1\n# EOF\n"),
        "in two places",
    );
}
