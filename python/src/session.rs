//! Runs in steps.

use crate::error::{of_scenario, other};
use crate::json;
use crate::list::{self, Axes, List};
use crate::reaction::Trouble;
use crate::scenario::finished;
use crate::table::{Table, field};
use crate::watch::{Told, watched};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::DataType;
use fabric::FlowSummary;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::ThreadId;
use std::time::Duration;
use study::{ChangeError, Options, SavedError, Session, WhatIfError};
use units::{Span, Time};

/// A simulation that stops where its caller wants.
#[pyclass(frozen, module = "tailback")]
pub struct Simulation {
    session: Mutex<Session>,
    /// Who uses the session at present: the process and the thread.
    user: Mutex<Option<(u32, ThreadId)>>,
    trouble: Trouble,
}

/// Time between two attempts to use a simulation that another thread uses.
const WAIT: Duration = Duration::from_millis(5);

impl Simulation {
    pub fn new(session: Session) -> Simulation {
        Simulation::with_python(session, Trouble::default())
    }

    /// One whose reaction points are written in Python.
    pub fn with_python(session: Session, trouble: Trouble) -> Simulation {
        Simulation { session: Mutex::new(session), user: Mutex::new(None), trouble }
    }

    /// Told of this simulation's exceptions.
    fn told(&self) -> Told {
        Told { trouble: self.trouble.clone(), ..Told::default() }
    }

    /// Uses the session without the interpreter's lock, when no other thread does.
    fn with<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&mut Session) -> T + Send) -> PyResult<T> {
        py.detach(|| self.alone(look))
    }

    /// The same from a thread that does not have the interpreter's lock. A thread that waits for another one sees signals.
    fn alone<T>(&self, look: impl FnOnce(&mut Session) -> T) -> PyResult<T> {
        let mut session = loop {
            match self.session.try_lock() {
                Ok(session) => break session,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
            if let Some(reason) = self.in_vain() {
                return Err(other(reason));
            }
            std::thread::sleep(WAIT);
            Python::attach(|py| py.check_signals())?;
        };
        let _used = Used::by_this_thread(&self.user);
        Ok(look(&mut session))
    }

    /// Why waiting for the session would not end.
    fn in_vain(&self) -> Option<&'static str> {
        let (process, thread) = (*self.user.try_lock().ok()?)?;
        if process != std::process::id() {
            return Some(
                "the simulation was running when this process was forked; fork when it has stopped, or resume a saved one",
            );
        }
        (thread == std::thread::current().id()).then_some("a reaction point cannot use the simulation that calls it")
    }
}

/// Notes that a thread uses a session, until it is dropped.
struct Used<'a>(&'a Mutex<Option<(u32, ThreadId)>>);

impl Used<'_> {
    fn by_this_thread(user: &Mutex<Option<(u32, ThreadId)>>) -> Used<'_> {
        let this = (std::process::id(), std::thread::current().id());
        *user.lock().unwrap_or_else(PoisonError::into_inner) = Some(this);
        Used(user)
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The exception for a simulation that is not saved or not resumed.
fn of_saved(py: Python<'_>, path: &Path, error: &SavedError) -> PyErr {
    match error {
        SavedError::Scenario(errors) => of_scenario(py, errors),
        error => other(format!("{}: {error}", path.display())),
    }
}

/// Goes on with a simulation that was saved to a file.
#[pyfunction]
#[pyo3(signature = (path, threads=None))]
pub fn resume(py: Python<'_>, path: PathBuf, threads: Option<usize>) -> PyResult<Simulation> {
    let session = py.detach(|| Session::resume_from(&path, threads.unwrap_or_else(study::cores)));
    Ok(Simulation::new(session.map_err(|error| of_saved(py, &path, &error))?))
}

/// Goes on with a simulation that was pickled.
#[pyfunction]
pub fn resume_bytes(py: Python<'_>, bytes: &Bound<'_, PyBytes>) -> PyResult<Simulation> {
    let bytes = bytes.as_bytes();
    let session = py.detach(|| Session::resume(bytes, study::cores()));
    Ok(Simulation::new(session.map_err(|error| of_saved(py, Path::new("pickled simulation"), &error))?))
}

