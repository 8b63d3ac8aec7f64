//! Encodes families with `prometheus-client`.

use std::fmt::Error;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;

use crate::snapshot::{MetricFamily, MetricKind, MetricSeries, SeriesValue};

/// Writes a family unless it is a summary.
pub(crate) fn encode(family: &MetricFamily, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let (name, kind) = match family.kind {
        MetricKind::Counter => match family.name.strip_suffix("_total") {
            Some(name) => (name, MetricType::Counter),
            None => (family.name, MetricType::Unknown),
        },
        MetricKind::Gauge => (family.name, MetricType::Gauge),
        MetricKind::Info => (
            family.name.strip_suffix("_info").unwrap_or(family.name),
            MetricType::Info,
        ),
        MetricKind::Histogram => (family.name, MetricType::Histogram),
        MetricKind::Summary => return Ok(()),
    };
    let mut encoder = encoder.encode_descriptor(name, family.help, None, kind)?;
    for series in &family.series {
        if series.labels.is_empty() {
            encode_value(series, kind, &mut encoder)?;
        } else if family.kind == MetricKind::Info {
            encoder.encode_info(&labels(series))?;
        } else {
            encode_value(series, kind, &mut encoder.encode_family(&labels(series))?)?;
        }
    }
    Ok(())
}

fn encode_value(
    series: &MetricSeries,
    kind: MetricType,
    encoder: &mut MetricEncoder<'_>,
) -> Result<(), Error> {
    match &series.value {
        SeriesValue::Counter(count) if matches!(kind, MetricType::Counter) => {
            encoder.encode_counter(count, None::<&Exemplar<NoLabelSet, u64>>)
        }
        SeriesValue::Counter(count) => encoder.encode_gauge(count),
        SeriesValue::Gauge(value) => encoder.encode_gauge(value),
        SeriesValue::Histogram(histogram) => {
            encoder.encode_histogram::<NoLabelSet>(histogram.sum, histogram.count, &histogram.buckets, None)
        }
        SeriesValue::Summary(_) => Ok(()),
    }
}

fn labels(series: &MetricSeries) -> Vec<(&'static str, &str)> {
    series
        .labels
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect()
}
