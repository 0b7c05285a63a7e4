//! Theorem 1 of the BCN paper: the rates at rest.
//!
//! Without self-increase, a source changes its rate only when it receives feedback. The rates at rest are therefore not
//! one point but the whole boundary of `{R | A R <= C}`, where `A` states which flow uses which link: some link is
//! full, and none is overloaded. The paper then linearises at the equal share, because noise in the arrivals leads
//! there.

use crate::Error;

/// The position of a vector of rates relative to the boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// These links are overloaded.
    Beyond(Vec<usize>),
    /// No link is full: notified sources increase their rates.
    Within,
    /// On the boundary: these links are full and no link is overloaded.
    AtRest(Vec<usize>),
}

/// The links that a set of flows uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharing {
    /// Flows of each link: the rows of `A`.
    pub users: Vec<Vec<usize>>,
    /// Rate of each link.
    pub capacities: Vec<f64>,
}

impl Sharing {
    /// Creates the set of flows and links.
    ///
    /// # Errors
    /// Fails if the numbers of rows and capacities differ, or if a capacity is not above zero.
    pub fn new(users: Vec<Vec<usize>>, capacities: Vec<f64>) -> Result<Sharing, Error> {
        if users.len() != capacities.len() {
            let rule = "there must be as many capacities as links";
            return Err(Error::BadParameter { name: "capacities", value: capacities.len() as f64, rule });
        }
        match capacities.iter().find(|&&capacity| capacity.is_nan() || capacity <= 0.0) {
            Some(&value) => Err(Error::BadParameter { name: "capacity", value, rule: "it must be above zero" }),
            None => Ok(Sharing { users, capacities }),
        }
    }

    /// The load of each link over its capacity.
    fn loads<'a>(&'a self, rates: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        let load = |users: &Vec<usize>| users.iter().fold(0.0, |sum, &flow| sum + rates.get(flow).unwrap_or(&0.0));
        self.users.iter().zip(&self.capacities).map(move |(users, capacity)| load(users) / capacity)
    }

    /// Returns the position of these rates. A link counts as full within `tolerance` of its capacity.
    #[must_use]
    pub fn standing(&self, rates: &[f64], tolerance: f64) -> Standing {
        let with = |is: &dyn Fn(f64) -> bool| -> Vec<usize> {
            self.loads(rates).enumerate().filter(|&(_, load)| is(load)).map(|(link, _)| link).collect()
        };
        let beyond = with(&|load| load > 1.0 + tolerance);
        if !beyond.is_empty() {
            return Standing::Beyond(beyond);
        }
        let full = with(&|load| load >= 1.0 - tolerance);
        if full.is_empty() { Standing::Within } else { Standing::AtRest(full) }
    }

    /// Returns the flows that use no full link. The theorem counts such rates as at rest too, since nothing requires
    /// that these flows receive feedback; a congestion point with an empty queue would notify those associated with it.
    #[must_use]
    pub fn unheld(&self, rates: &[f64], tolerance: f64) -> Vec<usize> {
        let full: Vec<bool> = self.loads(rates).map(|load| load >= 1.0 - tolerance).collect();
        let held = |flow: usize| self.users.iter().zip(&full).any(|(users, &full)| full && users.contains(&flow));
        (0..rates.len()).filter(|&flow| !held(flow)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sources_on_a_link_rest_wherever_they_fill_it() {
        // The paper's example in section III: any R1 + R2 = C.
        let sharing = Sharing::new(vec![vec![0, 1]], vec![10.0]).expect("a link");
        for rates in [[5.0, 5.0], [1.0, 9.0], [10.0, 0.0]] {
            assert_eq!(sharing.standing(&rates, 1e-12), Standing::AtRest(vec![0]));
            assert!(sharing.unheld(&rates, 1e-12).is_empty());
        }
        assert_eq!(sharing.standing(&[4.0, 5.0], 1e-12), Standing::Within);
        assert_eq!(sharing.standing(&[6.0, 5.0], 1e-12), Standing::Beyond(vec![0]));
    }

    #[test]
    fn a_chain_of_two_links() {
        // Flow 0 uses both links, 1 the first, 2 the second.
        let sharing = Sharing::new(vec![vec![0, 1], vec![0, 2]], vec![10.0, 20.0]).expect("links");
        assert_eq!(sharing.standing(&[5.0, 5.0, 15.0], 1e-12), Standing::AtRest(vec![0, 1]));
        // One full link is enough for the theorem, although flow 2 could have more.
        assert_eq!(sharing.standing(&[5.0, 5.0, 1.0], 1e-12), Standing::AtRest(vec![0]));
        assert_eq!(sharing.unheld(&[5.0, 5.0, 1.0], 1e-12), [2]);
        assert_eq!(sharing.standing(&[9.0, 9.0, 1.0], 1e-12), Standing::Beyond(vec![0]));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Sharing::new(vec![vec![0]], vec![]).is_err());
        assert!(Sharing::new(vec![vec![0]], vec![0.0]).expect_err("no rate").to_string().contains("above zero"));
    }
}
