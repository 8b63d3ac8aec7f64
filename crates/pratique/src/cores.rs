//! The workers for loading, and for requests that match very many policies: by default the cores of the machine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pratique_policy::EvalContext;
use pratique_workers::{ScopedThreads, Workers};

/// The cores of the machine, with the feature `parallel`; without it, the calling thread does all the work.
///
/// There is one thread for each core except that of the caller. All users share the threads, which start with the first work
/// and stay.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineCores;

impl Workers for MachineCores {
    #[cfg(feature = "parallel")]
    fn run_on(&self, others: usize, work: &(dyn Fn() + Sync)) {
        pool::run_on(others, work);
    }

    #[cfg(not(feature = "parallel"))]
    fn run_on(&self, _: usize, work: &(dyn Fn() + Sync)) {
        work();
    }

    /// Waking a thread takes a tenth of that.
    fn min_parallel_cost(&self) -> Duration {
        #[cfg(feature = "parallel")]
        if *pool::OTHERS > 0 {
            return Duration::from_micros(500);
        }
        Duration::MAX
    }
}

/// The workers that an [`Admission`](crate::Admission) uses unless a call passes others.
#[derive(Clone)]
pub(crate) struct HelperWorkers {
    /// For loading and compiling before the first request.
    pub(crate) starting: Arc<dyn Workers>,
    /// For requests.
    evaluating: Arc<dyn Workers>,
}

impl Default for HelperWorkers {
    fn default() -> Self {
        HelperWorkers {
            starting: Arc::new(ScopedThreads),
            evaluating: Arc::new(MachineCores),
        }
    }
}

impl HelperWorkers {
    /// The same workers for everything.
    pub(crate) fn new(workers: impl Workers + 'static) -> Self {
        let workers: Arc<dyn Workers> = Arc::new(workers);
        HelperWorkers {
            starting: workers.clone(),
            evaluating: workers,
        }
    }

    /// Adds the workers for requests, unless the caller has lent some already.
    pub(crate) fn join<'a>(&'a self, context: EvalContext<'a>) -> EvalContext<'a> {
        if context.has_workers() {
            context
        } else {
            context.with_workers(&*self.evaluating)
        }
    }
}

impl fmt::Debug for HelperWorkers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Helpers")
    }
}

#[cfg(feature = "parallel")]
mod pool {
    use std::sync::LazyLock;
    use std::thread;

    use rayon::{ThreadPool, ThreadPoolBuilder};

    /// The number of cores besides that of the caller.
    pub(super) static OTHERS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(0, |cores| cores.get() - 1));

    /// `None` if the system gives no threads.
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let name = |number| format!("pratique-core-{number}");
        let threads = ThreadPoolBuilder::new().num_threads((*OTHERS).max(1));
        let threads = threads.thread_name(name).stack_size(STACK);
        threads.build().ok()
    });

    /// Variables that depend on one another are evaluated recursively.
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
