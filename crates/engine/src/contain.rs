//! Work on untrusted data that may panic: the panic becomes an error of its caller, and nothing is printed.
//!
//! A saved simulation can be forged, and libraries panic at files that they do not expect. The hook that prints panics
//! belongs to the whole process, so it is wrapped once and asks whether the panicking thread is contained. The threads
//! of a [run](crate::run) are contained with the one that starts it; any other thread is not.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Mutex, Once, PoisonError};

/// What the first panic of contained work said, and where.
pub(crate) type Said = Arc<Mutex<String>>;

thread_local! {
    /// Where contained work of this thread leaves what its panic says; `None` if it is not contained.
    static WITHIN: RefCell<Option<Said>> = const { RefCell::new(None) };
}

/// Why contained work has no result: what its panic said, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked(pub String);

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panicked {}

/// Does something that may panic, in this thread or in the threads of a run that it starts.
///
/// # Errors
/// Returns what the panic said. Whatever `work` has borrowed may then be in any state.
pub fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| match current() {
            Some(said) => note(&said, panic),
            None => usual(panic),
        }));
    });
    let said = Said::default();
    let done = catch_unwind(AssertUnwindSafe(|| within(Some(said.clone()), work)));
    done.map_err(|_| Panicked(std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner))))
}

/// What contains this thread.
pub(crate) fn current() -> Option<Said> {
    WITHIN.try_with(|within| within.borrow().clone()).ok().flatten()
}

/// Does something in a thread that is contained, or is not, like the one that started it.
pub(crate) fn within<T>(said: Option<Said>, work: impl FnOnce() -> T) -> T {
    /// Restores what held before, also when the work panics.
    struct Before(Option<Said>);
    impl Drop for Before {
        fn drop(&mut self) {
            let before = self.0.take();
            WITHIN.with(|within| within.replace(before));
        }
    }
    let _before = Before(WITHIN.with(|within| within.replace(said)));
    work()
}

/// Keeps the first panic: those of other threads follow from it.
fn note(said: &Said, panic: &PanicHookInfo<'_>) {
    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
    if said.is_empty() {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let text = text.unwrap_or("a panic without words");
        *said = panic.location().map_or_else(|| text.to_owned(), |place| format!("{text} ({place})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Model, RunPlan, Shard, Wheel, run};
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use units::{Span, Time};

    #[test]
    fn a_panic_is_an_error_and_only_where_it_is_contained() {
        static PRINTED: AtomicUsize = AtomicUsize::new(0);
        contained(|| ()).unwrap();
        let usual = take_hook();
        set_hook(Box::new(move |panic| match current() {
            Some(_) => usual(panic),
            None => drop(PRINTED.fetch_add(1, Ordering::Relaxed)),
        }));
        assert_eq!(contained(|| 3), Ok(3));
        let inner = || contained(|| panic!("inner")).unwrap_err().to_string();
        let outer = contained(|| -> String { panic!("outer after {}", inner().split(' ').next().unwrap_or_default()) });
        let text = outer.unwrap_err().to_string();
        assert!(text.starts_with("outer after inner (") && text.contains("contain.rs:"), "{text}");
        assert_eq!(PRINTED.load(Ordering::Relaxed), 0);
        assert!(catch_unwind(|| panic!("told")).is_err());
        assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
        // Another thread is contained for itself only.
        assert_eq!(contained(|| std::thread::spawn(|| panic!("told, too")).join().is_err()), Ok(true));
        assert_eq!(PRINTED.load(Ordering::Relaxed), 2);
    }

    /// Panics in every thread but the one that starts the run.
    struct Fails(std::thread::ThreadId);

    impl Model for Fails {
        type Message = ();

        fn on_alarm(&mut self, now: Time, alarm: u32, context: &mut Context<()>) {
            assert_eq!(std::thread::current().id(), self.0, "a thread fails");
            context.alarms.arm(alarm, now + Span::from_micros(1));
        }

        fn on_message(&mut self, (): (), _context: &mut Context<()>) {}
    }

    #[test]
    fn the_threads_of_a_run_are_contained_with_it() {
        let shard = |_| {
            let mut shard = Shard::new(Fails(std::thread::current().id()), 1, Wheel::covering(Span::from_micros(1)));
            shard.context.alarms.arm(0, Time::ZERO);
            shard
        };
        let mut shards: Vec<_> = (0..8).map(shard).collect();
        let lookahead = Span::from_micros(1);
        let plan = RunPlan { threads: 3, lookahead, ..RunPlan::until(Time::ZERO + Span::from_millis(100)) };
        let failed = contained(|| run(&mut shards, plan, |_| ControlFlow::Continue(())).fired).unwrap_err().to_string();
        assert!(failed.contains("a thread fails"), "{failed}");
    }
}
