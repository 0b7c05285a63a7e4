//! Numbers by position, in 32 bits each while all of them fit.

use units::{Encode, State};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Default for Column {
    fn default() -> Column {
        Column::Narrow(Vec::new())
    }
}

impl Column {
    /// So many zeros, which take no memory until one of them is set.
    pub(crate) fn zeros(count: usize) -> Column {
        Column::Narrow(vec![0; count])
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> u64 {
        match self {
            Column::Narrow(numbers) => numbers[place].into(),
            Column::Wide(numbers) => numbers[place],
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, place: usize, number: u64) {
        match self {
            Column::Narrow(numbers) => match u32::try_from(number) {
                // Zeros that stay zeros take no memory.
                Ok(number) if numbers[place] == number => {}
                Ok(number) => numbers[place] = number,
                Err(_) => self.widen(place, number),
            },
            Column::Wide(numbers) => numbers[place] = number,
        }
    }

    #[cold]
    fn widen(&mut self, place: usize, number: u64) {
        let mut numbers: Vec<u64> = self.iter().collect();
        numbers[place] = number;
        *self = Column::Wide(numbers);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let (narrow, wide): (&[u32], &[u64]) = match self {
            Column::Narrow(numbers) => (numbers, &[]),
            Column::Wide(numbers) => (&[], numbers),
        };
        narrow.iter().map(|&number| number.into()).chain(wide.iter().copied())
    }

    /// Bytes of it, without those of numbers that were never set, if none was.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Column::Narrow(numbers) if numbers.iter().all(|&number| number == 0) => 0,
            Column::Narrow(numbers) => size_of_val(&numbers[..]),
            Column::Wide(numbers) => size_of_val(&numbers[..]),
        }
    }

    fn len(&self) -> usize {
        match self {
            Column::Narrow(numbers) => numbers.len(),
            Column::Wide(numbers) => numbers.len(),
        }
    }
}

/// As a list of numbers, as many as there were when the network was built.
impl State for Column {
    fn save(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|number| number.encode(out));
    }

    fn load(&mut self, input: &mut &[u8]) -> Option<()> {
        if u64::decode(input)? != self.len() as u64 {
            return None;
        }
        for place in 0..self.len() {
            self.set(place, u64::decode(input)?);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_narrow_until_one_does_not_fit() {
        let mut column = Column::zeros(3);
        column.set(1, u32::MAX.into());
        assert!(matches!(column, Column::Narrow(_)));
        assert_eq!(column.iter().collect::<Vec<_>>(), [0, u32::MAX.into(), 0]);
        column.set(2, 1 << 32);
        assert!(matches!(column, Column::Wide(_)));
        column.set(0, 7);
        assert_eq!(column.iter().collect::<Vec<_>>(), [7, u32::MAX.into(), 1 << 32]);
        assert_eq!([0, 1, 2].map(|place| column.get(place)), [7, u32::MAX.into(), 1 << 32]);
        let mut bytes = Vec::new();
        column.save(&mut bytes);
        let mut read = Column::zeros(3);
        assert_eq!(read.load(&mut &bytes[..]), Some(()));
        assert_eq!(read.iter().collect::<Vec<_>>(), column.iter().collect::<Vec<_>>());
        assert_eq!((Column::zeros(2).load(&mut &bytes[..]), Column::zeros(3).load(&mut &bytes[..20])), (None, None));
    }
}
