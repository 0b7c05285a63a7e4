//! The state of a running model as bytes, apart from what its description determines.
//!
//! A model is built from its description, and then changes. [`State`] writes the changed part of it, and reads it into a
//! model that was built again: from the same description, or from one with other parameters. So a parameter is never
//! read from a saved state, and a list whose length follows from the description keeps that length.
//!
//! [`state!`](crate::state) names every field of a type: a field that is added and not named does not compile.

use crate::Encode;

/// The part of a value that changes while a model runs.
pub trait State {
    /// Appends it.
    fn save(&self, out: &mut Vec<u8>);

    /// Reads it from the front of `input`, into a value that was built like the saved one; `None` if it does not fit. The
    /// value is then of no use.
    #[must_use]
    fn load(&mut self, input: &mut &[u8]) -> Option<()>;
}

/// Appends a list of plain data whose length follows from the description.
pub fn save_list<T: Encode>(list: &[T], out: &mut Vec<u8>) {
    (list.len() as u64).encode(out);
    list.iter().for_each(|value| value.encode(out));
}

/// Reads such a list. It must have the length that it has.
#[must_use]
pub fn load_list<T: Encode>(list: &mut [T], input: &mut &[u8]) -> Option<()> {
    if u64::decode(input)? != list.len() as u64 {
        return None;
    }
    for value in list {
        *value = T::decode(input)?;
    }
    Some(())
}

impl<T: State + ?Sized> State for Box<T> {
    fn save(&self, out: &mut Vec<u8>) {
        (**self).save(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        (**self).load(input)
    }
}

/// Whether there is a value follows from the description.
impl<T: State> State for Option<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.is_some().encode(out);
        self.iter().for_each(|value| value.save(out));
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        if bool::decode(input)? != self.is_some() {
            return None;
        }
        self.as_mut().map_or(Some(()), |value| value.load(input))
    }
}

impl<T: State> State for [T] {
    fn save(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|value| value.save(out));
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        if u64::decode(input)? != self.len() as u64 {
            return None;
        }
        self.iter_mut().try_for_each(|value| value.load(input))
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, out: &mut Vec<u8>) {
        self.as_slice().save(out);
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        self.as_mut_slice().load(input)
    }
}

/// Implements [`State`] for a struct. Of its fields,
/// `fixed` ones follow from the description and are not saved,
/// `plain` ones are [`Encode`] and are replaced,
/// `lists` are lists of plain data whose length follows from the description, and
/// `parts` have a [`State`] of their own. The order is this one; an absent kind is left out.
///
/// ```
/// use tailback_units::{State, state};
///
/// struct Counter {
///     limit: u64,
///     count: u64,
///     by_port: Vec<u64>,
/// }
/// state!(struct Counter { fixed: limit; plain: count; lists: by_port; });
///
/// let (old, mut new) = (
///     Counter { limit: 10, count: 3, by_port: vec![1, 2] },
///     Counter { limit: 20, count: 0, by_port: vec![0, 0] },
/// );
/// let mut saved = Vec::new();
/// old.save(&mut saved);
/// assert_eq!(new.load(&mut &saved[..]), Some(()));
/// assert_eq!((new.limit, new.count, &new.by_port[..]), (20, 3, &[1, 2][..]));
/// ```
#[macro_export]
macro_rules! state {
    (struct $type:ident $(<$parameter:ident: $bound:path>)? {
        $(fixed: $($fixed:ident),+;)?
        $(plain: $($plain:ident),+;)?
        $(lists: $($list:ident),+;)?
        $(parts: $($part:ident),+;)?
    }) => {
        impl $(<$parameter: $bound>)? $crate::State for $type $(<$parameter>)? {
            #[allow(unused_variables, reason = "some types have no state")]
            fn save(&self, out: &mut Vec<u8>) {
                let Self { $($($fixed: _,)+)? $($($plain,)+)? $($($list,)+)? $($($part,)+)? } = self;
                $($($crate::Encode::encode($plain, out);)+)?
                $($($crate::save_list($list, out);)+)?
                $($($crate::State::save($part, out);)+)?
            }

            #[allow(unused_variables, reason = "some types have no state")]
            fn load(&mut self, input: &mut &[u8]) -> Option<()> {
                let Self { $($($fixed: _,)+)? $($($plain,)+)? $($($list,)+)? $($($part,)+)? } = self;
                $($(*$plain = $crate::Encode::decode(input)?;)+)?
                $($($crate::load_list($list, input)?;)+)?
                $($($crate::State::load($part, input)?;)+)?
                Some(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Inner {
        parameter: u8,
        value: u32,
    }
    state!(struct Inner { fixed: parameter; plain: value; });

    #[derive(Clone, Debug, PartialEq)]
    struct Outer {
        name: &'static str,
        last: Option<u64>,
        counts: Vec<u16>,
        inner: Vec<Option<Box<Inner>>>,
    }
    state!(struct Outer { fixed: name; plain: last; lists: counts; parts: inner; });

    fn outer() -> Outer {
        let inner = Inner { parameter: 1, value: 2 };
        Outer { name: "a", last: Some(3), counts: vec![4, 5], inner: vec![None, Some(Box::new(inner))] }
    }

    #[test]
    fn state_comes_back_and_parameters_stay() {
        let mut saved = Vec::new();
        outer().save(&mut saved);
        let fresh = Inner { parameter: 7, value: 0 };
        let mut other = Outer { name: "b", last: None, counts: vec![0, 0], inner: vec![None, Some(Box::new(fresh))] };
        assert_eq!(other.load(&mut &saved[..]), Some(()));
        assert_eq!((other.name, other.last, &other.counts), ("b", Some(3), &vec![4, 5]));
        assert_eq!(other.inner[1].as_deref(), Some(&Inner { parameter: 7, value: 2 }));
    }

    #[test]
    fn a_state_of_another_shape_is_refused() {
        let mut saved = Vec::new();
        outer().save(&mut saved);
        for cut in 0..saved.len() {
            assert_eq!(outer().load(&mut &saved[..cut]), None, "{cut} of {}", saved.len());
        }
        assert_eq!(Outer { counts: vec![0], ..outer() }.load(&mut &saved[..]), None);
        assert_eq!(Outer { inner: vec![None, None], ..outer() }.load(&mut &saved[..]), None);
        assert_eq!(Outer { inner: vec![None], ..outer() }.load(&mut &saved[..]), None);
    }
}
