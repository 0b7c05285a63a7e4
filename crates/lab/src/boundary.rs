//! The functions that a page calls in the module, and the memory through which they talk.
//!
//! A page asks for room for its request ([`lab_room`]), writes it there, and calls [`lab_answer`]. The answer is in the
//! module's memory until the next call, as [`super::Answer::write`] writes it. There is no unsafe operation here: a page writes only where it was given room, and all of it is
//! initialised before. What the lint objects to is that these functions have names that others could have, too; nothing else
//! in the module is exported.

#![expect(unsafe_code, reason = "exported names; no unsafe operation")]

use super::Lab;
use std::cell::RefCell;

#[derive(Default)]
struct Desk {
    lab: Lab,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

/// Makes room for a request of that many bytes, and returns where it is.
#[unsafe(no_mangle)]
pub extern "C" fn lab_room(bytes: usize) -> *mut u8 {
    DESK.with_borrow_mut(|desk| {
        desk.request = vec![0; bytes];
        desk.request.as_mut_ptr()
    })
}

/// Answers the request, and returns the length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn lab_answer() -> usize {
    DESK.with_borrow_mut(|desk| {
        let request = std::mem::take(&mut desk.request);
        let answer = desk.lab.answer(&request);
        desk.answer.clear();
        answer.write(&mut desk.answer);
        desk.answer.len()
    })
}

/// Returns where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn lab_answer_at() -> *const u8 {
    DESK.with_borrow(|desk| desk.answer.as_ptr())
}
