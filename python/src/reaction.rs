//! A reaction point written in Python, for trying ideas: every input of every flow is a call of the interpreter.

use fabric::congestion::parameter::Invalid;
use fabric::congestion::{Adapter, Allowance, Feedback, LossSignal, Reaction, ReactionPoint, STAMP};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bytes, Rate, Span, Time};

/// A rate that no link reaches, in bits per second: more is no more.
const FASTEST: f64 = 1e15;
/// A window that no flow fills, in bytes, and a time that no run reaches, in picoseconds, for the same reason.
const MOST: u64 = 1 << 62;

/// The first exception of a simulation's reaction points. Once there is one, no method is called any more.
#[derive(Clone, Default)]
pub struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    /// The exception, if there is one.
    pub fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|error| error.clone_ref(py))
    }

    fn note(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn is_known(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// The reaction point of one flow. What it allows and when it wants to be called is asked once after every input.
struct PythonPoint {
    /// Makes the object of a flow.
    make: Arc<Py<PyAny>>,
    object: Option<Py<PyAny>>,
    allowance: Allowance,
    deadline: Option<Time>,
    /// Whether the protocol in its place reacts to congestion notification packets.
    notified: bool,
    trouble: Trouble,
}

/// An object of Python is not left in between by a panic of Rust: calls return errors.
impl UnwindSafe for PythonPoint {}
impl RefUnwindSafe for PythonPoint {}

impl std::fmt::Debug for PythonPoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PythonPoint").field("allowance", &self.allowance).field("deadline", &self.deadline).finish()
    }
}

/// A copy has a deep copy of the object.
impl Clone for PythonPoint {
    fn clone(&self) -> PythonPoint {
        let object = self.object.as_ref().and_then(|object| {
            Python::attach(|py| {
                let copied = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                copied.map_err(|error| self.trouble.note(error)).ok().map(Bound::unbind)
            })
        });
        let PythonPoint { make, object: _, allowance, deadline, notified, trouble } = self;
        PythonPoint {
            make: Arc::clone(make),
            object,
            allowance: *allowance,
            deadline: *deadline,
            notified: *notified,
            trouble: trouble.clone(),
        }
    }
}

