//! Communities compared with plain twins, with planted ones, and with what they must be.

mod found;
mod joined;
mod kept;
mod networks;
mod twins;
mod updates;
