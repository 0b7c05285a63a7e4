//! Exit codes: a script can tell a bad file from a broken promise.

use super::console;
use fabric::Outcome;
use results::ResultsError;
use std::io::ErrorKind;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: all went well.
    Success,
    /// 1: the system failed: a full disk, no permission. The same command may succeed later or elsewhere.
    Failure,
    /// 2: the input is wrong, and another command or other files mend it: arguments, a scenario, a path that names
    /// nothing or the wrong thing, a place that is taken.
    BadInput,
    /// 3: a frame of a lossless class was dropped.
    Loss,
    /// 4: a deadlock, a stall or a livelock: frames of a lossless class that do not move any more.
    Deadlock,
    /// 5: a limit was reached.
    Limit,
    /// 6: the results are not what was expected, or disagree with the paper.
    Disagreement,
    /// 130: interrupted from the keyboard.
    Interrupted,
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::BadInput => 2,
            Exit::Loss => 3,
            Exit::Deadlock => 4,
            Exit::Limit => 5,
            Exit::Disagreement => 6,
            Exit::Interrupted => 130,
        }
    }

    /// How a file that cannot be read or written ends the program: a path that names nothing, or the wrong thing, is bad
    /// input; the rest is the system's.
    pub fn of_io(error: &std::io::Error) -> Exit {
        match error.kind() {
            _ if files::is_strange(error) => Exit::BadInput,
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData => Exit::BadInput,
            _ => Exit::Failure,
        }
    }

    /// How results that cannot be read or written end the program.
    pub fn refusal(error: &ResultsError) -> Exit {
        match error {
            ResultsError::Io { source, .. } => Exit::of_io(source),
            ResultsError::Table { doing: "read", .. } => Exit::BadInput,
            ResultsError::TooMuch { .. } | ResultsError::TimeUp => Exit::Limit,
            ResultsError::Table { .. } | ResultsError::NotMoved { .. } => Exit::Failure,
            ResultsError::Exists { .. }
            | ResultsError::Busy { .. }
            | ResultsError::Edited { .. }
            | ResultsError::Unfinished { .. }
            | ResultsError::Appeared { .. }
            | ResultsError::InTheWay { .. }
            | ResultsError::NotWhole { .. }
            | ResultsError::Foreign { .. }
            | ResultsError::NotOurs { .. }
            | ResultsError::NotResults { .. }
            | ResultsError::Changed { .. }
            | ResultsError::Newer { .. }
            | ResultsError::NoTable { .. } => Exit::BadInput,
        }
    }

    /// How a run's outcome, as a word of a document, ends the program.
    pub fn of_word(outcome: &str) -> Exit {
        match outcome {
            "deadlock" | "stalled" | "livelock" => Exit::Deadlock,
            "loss" => Exit::Loss,
            "limit" => Exit::Limit,
            "interrupted" => Exit::Interrupted,
            _ => Exit::Success,
        }
    }

    /// How a run's outcome ends the program.
    pub fn of(outcome: &Outcome) -> Exit {
        match outcome {
            Outcome::Finished => Exit::Success,
            Outcome::Deadlock(_) | Outcome::Stalled(_) | Outcome::Livelock(_) => Exit::Deadlock,
            Outcome::LossInLosslessClass(_) => Exit::Loss,
            Outcome::LimitReached(_) => Exit::Limit,
            Outcome::Interrupted => Exit::Interrupted,
        }
    }
}

/// Why something was not written, and how that ends the program.
#[derive(Debug)]
pub struct Unwritten {
    text: String,
    exit: Exit,
}

impl Unwritten {
    /// Says why.
    pub fn say(&self) -> Exit {
        console::error(&self.text);
        self.exit
    }
}

impl From<ResultsError> for Unwritten {
    fn from(error: ResultsError) -> Unwritten {
        Unwritten { exit: Exit::refusal(&error), text: error.to_string() }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