#[pymethods]
impl Simulation {
    /// The simulated time in picoseconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| session.now().saturating_since(Time::ZERO).as_picos())
    }

    /// Runs until that time of the simulation. Returns how this step ended.
    #[pyo3(signature = (until, progress=None))]
    fn _run_until(&self, py: Python<'_>, until: &str, progress: Option<Py<PyAny>>) -> PyResult<&'static str> {
        let Ok(until) = until.parse::<Span>() else {
            return Err(PyValueError::new_err(format!(
                "{until:?} is no time: write it with its unit, such as \"1.5us\""
            )));
        };
        let told = self.told();
        told.total.store(until.as_picos(), Ordering::Relaxed);
        let (summary, raised) = watched(py, progress.as_ref(), &told, || {
            self.alone(|session| session.run_until(Time::ZERO + until, &told.interrupt))
        });
        match raised.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            Some(error) => Err(error),
            None => Ok(study::outcome_word(&summary?.map_err(other)?.outcome)),
        }
    }

    /// The fingerprint so far, in hexadecimal.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        Ok(results::hex(self.with(py, |session| session.fingerprint())?))
    }

    /// The sums so far.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let totals = self.with(py, |session| session.totals())?;
        json::object(py, &serde_json::Value::Object(results::totals_map(&totals)))
    }

    /// What has become of each flow so far.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        let (flows, names) = self.with(py, |session| {
            let names = &session.plan().flow_names;
            let flows = session.flows();
            let names: Vec<String> =
                (0..flows.len()).map(|flow| names.get(flow).unwrap_or_default().into_owned()).collect();
            (flows, names)
        })?;
        let numbers = |of: &dyn Fn(&FlowSummary) -> Option<u64>| -> ArrayRef {
            Arc::new(flows.iter().map(|flow| of(flow).map(|number| number as i64)).collect::<Int64Array>())
        };
        let picos = |time: Option<Time>| time.map(|time| time.saturating_since(Time::ZERO).as_picos());
        let number = |name: &str, unit: &str, meaning: &str| field(name, DataType::Int64, true, (unit, meaning));
        let columns = vec![
            (field("flow", DataType::Int64, false, ("", "number of the flow")), {
                Arc::new((0..flows.len() as i64).collect::<Int64Array>()) as ArrayRef
            }),
            (field("name", DataType::Utf8, false, ("", "name of the flow")), {
                Arc::new(names.into_iter().map(Some).collect::<StringArray>()) as ArrayRef
            }),
            (number("started", "ps", "when its source began"), numbers(&|flow| picos(flow.started))),
            (number("completed", "ps", "when its last byte arrived"), numbers(&|flow| picos(flow.completed))),
            (number("made_frames", "frames", "frames made by its source"), numbers(&|flow| Some(flow.made_frames))),
            (number("frames", "frames", "frames delivered"), numbers(&|flow| Some(flow.received_frames))),
            (number("bytes", "B", "bytes delivered"), numbers(&|flow| Some(flow.received_bytes))),
            (number("marked_frames", "frames", "delivered frames that were marked"), {
                numbers(&|flow| Some(flow.marked_frames))
            }),
            (number("retransmitted_frames", "frames", "frames retransmitted"), {
                numbers(&|flow| Some(flow.retransmitted_frames))
            }),
            (number("timeouts", "", "timeouts of its source"), numbers(&|flow| Some(flow.timeouts))),
        ];
        Table::new("flows", "one flow, so far", columns).map_err(other)
    }

    /// Whether tables are recorded.
    #[getter]
    fn records(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |session| session.records())
    }

    /// Changes values from this instant on, given as overrides of the form `key=value`.
    fn _set(&self, py: Python<'_>, overrides: List<String>) -> PyResult<()> {
        let List(overrides) = overrides;
        self.with(py, |session| session.set(&overrides))?.map_err(|error| match &error {
            ChangeError::Scenario(errors) => of_scenario(py, errors),
            _ => other(error),
        })
    }

    /// Writes the simulation to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |session| session.save_to(&path))?.map_err(|error| of_saved(py, &path, &error))
    }

    /// The simulation as bytes, for pickling.
    fn _bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let saved = self.with(py, |session| session.save())?;
        Ok(PyBytes::new(py, &saved.map_err(other)?))
    }

    /// The name of the scenario.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |session| session.plan().name.clone())
    }

    /// Runs a copy to the end. See `tailback.Simulation.finish` in the package.
    #[pyo3(signature = (threads=None, out=None, overwrite=false, progress=None))]
    fn _finish(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        out: Option<PathBuf>,
        overwrite: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<crate::result::Result> {
        let session = self.with(py, |session| session.clone())?;
        let record = session.records() || out.is_some();
        let duration = session.plan().run.duration;
        finished(py, duration, self.told(), (out, overwrite, record), progress, |options, see| {
            let plan = session.plan().clone();
            let options = Options { threads: threads.or(plan.run.threads).unwrap_or_else(study::cores), ..*options };
            let execution = study::finish(session, &options, see, |_| Ok(()))?;
            Ok((plan, execution))
        })
    }

    /// Runs copies to the end: one as it is, and one with every combination of values.
    #[pyo3(signature = (axes, threads=None, progress=None))]
    fn _what_if<'py>(
        &self,
        py: Python<'py>,
        axes: Axes,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (session, axes) = (self.with(py, |session| session.clone())?, list::axes(axes));
        let told = self.told();
        let duration = session.plan().run.duration.as_picos();
        let count = axes.iter().fold(1_u64, |count, (_, values)| count.saturating_mul(values.len() as u64)) + 1;
        told.total.store(duration.saturating_mul(count), Ordering::Relaxed);
        let (futures, raised) = watched(py, progress.as_ref(), &told, || {
            let threads = threads.or(session.plan().run.threads).unwrap_or_else(study::cores);
            let options = Options { threads, interrupt: &told.interrupt, ..Options::default() };
            study::what_if(&session, &axes, &options, |number, seen| {
                let now = seen.now.saturating_since(Time::ZERO).as_picos();
                told.done.store(duration.saturating_mul(number as u64).saturating_add(now), Ordering::Relaxed);
            })
        });
        if let Some(error) = raised {
            return Err(error);
        }
        let futures = futures.map_err(|error| match &error {
            WhatIfError::Change(ChangeError::Scenario(errors)) => of_scenario(py, errors),
            _ => other(error),
        })?;
        json::object(py, &study::what_if_record(session.now(), &futures))
    }

    /// A copy that goes on by itself.
    fn fork(&self, py: Python<'_>) -> PyResult<Simulation> {
        Ok(Simulation::with_python(self.with(py, |session| session.clone())?, self.trouble.clone()))
    }
}
