//! Long work without the interpreter's lock: progress goes to a Python function, and Ctrl-C ends it early.

use crate::reaction::Trouble;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

/// What the work tells while it goes on.
#[derive(Default)]
pub struct Told {
    /// Set if the work is to end early.
    pub interrupt: AtomicBool,
    /// How much is done.
    pub done: AtomicU64,
    /// How much there is to do.
    pub total: AtomicU64,
    /// Where reaction points written in Python note their exceptions.
    pub trouble: Trouble,
}

/// Runs the work on a thread of its own. Meanwhile, this one shows signals to Python and calls `progress(done, total)`. A
/// signal handler or a progress function that raises ends the work early; its exception is returned beside the result.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    told: &Told,
    work: impl FnOnce() -> T + Send,
) -> (T, Option<PyErr>) {
    py.detach(|| {
        std::thread::scope(|scope| {
            let working = scope.spawn(work);
            let mut raised: Option<PyErr> = None;
            while !working.is_finished() {
                std::thread::park_timeout(LOOK);
                let look = Python::attach(|py| -> PyResult<()> {
                    py.check_signals()?;
                    if let Some(error) = told.trouble.error(py).filter(|_| raised.is_none()) {
                        return Err(error);
                    }
                    if let Some(progress) = progress.filter(|_| raised.is_none()) {
                        let [done, total] = [&told.done, &told.total].map(|number| number.load(Ordering::Relaxed));
                        progress.call1(py, (done, total))?;
                    }
                    Ok(())
                });
                if let Err(error) = look {
                    told.interrupt.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
            match working.join() {
                Ok(value) => (value, raised.or_else(|| Python::attach(|py| told.trouble.error(py)))),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    })
}
