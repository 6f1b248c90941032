//! Communities compared with plain twins, with planted ones, and with what they must be.

mod found;
mod kept;
mod networks;
mod twins;