impl PythonPoint {
    /// Calls a method of the object, and asks what is allowed then. Without such a method nothing happens.
    fn call(&mut self, name: &str, arguments: impl FnOnce(Python<'_>) -> PyResult<Vec<Py<PyAny>>>) {
        if self.trouble.is_known() {
            return;
        }
        let called = Python::attach(|py| -> PyResult<Option<(Allowance, Option<Time>)>> {
            let Some(object) = self.object.as_ref().map(|object| object.bind(py)) else { return Ok(None) };
            if !object.hasattr(name)? {
                return Ok(None);
            }
            let arguments = pyo3::types::PyTuple::new(py, arguments(py)?)?;
            object.call_method1(name, arguments)?;
            asked(object).map(Some)
        });
        match called {
            Ok(Some(asked)) => (self.allowance, self.deadline) = asked,
            Ok(None) => {}
            Err(error) => self.trouble.note(error),
        }
    }
}

/// What an object allows, and when it wants to be called.
fn asked(object: &Bound<'_, PyAny>) -> PyResult<(Allowance, Option<Time>)> {
    let (rate, window): (Option<f64>, Option<u64>) = object.call_method0("allowance")?.extract()?;
    let rate = match rate {
        Some(rate) if !rate.is_finite() || rate < 0.0 => {
            let text = format!("allowance() returned the rate {rate}; return bits per second, or None for no limit");
            return Err(pyo3::exceptions::PyValueError::new_err(text));
        }
        rate => rate.map(|rate| Rate::from_bits_per_sec(rate.min(FASTEST) as u64)),
    };
    let deadline: Option<u64> = match object.hasattr("deadline")? {
        true => object.call_method0("deadline")?.extract()?,
        false => None,
    };
    let window = window.map(|window| Bytes::new(window.min(MOST)));
    Ok((Allowance { rate, window }, deadline.map(|deadline| Time::from_picos(deadline.min(MOST)))))
}

fn picos(time: Time) -> u64 {
    time.saturating_since(Time::ZERO).as_picos()
}

/// What a source learns, as a dictionary.
fn dictionary(py: Python<'_>, feedback: &Feedback) -> PyResult<Py<PyAny>> {
    let dictionary = PyDict::new(py);
    match feedback {
        Feedback::Acknowledgement { bytes, marked, round_trip, path } => {
            dictionary.set_item("kind", "acknowledgement")?;
            dictionary.set_item("bytes", bytes.get())?;
            dictionary.set_item("marked", marked)?;
            dictionary.set_item("round_trip", round_trip.as_picos())?;
            dictionary.set_item("network_round_trip", path.network_round_trip.as_picos())?;
            dictionary.set_item("hops", path.hops)?;
        }
        Feedback::CongestionNotification => dictionary.set_item("kind", "congestion-notification")?,
        Feedback::Grant { bytes } => {
            dictionary.set_item("kind", "grant")?;
            dictionary.set_item("bytes", bytes.get())?;
        }
        Feedback::PathProbe { number, value } => {
            dictionary.set_item("kind", "path-probe")?;
            dictionary.set_item("number", number)?;
            dictionary.set_item("value", (*value != STAMP).then_some(value))?;
        }
        Feedback::Notice { feedback, offset, growth, .. } => {
            dictionary.set_item("kind", "notice")?;
            dictionary.set_item("feedback", feedback)?;
            dictionary.set_item("offset", offset)?;
            dictionary.set_item("growth", growth)?;
        }
    }
    Ok(dictionary.into_any().unbind())
}

fn number(py: Python<'_>, number: u64) -> PyResult<Py<PyAny>> {
    Ok(number.into_pyobject(py)?.into_any().unbind())
}

impl ReactionPoint for PythonPoint {
    fn attach(&mut self, adapter: &Adapter) -> Result<(), Invalid> {
        let Adapter { link, frame, flow, round_trip, .. } = *adapter;
        let made = Python::attach(|py| -> PyResult<_> {
            let about = PyDict::new(py);
            about.set_item("link", link.as_bits_per_sec())?;
            about.set_item("frame", frame.get())?;
            about.set_item("flow", flow)?;
            about.set_item("round_trip", round_trip.as_picos())?;
            let object = self.make.bind(py).call1((about,))?;
            let asked = asked(&object)?;
            Ok((object.unbind(), asked))
        });
        match made {
            Ok((object, asked)) => {
                self.object = Some(object);
                (self.allowance, self.deadline) = asked;
            }
            Err(error) => self.trouble.note(error),
        }
        Ok(())
    }

    fn on_sent(&mut self, now: Time, len: Bytes) {
        self.call("on_sent", |py| Ok(vec![number(py, picos(now))?, number(py, len.get())?]));
    }

    fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        self.call("on_feedback", |py| Ok(vec![number(py, picos(now))?, dictionary(py, feedback)?]));
    }

    fn on_loss(&mut self, now: Time, signal: LossSignal) {
        let timeout = u64::from(signal == LossSignal::Timeout);
        self.call("on_loss", |py| Ok(vec![number(py, picos(now))?, number(py, timeout)?]));
    }

    fn on_deadline(&mut self, now: Time) {
        let before = self.deadline;
        self.call("on_deadline", |py| Ok(vec![number(py, picos(now))?]));
        // A deadline that stays in the past would be due for ever.
        if self.deadline == before || self.trouble.is_known() {
            self.deadline = None;
        } else {
            self.deadline = self.deadline.map(|at| at.max(now.saturating_add(Span::from_picos(1))));
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn wants_notifications(&self) -> bool {
        self.notified
    }
}

/// Puts objects of Python in the place of all reaction points of a network.
pub fn replace(spec: &mut fabric::spec::NetworkSpec, make: Py<PyAny>) -> Trouble {
    let (make, trouble) = (Arc::new(make), Trouble::default());
    for flow in &mut spec.flows {
        let notified = flow.reaction.wants_notifications();
        flow.reaction = Reaction::custom(PythonPoint {
            make: Arc::clone(&make),
            object: None,
            allowance: Allowance::default(),
            deadline: None,
            notified,
            trouble: trouble.clone(),
        });
    }
    trouble
}
