//! The cores of the machine: who helps with loading, and with requests that meet very many policies.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pratique_policy::EvalContext;
use pratique_workers::{ScopedThreads, Workers};

/// The cores of the machine, with the feature `parallel`; without, the thread that asks does all by itself.
///
/// There is a thread for each core but that of whoever asks. All that use this share them. They are started when there is
/// something to do, and stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cores;

impl Workers for Cores {
    #[cfg(feature = "parallel")]
    fn run_on(&self, others: usize, work: &(dyn Fn() + Sync)) {
        pool::run_on(others, work);
    }

    #[cfg(not(feature = "parallel"))]
    fn run_on(&self, _: usize, work: &(dyn Fn() + Sync)) {
        work();
    }

    /// To wake a thread takes a tenth of that.
    fn min_parallel_cost(&self) -> Duration {
        #[cfg(feature = "parallel")]
        if *pool::OTHERS > 0 {
            return Duration::from_micros(500);
        }
        Duration::MAX
    }
}

/// Who helps with what is not asked with helpers of its own.
#[derive(Clone)]
pub(crate) struct Helpers {
    /// With what is loaded and compiled before the first request.
    pub(crate) starting: Arc<dyn Workers>,
    /// With requests.
    judging: Arc<dyn Workers>,
}

impl Default for Helpers {
    fn default() -> Self {
        Helpers {
            starting: Arc::new(ScopedThreads),
            judging: Arc::new(Cores),
        }
    }
}

impl Helpers {
    /// The same for everything.
    pub(crate) fn of(workers: impl Workers + 'static) -> Self {
        let workers: Arc<dyn Workers> = Arc::new(workers);
        Helpers {
            starting: workers.clone(),
            judging: workers,
        }
    }

    /// Who helps with judging: they, unless the caller has lent some already.
    pub(crate) fn join<'a>(&'a self, surroundings: EvalContext<'a>) -> EvalContext<'a> {
        match surroundings.has_workers() {
            true => surroundings,
            false => surroundings.with_workers(&*self.judging),
        }
    }
}

impl fmt::Debug for Helpers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Helpers")
    }
}

#[cfg(feature = "parallel")]
mod pool {
    use std::sync::LazyLock;
    use std::thread;

    use rayon::{ThreadPool, ThreadPoolBuilder};

    /// The cores besides that of whoever asks.
    pub(super) static OTHERS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(0, |cores| cores.get() - 1));

    /// `None` where no threads are to be had.
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let name = |number| format!("pratique-core-{number}");
        let threads = ThreadPoolBuilder::new().num_threads((*OTHERS).max(1));
        let threads = threads.thread_name(name).stack_size(STACK);
        threads.build().ok()
    });

    /// Variables that need one another nest deep, and are evaluated each within the other.
    const STACK: usize = 64 << 20;

    pub(super) fn run_on(others: usize, work: &(dyn Fn() + Sync)) {
        let Some(pool) = &*POOL else {
            return work();
        };
        pool.in_place_scope(|scope| {
            for _ in 0..others.min(*OTHERS) {
                scope.spawn(|_| work());
            }
            work();
        });
    }
}
