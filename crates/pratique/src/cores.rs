//! Other cores, for requests that meet very many policies.

use pratique_policy::Surroundings;

/// Lends the other cores of the machine, unless the caller has lent some already.
pub(crate) fn with_cores(surroundings: Surroundings<'_>) -> Surroundings<'_> {
    #[cfg(feature = "parallel")]
    if !surroundings.has_workers() {
        return surroundings.with_workers(&pool::Cores);
    }
    surroundings
}

#[cfg(feature = "parallel")]
mod pool {
    use std::sync::LazyLock;
    use std::thread;

    use pratique_policy::Workers;
    use rayon::{ThreadPool, ThreadPoolBuilder};

    /// A thread for each core, made by the first request that wants them.
    pub(super) struct Cores;

    /// `None` where no threads are to be had.
    static POOL: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let name = |number| format!("pratique-core-{number}");
        let threads = ThreadPoolBuilder::new().thread_name(name).stack_size(STACK);
        threads.build().ok()
    });

    /// Variables that need one another nest deep, and are evaluated each within the other.
    const STACK: usize = 64 << 20;

    static ARE_SEVERAL: LazyLock<bool> =
        LazyLock::new(|| thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));

    impl Workers for Cores {
        fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
            match &*POOL {
                Some(pool) => pool.in_place_scope(|scope| {
                    scope.spawn(|_| other());
                    one();
                }),
                None => {
                    one();
                    other();
                }
            }
        }

        /// So many take about half a millisecond; to wake a thread takes a tenth of that.
        fn worthwhile(&self) -> usize {
            match *ARE_SEVERAL {
                true => 1000,
                false => usize::MAX,
            }
        }
    }
}
