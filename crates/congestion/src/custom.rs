//! Reaction points and congestion points that other crates define.
//!
//! The built-in protocols are variants of [`Reaction`] and [`Point`], so a call to one of them is a branch, not a
//! virtual call. One further variant of each boxes a type of another crate; [`Reaction::custom`] and [`Point::custom`]
//! create it. The two traits here are implemented for every suitable type and need not be named.

use crate::point::{CongestionPoint, Drawn, Fate, Notice, Passage, Passing, Request, Surroundings, Treatment, View};
use crate::{Point, Reaction, ReactionPoint};
use std::any::Any;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use units::{State, Time};

/// A reaction point that can be boxed: any [`ReactionPoint`] that can be cloned, printed and sent to another thread.
pub trait CustomReactionPoint: ReactionPoint + Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Returns a boxed copy: each flow has its own.
    fn boxed_clone(&self) -> Box<dyn CustomReactionPoint>;
}

impl<T> CustomReactionPoint for T
where
    T: ReactionPoint + Clone + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
{
    fn boxed_clone(&self) -> Box<dyn CustomReactionPoint> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn CustomReactionPoint> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// A type of another crate has no state that can be saved: a simulation with one is not saved.
impl State for dyn CustomReactionPoint {
    fn save(&self, _out: &mut Vec<u8>) {}

    fn load(&mut self, _input: &mut &[u8]) -> Option<()> {
        None
    }
}

impl Reaction {
    /// Wraps a reaction point that is not built in: any type that implements [`ReactionPoint`], [`Clone`] and [`Debug`]
    /// and contains no references or cells.
    pub fn custom(point: impl CustomReactionPoint + 'static) -> Reaction {
        Reaction::Custom(Box::new(point))
    }
}

/// A congestion point that can be boxed: the methods of [`CongestionPoint`], with the view behind a reference.
pub trait CustomCongestionPoint: Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// See [`CongestionPoint::attach`].
    fn attach(&mut self, surroundings: &Surroundings);
    /// See [`CongestionPoint::notifies`].
    fn notifies(&self) -> bool;
    /// See [`CongestionPoint::judges_joining`].
    fn judges_joining(&self) -> bool;
    /// See [`CongestionPoint::draws`].
    fn draws(&self) -> bool;
    /// See [`CongestionPoint::asked_from`].
    fn asked_from(&self, output: u16) -> Option<u32>;
    /// See [`CongestionPoint::judges`].
    fn judges(&self) -> bool;
    /// See [`CongestionPoint::discards`].
    fn discards(&self) -> u8;
    /// See [`CongestionPoint::trims`].
    fn trims(&self) -> bool;
    /// See [`CongestionPoint::returns_headers`].
    fn returns_headers(&self) -> bool;
    /// See [`CongestionPoint::on_enqueue`].
    fn on_enqueue(&mut self, frame: &Passage, view: &dyn View) -> Treatment;
    /// See [`CongestionPoint::on_arrival`].
    fn on_arrival(&mut self, frame: &Passage, view: &dyn View) -> Request;
    /// See [`CongestionPoint::on_output`].
    fn on_output(&mut self, frame: &Passage, view: &dyn View) -> Request;
    /// See [`CongestionPoint::on_path_probe`].
    fn on_path_probe(&mut self, probe: &mut Passing, view: &dyn View) -> Fate;
    /// See [`CongestionPoint::on_settled`].
    fn on_settled(&mut self, now: Time, view: &dyn View);
    /// See [`CongestionPoint::on_start`].
    fn on_start(&mut self, frame: &Passage, view: &dyn View) -> bool;
    /// See [`CongestionPoint::on_rerouted`].
    fn on_rerouted(&mut self, view: &dyn View);
    /// See [`CongestionPoint::on_drawn`].
    fn on_drawn(&mut self, now: Time, drawn: &[Drawn]) -> Option<Notice>;
    /// See [`CongestionPoint::deadline`].
    fn deadline(&self) -> Option<Time>;
    /// See [`CongestionPoint::on_deadline`].
    fn on_deadline(&mut self, now: Time, view: &dyn View) -> Request;
    /// Returns a boxed copy: each switch has its own.
    fn boxed_clone(&self) -> Box<dyn CustomCongestionPoint>;
    /// Returns whether `other` has the same type and value.
    fn equals(&self, other: &dyn CustomCongestionPoint) -> bool;
    /// Returns itself as [`Any`], for comparison by type.
    fn as_any(&self) -> &dyn Any;
}

