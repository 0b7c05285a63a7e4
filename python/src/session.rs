//! Runs in steps.

use crate::error::other;
use crate::json;
use crate::table::{Table, field};
use crate::watch::{Told, watched};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::DataType;
use fabric::FlowSummary;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use study::Session;
use units::{Span, Time};

/// A simulation that stops where its caller wants.
#[pyclass(frozen, module = "tailback")]
pub struct Simulation {
    session: Mutex<Session>,
}

impl Simulation {
    pub fn new(session: Session) -> Simulation {
        Simulation { session: Mutex::new(session) }
    }

    fn with<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Simulation {
    /// The simulated time in picoseconds.
    #[getter]
    fn now(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.with(|session| session.now().saturating_since(Time::ZERO).as_picos()))
    }

    /// Runs until that time of the simulation. Returns how this step ended.
    #[pyo3(signature = (until, progress=None))]
    fn _run_until(&self, py: Python<'_>, until: &str, progress: Option<Py<PyAny>>) -> PyResult<&'static str> {
        let Ok(until) = until.parse::<Span>() else {
            return Err(PyValueError::new_err(format!(
                "{until:?} is no time: write it with its unit, such as \"1.5us\""
            )));
        };
        let told = Told::default();
        told.total.store(until.as_picos(), Ordering::Relaxed);
        let (summary, raised) = watched(py, progress.as_ref(), &told, || {
            self.with(|session| session.run_until(Time::ZERO + until, &told.interrupt))
        });
        match raised.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            Some(error) => Err(error),
            None => Ok(study::outcome_word(&summary.outcome)),
        }
    }

    /// The fingerprint so far, in hexadecimal.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> String {
        results::hex(py.detach(|| self.with(|session| session.fingerprint())))
    }

    /// The sums so far.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let totals = py.detach(|| self.with(|session| session.totals()));
        json::object(py, &serde_json::Value::Object(results::totals_map(&totals)))
    }

    /// What has become of each flow so far.
    fn flows(&self, py: Python<'_>) -> PyResult<Table> {
        let (flows, names) = py.detach(|| {
            self.with(|session| {
                let names = &session.plan().flow_names;
                let flows = session.flows();
                let names: Vec<String> =
                    (0..flows.len()).map(|flow| names.get(flow).unwrap_or_default().into_owned()).collect();
                (flows, names)
            })
        });
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

    /// A copy that goes on by itself.
    fn fork(&self, py: Python<'_>) -> Simulation {
        Simulation::new(py.detach(|| self.with(|session| session.clone())))
    }
}
