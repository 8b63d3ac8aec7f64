//! One side of a contest: a program that measures what it is asked to, so that rounds of it can alternate with those of
//! another program.
//!
//! It reads lines of JSON from stdin and writes lines of JSON to stdout. The first line is the setup, answered by the side's
//! facts, on which the sides must agree. Each further line is an [`ContestOrder`], answered by a [`TurnSample`].

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use crate::BenchError;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What to measure, and for about how long.
#[derive(Debug, Deserialize)]
pub struct ContestOrder {
    /// The kind of work.
    pub measure: String,
    /// The input of the work.
    pub case: String,
    /// The time to spend.
    pub nanoseconds: u64,
    /// Whether to measure processor time instead of wall-clock time.
    #[serde(default)]
    pub processor: bool,
}

/// A measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TurnSample {
    /// How many times the work was done in a batch.
    pub operations: u64,
    /// How long the batch took.
    pub nanoseconds: u64,
}

/// A side of a contest, which answers orders.
pub trait ContestSide {
    /// Results that must be the same on the other side.
    fn facts(&self) -> Result<Value, BenchError>;

    /// Measures the work of an order, usually with [`ContestOrder::time`].
    fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError>;
}

/// Reads the setup, starts a side with it and answers the orders that follow.
pub fn serve<S: ContestSide>(
    input: impl BufRead,
    mut output: impl Write,
    begin: impl FnOnce(Value) -> Result<S, BenchError>,
) -> Result<(), BenchError> {
    let mut lines = input.lines();
    let setup = lines.next().ok_or("no setup")??;
    let side = begin(read(&setup)?)?;
    answer(&mut output, &side.facts()?)?;
    for line in lines {
        let order = read::<ContestOrder>(&line?)?;
        answer(&mut output, &side.measure(&order)?)?;
    }
    Ok(())
}

impl ContestOrder {
    /// Repeats an operation for about the ordered time, after a tenth of it to warm up, in batches that take about a
    /// hundredth of the time. The sample is the median batch, so that batches disturbed by other processes do not count.
    pub fn time<T>(&self, mut operation: impl FnMut() -> T) -> TurnSample {
        self.sample(u64::MAX, |times| {
            let began = RunClock::start(self.processor);
            for _ in 0..times {
                std::hint::black_box(operation());
            }
            began.nanoseconds()
        })
    }

    /// Repeats an operation in the same way, each time over an input from `prepare`, which is not timed.
    pub fn time_with<I, T>(&self, prepare: impl Fn() -> I, operation: impl Fn(&mut I) -> T) -> TurnSample {
        self.sample(MOST_PREPARED, |times| {
            let mut inputs: Vec<I> = (0..times).map(|_| prepare()).collect();
            let began = RunClock::start(self.processor);
            for input in &mut inputs {
                std::hint::black_box(operation(input));
            }
            began.nanoseconds()
        })
    }

    /// The median batch. `repeat` does the work a number of times, at most `most`, and returns the nanoseconds it took.
    fn sample(&self, most: u64, mut repeat: impl FnMut(u64) -> u64) -> TurnSample {
        let length = Duration::from_nanos(self.nanoseconds);
        let (mut batch, start) = (1, Instant::now());
        while start.elapsed() < length / 10 {
            if Duration::from_nanos(repeat(batch)) < length / 100 && batch < most {
                batch *= 2;
            }
        }
        let (mut batches, start) = (Vec::new(), Instant::now());
        while batches.is_empty() || start.elapsed() < length {
            batches.push(repeat(batch));
        }
        batches.sort_unstable();
        TurnSample {
            operations: batch,
            nanoseconds: batches.get(batches.len() / 2).copied().unwrap_or(0),
        }
    }
}

/// How many inputs are prepared at once: more would not fit in the caches of a processor.
const MOST_PREPARED: u64 = 64;

/// A running stopwatch.
#[derive(Clone, Copy, Debug)]
pub enum RunClock {
    /// Measures wall-clock time.
    Wall(Instant),
    /// Measures the processor time of this process, in all its threads.
    Processor(Duration),
}

impl RunClock {
    /// Starts a stopwatch of processor time, or of wall-clock time.
    pub fn start(processor: bool) -> Self {
        if processor {
            RunClock::Processor(processor_time())
        } else {
            RunClock::Wall(Instant::now())
        }
    }

    /// The time since then.
    pub fn nanoseconds(&self) -> u64 {
        let elapsed = match self {
            RunClock::Wall(start) => start.elapsed(),
            RunClock::Processor(start) => processor_time().saturating_sub(*start),
        };
        u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let part = |of: i64| u64::try_from(of).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

fn read<T: for<'de> Deserialize<'de>>(line: &str) -> Result<T, BenchError> {
    serde_json::from_str(line).map_err(|error| BenchError::from(format!("{line}: {error}")))
}

fn answer(output: &mut impl Write, line: &impl Serialize) -> Result<(), BenchError> {
    let text = serde_json::to_string(line)?;
    writeln!(output, "{text}")
        .and_then(|()| output.flush())
        .map_err(BenchError::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop where it fails")]
mod tests {
    use super::*;

    struct Counting;

    impl ContestSide for Counting {
        fn facts(&self) -> Result<Value, BenchError> {
            Ok(Value::from("ready"))
        }

        fn measure(&self, order: &ContestOrder) -> Result<TurnSample, BenchError> {
            match order.case.as_str() {
                "one" => Ok(order.time(|| 1)),
                other => Err(format!("no case {other}").into()),
            }
        }
    }

    #[test]
    fn orders_are_answered_line_by_line() {
        let orders = "{}\n{\"measure\":\"m\",\"case\":\"one\",\"nanoseconds\":1000}\n";
        let mut output = Vec::new();
        serve(orders.as_bytes(), &mut output, |_| Ok(Counting)).unwrap();
        let text = String::from_utf8(output).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.first(), Some(&"\"ready\""));
        assert!(lines.get(1).unwrap().starts_with("{\"operations\":"), "{text}");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn unknown_work_ends_the_side() {
        let orders = "{}\n{\"measure\":\"m\",\"case\":\"two\",\"nanoseconds\":1000}\n";
        let ended = serve(orders.as_bytes(), Vec::new(), |_| Ok(Counting));
        assert_eq!(ended.unwrap_err().to_string(), "no case two");
    }
}
