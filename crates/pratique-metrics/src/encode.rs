//! Encodes families with `prometheus-client`.

use std::fmt::Error;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;

use crate::snapshot::{Family, Kind, Series, SeriesValue};

/// Writes a family unless it is a summary.
pub(crate) fn encode(family: &Family, encoder: &mut DescriptorEncoder<'_>) -> Result<(), Error> {
    let (name, kind) = match family.kind {
        Kind::Counter => match family.name.strip_suffix("_total") {
            Some(name) => (name, MetricType::Counter),
            None => (family.name, MetricType::Unknown),
        },
        Kind::Gauge => (family.name, MetricType::Gauge),
        Kind::Info => (
            family.name.strip_suffix("_info").unwrap_or(family.name),
            MetricType::Info,
        ),
        Kind::Histogram => (family.name, MetricType::Histogram),
        Kind::Summary => return Ok(()),
    };
    let mut encoder = encoder.encode_descriptor(name, family.help, None, kind)?;
    for series in &family.series {
        if series.labels.is_empty() {
            encode_value(series, kind, &mut encoder)?;
        } else if family.kind == Kind::Info {
            encoder.encode_info(&labels(series))?;
        } else {
            encode_value(series, kind, &mut encoder.encode_family(&labels(series))?)?;
        }
    }
    Ok(())
}

fn encode_value(series: &Series, kind: MetricType, encoder: &mut MetricEncoder<'_>) -> Result<(), Error> {
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

fn labels(series: &Series) -> Vec<(&'static str, &str)> {
    series
        .labels
        .iter()
        .map(|(name, value)| (*name, &**value))
        .collect()
}
