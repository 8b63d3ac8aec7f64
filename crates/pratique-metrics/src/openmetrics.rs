//! The OpenMetrics format: written by `prometheus-client`, except for summaries, which it does not support.

use std::fmt::{Error, Write};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;

use crate::encode::encode;
use crate::snapshot::{MetricFamily, MetricKind};
use crate::text::samples;

/// Writes families as text.
pub(crate) fn write(families: &[MetricFamily]) -> String {
    let mut registry = Registry::default();
    let (summaries, others): (Vec<&MetricFamily>, Vec<&MetricFamily>) = families
        .iter()
        .partition(|family| family.kind == MetricKind::Summary);
    registry.register_collector(Box::new(EncodedFamilies(others.into_iter().cloned().collect())));
    let mut out = String::new();
    // Writing to a `String` does not fail.
    let written = encode_registry(&mut out, &registry)
        .and_then(|()| {
            summaries
                .into_iter()
                .try_for_each(|family| write_summary(&mut out, family))
        })
        .and_then(|()| encode_eof(&mut out));
    if written.is_err() {
        String::from("# EOF\n")
    } else {
        out
    }
}

#[derive(Debug)]
struct EncodedFamilies(Vec<MetricFamily>);

impl Collector for EncodedFamilies {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        self.0.iter().try_for_each(|family| encode(family, &mut encoder))
    }
}

fn write_summary(out: &mut String, family: &MetricFamily) -> Result<(), Error> {
    writeln!(out, "# HELP {} {}", family.name, family.help)?;
    writeln!(out, "# TYPE {} summary", family.name)?;
    family
        .series
        .iter()
        .try_for_each(|series| write!(out, "{}", samples(family, series)))
}