/// See the reaction points.
impl State for dyn CustomCongestionPoint {
    fn save(&self, _out: &mut Vec<u8>) {}

    fn load(&mut self, _input: &mut &[u8]) -> Option<()> {
        None
    }
}

impl<T> CustomCongestionPoint for T
where
    T: CongestionPoint + Clone + Debug + PartialEq + Send + Sync + UnwindSafe + RefUnwindSafe + 'static,
{
    fn attach(&mut self, surroundings: &Surroundings) {
        CongestionPoint::attach(self, surroundings);
    }
    fn notifies(&self) -> bool {
        CongestionPoint::notifies(self)
    }
    fn judges_joining(&self) -> bool {
        CongestionPoint::judges_joining(self)
    }
    fn draws(&self) -> bool {
        CongestionPoint::draws(self)
    }
    fn asked_from(&self, output: u16) -> Option<u32> {
        CongestionPoint::asked_from(self, output)
    }
    fn judges(&self) -> bool {
        CongestionPoint::judges(self)
    }
    fn discards(&self) -> u8 {
        CongestionPoint::discards(self)
    }
    fn trims(&self) -> bool {
        CongestionPoint::trims(self)
    }
    fn returns_headers(&self) -> bool {
        CongestionPoint::returns_headers(self)
    }
    fn on_enqueue(&mut self, frame: &Passage, view: &dyn View) -> Treatment {
        CongestionPoint::on_enqueue(self, frame, &view)
    }
    fn on_arrival(&mut self, frame: &Passage, view: &dyn View) -> Request {
        CongestionPoint::on_arrival(self, frame, &view)
    }
    fn on_output(&mut self, frame: &Passage, view: &dyn View) -> Request {
        CongestionPoint::on_output(self, frame, &view)
    }
    fn on_path_probe(&mut self, probe: &mut Passing, view: &dyn View) -> Fate {
        CongestionPoint::on_path_probe(self, probe, &view)
    }
    fn on_settled(&mut self, now: Time, view: &dyn View) {
        CongestionPoint::on_settled(self, now, &view);
    }
    fn on_start(&mut self, frame: &Passage, view: &dyn View) -> bool {
        CongestionPoint::on_start(self, frame, &view)
    }
    fn on_rerouted(&mut self, view: &dyn View) {
        CongestionPoint::on_rerouted(self, &view);
    }
    fn on_drawn(&mut self, now: Time, drawn: &[Drawn]) -> Option<Notice> {
        CongestionPoint::on_drawn(self, now, drawn)
    }
    fn deadline(&self) -> Option<Time> {
        CongestionPoint::deadline(self)
    }
    fn on_deadline(&mut self, now: Time, view: &dyn View) -> Request {
        CongestionPoint::on_deadline(self, now, &view)
    }
    fn boxed_clone(&self) -> Box<dyn CustomCongestionPoint> {
        Box::new(self.clone())
    }
    fn equals(&self, other: &dyn CustomCongestionPoint) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Clone for Box<dyn CustomCongestionPoint> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl PartialEq for Box<dyn CustomCongestionPoint> {
    fn eq(&self, other: &Self) -> bool {
        (**self).equals(&**other)
    }
}

/// The methods that [`Point`] calls on its variants, for a box.
impl CongestionPoint for Box<dyn CustomCongestionPoint> {
    fn attach(&mut self, surroundings: &Surroundings) {
        (**self).attach(surroundings);
    }
    fn notifies(&self) -> bool {
        (**self).notifies()
    }
    fn judges_joining(&self) -> bool {
        (**self).judges_joining()
    }
    fn draws(&self) -> bool {
        (**self).draws()
    }
    fn asked_from(&self, output: u16) -> Option<u32> {
        (**self).asked_from(output)
    }
    fn judges(&self) -> bool {
        (**self).judges()
    }
    fn discards(&self) -> u8 {
        (**self).discards()
    }
    fn trims(&self) -> bool {
        (**self).trims()
    }
    fn returns_headers(&self) -> bool {
        (**self).returns_headers()
    }
    fn on_enqueue(&mut self, frame: &Passage, view: &impl View) -> Treatment {
        (**self).on_enqueue(frame, view)
    }
    fn on_arrival(&mut self, frame: &Passage, view: &impl View) -> Request {
        (**self).on_arrival(frame, view)
    }
    fn on_output(&mut self, frame: &Passage, view: &impl View) -> Request {
        (**self).on_output(frame, view)
    }
    fn on_path_probe(&mut self, probe: &mut Passing, view: &impl View) -> Fate {
        (**self).on_path_probe(probe, view)
    }
    fn on_settled(&mut self, now: Time, view: &impl View) {
        (**self).on_settled(now, view);
    }
    fn on_start(&mut self, frame: &Passage, view: &impl View) -> bool {
        (**self).on_start(frame, view)
    }
    fn on_rerouted(&mut self, view: &impl View) {
        (**self).on_rerouted(view);
    }
    fn on_drawn(&mut self, now: Time, drawn: &[Drawn]) -> Option<Notice> {
        (**self).on_drawn(now, drawn)
    }
    fn deadline(&self) -> Option<Time> {
        (**self).deadline()
    }
    fn on_deadline(&mut self, now: Time, view: &impl View) -> Request {
        (**self).on_deadline(now, view)
    }
}

impl Point {
    /// Wraps a congestion point that is not built in: any type that implements [`CongestionPoint`], [`Clone`],
    /// [`Debug`] and [`PartialEq`] and contains no references or cells.
    pub fn custom(point: impl CustomCongestionPoint + 'static) -> Point {
        Point::Custom(Box::new(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowance, Feedback, Marking, NoControl};
    use units::{Bytes, Rate};

    /// Halves its rate with every feedback.
    #[derive(Clone, Debug)]
    struct Halving(Rate);

    impl ReactionPoint for Halving {
        fn on_sent(&mut self, _now: Time, _len: Bytes) {}
        fn on_feedback(&mut self, _now: Time, _feedback: &Feedback) {
            self.0 = Rate::from_bits_per_sec(self.0.as_bits_per_sec() / 2);
        }
        fn on_deadline(&mut self, _now: Time) {}
        fn deadline(&self) -> Option<Time> {
            None
        }
        fn allowance(&self) -> Allowance {
            Allowance { rate: Some(self.0), window: None }
        }
    }

    #[test]
    fn a_custom_reaction_point_is_called_and_each_copy_has_its_own_state() {
        let original = Reaction::custom(Halving(Rate::from_gigabits(10)));
        let mut copy = original.clone();
        copy.on_feedback(Time::ZERO, &Feedback::PathProbe { number: 0, value: 0 });
        assert_eq!(copy.allowance().rate, Some(Rate::from_gigabits(5)));
        assert_eq!(original.allowance().rate, Some(Rate::from_gigabits(10)));
        assert!(format!("{original:?}").contains("Halving"));
    }

    /// Marks all frames or none.
    #[derive(Clone, Debug, PartialEq)]
    struct Always(bool);

    impl CongestionPoint for Always {
        fn attach(&mut self, _surroundings: &Surroundings) {}
        fn on_start(&mut self, _frame: &Passage, _view: &impl View) -> bool {
            self.0
        }
    }

    #[test]
    fn custom_congestion_points_are_equal_if_type_and_value_are() {
        let point = Point::custom(Always(true));
        assert_eq!(point, point.clone());
        assert_ne!(point, Point::custom(Always(false)));
        let built_in = |info: &crate::PointInfo| (info.build)(&crate::parameter::Values::defaults(info.parameters));
        let Ok(Point::Marking(marking)) = built_in(&crate::POINTS[0]) else { panic!("the first one marks") };
        let marking: Marking = marking;
        assert_ne!(point, Point::custom(marking.clone()));
        assert_ne!(Point::Marking(marking.clone()), Point::custom(marking));
    }

    #[test]
    fn a_built_in_reaction_point_can_be_boxed_too() {
        let limited = NoControl { allowance: Allowance { rate: Some(Rate::from_gigabits(1)), window: None } };
        assert_eq!(Reaction::custom(limited).ceiling(), Some(Rate::from_gigabits(1)));
    }
}
