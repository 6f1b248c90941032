//! The settings under which a key becomes the same text in every session, set as a trigger must:
//! for each row, so in a few instructions. Settings proper take microseconds.

use std::ffi::c_int;

use pgrx::prelude::*;

/// The variables behind the settings of `acting::PLAIN_TEXT`.
#[derive(Clone, Copy)]
struct Variables {
    date_style: c_int,
    date_order: c_int,
    interval_style: c_int,
    time_zone: *mut pg_sys::pg_tz,
    extra_float_digits: c_int,
    bytea_output: c_int,
}

unsafe extern "C" {
    static mut bytea_output: c_int;
}

/// `BYTEA_OUTPUT_HEX` of `utils/bytea.h`.
const HEX: c_int = 1;

impl Variables {
    fn current() -> Variables {
        // SAFETY: variables of this process, which has one thread that uses them.
        unsafe {
            Variables {
                date_style: pg_sys::DateStyle,
                date_order: pg_sys::DateOrder,
                interval_style: pg_sys::IntervalStyle,
                time_zone: pg_sys::session_timezone,
                extra_float_digits: pg_sys::extra_float_digits,
                bytea_output,
            }
        }
    }

    fn set(self) {
        // SAFETY: as above. While they have these values only output functions run, which read them.
        unsafe {
            pg_sys::DateStyle = self.date_style;
            pg_sys::DateOrder = self.date_order;
            pg_sys::IntervalStyle = self.interval_style;
            pg_sys::session_timezone = self.time_zone;
            pg_sys::extra_float_digits = self.extra_float_digits;
            bytea_output = self.bytea_output;
        }
    }
}

/// While it lives, values become plain text.
pub struct PlainText(Variables);

impl PlainText {
    /// Switches the settings of output functions to plain text, until this is dropped.
    pub fn begin() -> PlainText {
        let before = Variables::current();
        Variables {
            date_style: pg_sys::USE_ISO_DATES as c_int,
            date_order: pg_sys::DATEORDER_MDY as c_int,
            interval_style: pg_sys::INTSTYLE_POSTGRES as c_int,
            // SAFETY: a constant string; the server keeps what it has looked up once.
            time_zone: unsafe { pg_sys::pg_tzset(c"UTC".as_ptr()) },
            extra_float_digits: 1,
            bytea_output: HEX,
        }
        .set();
        PlainText(before)
    }
}

impl Drop for PlainText {
    // Also while an error unwinds.
    fn drop(&mut self) {
        self.0.set();
    }
}
