//! Secrets as types of their own: never printed, compared in constant time, wiped when dropped.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Defines a secret of 32 bytes.
macro_rules! secret {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone)]
        pub struct $name(Zeroizing<[u8; 32]>);

        impl $name {
            /// The secret with these bytes, which should come from the operating system.
            pub fn new(bytes: [u8; 32]) -> Self {
                Self(Zeroizing::new(bytes))
            }

            /// The bytes, for the stored record and for hashing. Whoever calls this answers for
            /// where they go.
            pub fn expose(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(secret)"))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.ct_eq(&*other.0).into()
            }
        }

        impl Eq for $name {}
    };
}

secret! {
    /// What a deal is derived from: secret until the game has ended.
    ServerSeed
}

secret! {
    /// What a game's seat tokens are derived from: secret for ever.
    GameKey
}
