//! Linearisation of a model at its equilibrium, `x' = A x + B x(t - tau)`, and the resulting loop.

use super::Fluid;
use crate::Error;
use crate::stability::DelayedLoop;
use crate::stability::polynomial::Polynomial;

/// Matrices of a linearised model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear<const N: usize> {
    /// `A`: effect of the current state on its derivative, row by row.
    pub now: [[f64; N]; N],
    /// `B`: effect of the delayed state on the derivative.
    pub then: [[f64; N]; N],
    /// The delay, in seconds.
    pub delay: f64,
}

/// Returns the derivatives of a model at its equilibrium, with the equations of one regime. They are central
/// differences over a hundred-thousandth of each quantity, accurate to about ten digits.
///
/// # Errors
/// Fails if the model has no equilibrium.
pub fn linearise<M: Fluid<N>, const N: usize>(model: &M, regime: M::Regime) -> Result<Linear<N>, Error> {
    let rest = model.equilibrium()?;
    let (mut now, mut then) = ([[0.0; N]; N], [[0.0; N]; N]);
    for column in 0..N {
        let size = rest[column].abs();
        let small = if size > 0.0 { size * 1e-5 } else { 1e-5 };
        let (mut up, mut down) = (rest, rest);
        up[column] += small;
        down[column] -= small;
        let apart = up[column] - down[column];
        let by_now = (model.change(regime, &up, &rest), model.change(regime, &down, &rest));
        let by_then = (model.change(regime, &rest, &up), model.change(regime, &rest, &down));
        for row in 0..N {
            now[row][column] = (by_now.0[row] - by_now.1[row]) / apart;
            then[row][column] = (by_then.0[row] - by_then.1[row]) / apart;
        }
    }
    Ok(Linear { now, then, delay: model.delay() })
}

/// A polynomial in `z = e^(-s tau)` whose coefficients are polynomials in `s`.
type InZ = Vec<Polynomial>;

fn add(sum: &mut InZ, term: &InZ, factor: f64) {
    for (power, coefficient) in term.iter().enumerate() {
        let coefficient = coefficient.scaled(factor);
        match sum.get_mut(power) {
            Some(known) => *known = known.plus(&coefficient),
            None => sum.push(coefficient),
        }
    }
}

fn times(a: &InZ, b: &InZ) -> InZ {
    let mut product = vec![Polynomial::new(&[]); a.len() + b.len() - 1];
    for (i, left) in a.iter().enumerate() {
        for (j, right) in b.iter().enumerate() {
            product[i + j] = product[i + j].plus(&left.times(right));
        }
    }
    product
}

/// The determinant of the rows from `row` on and the columns that are left.
fn determinant(entries: &[Vec<InZ>], row: usize, columns: &[usize]) -> InZ {
    let mut sum = vec![Polynomial::new(&[])];
    if columns.is_empty() {
        return vec![Polynomial::new(&[1.0])];
    }
    for (place, &column) in columns.iter().enumerate() {
        let rest: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
        let minor = determinant(entries, row + 1, &rest);
        add(&mut sum, &times(&entries[row][column], &minor), if place % 2 == 0 { 1.0 } else { -1.0 });
    }
    sum
}

impl<const N: usize> Linear<N> {
    /// Returns the characteristic equation `det(s - A - B e^(-s tau)) = 0` as a loop.
    ///
    /// # Errors
    /// Fails if the delay occurs in more than one power, which a [`DelayedLoop`] cannot express, or if the model is too
    /// large.
    pub fn characteristic(&self) -> Result<DelayedLoop, Error> {
        let entry = |row: usize, column: usize| -> InZ {
            let own = [-self.now[row][column], if row == column { 1.0 } else { 0.0 }];
            vec![Polynomial::new(&own), Polynomial::new(&[-self.then[row][column]])]
        };
        let entries: Vec<Vec<InZ>> = (0..N).map(|row| (0..N).map(|column| entry(row, column)).collect()).collect();
        let mut powers = determinant(&entries, 0, &(0..N).collect::<Vec<usize>>());
        powers.resize(powers.len().max(2), Polynomial::new(&[]));
        for beyond in &powers[2..] {
            let late = (0..N).any(|power| {
                let single = powers[0].coefficient(power).abs() + powers[1].coefficient(power).abs();
                beyond.coefficient(power).abs() > 1e-9 * single
            });
            if late {
                let rule = "the delay must enter the characteristic equation only once";
                return Err(Error::BadParameter { name: "delay", value: self.delay, rule });
            }
        }
        DelayedLoop::new(powers[0], powers[1], self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_integrator_by_hand() {
        // v' = u, u' = -2 u(t - 3) - 5 v(t - 3): s^2 + (2 s + 5) e^(-3 s).
        let linear = Linear { now: [[0.0, 1.0], [0.0, 0.0]], then: [[0.0, 0.0], [-5.0, -2.0]], delay: 3.0 };
        let expected = DelayedLoop::double_integrator(2.0, 5.0, 3.0);
        assert_eq!(linear.characteristic(), expected);
    }

    #[test]
    fn three_quantities_by_hand() {
        // x' = y, y' = z - x(t - 1), z' = -2 z - 4 y(t - 1): the delay enters once,
        // s (s (s + 2) + 4 e^-s) + (s + 2) e^-s = s^3 + 2 s^2 + (5 s + 2) e^-s.
        let linear = Linear {
            now: [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -2.0]],
            then: [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -4.0, 0.0]],
            delay: 1.0,
        };
        let expected = DelayedLoop::new(Polynomial::new(&[0.0, 0.0, 2.0, 1.0]), Polynomial::new(&[2.0, 5.0]), 1.0);
        assert_eq!(linear.characteristic(), expected);
    }

    #[test]
    fn two_delays_are_refused() {
        let linear = Linear { now: [[0.0; 2]; 2], then: [[-1.0, 0.0], [0.0, -1.0]], delay: 1.0 };
        assert!(linear.characteristic().expect_err("twice").to_string().contains("only once"));
    }
}
