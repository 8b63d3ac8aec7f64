//! Metric families at one moment, for whoever writes or shows them.

/// A family with data.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Its name, as an API server has it.
    pub name: &'static str,
    /// What it is, with how stable it is: `[ALPHA] …`.
    pub help: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Its series, in the order of their labels' values.
    pub series: Vec<Series>,
}

/// What the values of a family are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They only grow.
    Counter,
    /// They go up and down.
    Gauge,
    /// Always 1: the labels are what matters.
    Info,
    /// Counts by upper bounds.
    Histogram,
    /// Quantiles of what was seen lately.
    Summary,
}

/// A value for one combination of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Names and values, by name.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: Value,
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a counter.
    Counter(u64),
    /// Of a gauge.
    Gauge(f64),
    /// Of a histogram.
    Histogram(Distribution),
    /// Of a summary.
    Summary(Quantiles),
}

/// How many observations there were up to each bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// Upper bounds, and how many observations are within them but not within the one before. The last bound is
    /// infinite.
    pub buckets: Vec<(f64, u64)>,
    /// The sum of all observations, in seconds.
    pub sum: f64,
    /// How many there were.
    pub count: u64,
}

/// Quantiles of what was seen lately.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantiles {
    /// Quantiles and their values in seconds; not a number when there was nothing lately.
    pub quantiles: Vec<(f64, f64)>,
    /// The sum of all observations ever, in seconds.
    pub sum: f64,
    /// How many there were ever.
    pub count: u64,
}

impl Distribution {
    /// A bound that the given part of all observations is within: an estimate from above, infinite when the last bound
    /// is too low, not a number without observations.
    #[must_use]
    pub fn bound_of(&self, part: f64) -> f64 {
        let mut within = 0;
        for (bound, count) in &self.buckets {
            within += count;
            #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
            if self.count > 0 && within as f64 >= part * self.count as f64 {
                return *bound;
            }
        }
        f64::NAN
    }
}
