//! The common part of all views: a buffer, and a check that the fixed part is present.

/// Declares a view of a buffer with a header of at least `$header` octets.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident, $what:literal, $header:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T: AsRef<[u8]>> {
            buffer: T,
        }

        impl<T: AsRef<[u8]>> $name<T> {
            /// Length of the fixed part in octets.
            pub const HEADER: usize = $header;

            /// Creates a view of a buffer; rejects one that is shorter than the fixed part.
            pub fn new(buffer: T) -> Result<$name<T>, $crate::Error> {
                $crate::bytes::at_least(buffer.as_ref(), Self::HEADER, $what)?;
                Ok($name { buffer })
            }

            /// Returns all octets from the header on.
            pub fn bytes(&self) -> &[u8] {
                self.buffer.as_ref()
            }

            /// Returns the buffer.
            pub fn into_inner(self) -> T {
                self.buffer
            }
        }
    };
}

pub(crate) use view;
