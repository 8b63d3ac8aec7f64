//! A snapshot of all metric families.

/// A family.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricFamily {
    /// The name, as in an API server.
    pub name: &'static str,
    /// The help text with its stability level: `[ALPHA] …`.
    pub help: &'static str,
    /// The kind of its values.
    pub kind: MetricKind,
    /// The names of its labels, sorted.
    pub labels: Vec<&'static str>,
    /// The series, sorted by label values.
    pub series: Vec<MetricSeries>,
}

/// The kind of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A monotonic count.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Always 1: the information is in the labels.
    Info,
    /// Counts by upper bounds.
    Histogram,
    /// Quantiles of recent observations.
    Summary,
}

/// The value for one combination of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSeries {
    /// Label names and values, sorted by name.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: SeriesValue,
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum SeriesValue {
    /// Of a counter.
    Counter(u64),
    /// Of a gauge.
    Gauge(f64),
    /// Of a histogram.
    Histogram(SampleDistribution),
    /// Of a summary.
    Summary(SampleQuantiles),
}

/// The value of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleDistribution {
    /// Upper bounds, and the number of observations between the previous bound and this one. The last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
    /// The sum of all observations, in seconds.
    pub sum: f64,
    /// The number of observations.
    pub count: u64,
}

/// The value of a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleQuantiles {
    /// Quantiles of recent observations and their values in seconds; NaN without recent observations.
    pub quantiles: Vec<(f64, f64)>,
    /// The sum of all observations since the start, in seconds.
    pub sum: f64,
    /// The number of observations since the start.
    pub count: u64,
}

impl SampleDistribution {
    /// An upper bound of a quantile: infinite if it is beyond the last finite bound, NaN without observations.
    #[must_use]
    pub fn bound_of(&self, quantile: f64) -> f64 {
        let mut within = 0;
        for (bound, count) in &self.buckets {
            within += count;
            #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
            if self.count > 0 && within as f64 >= quantile * self.count as f64 {
                return *bound;
            }
        }
        f64::NAN
    }
}
