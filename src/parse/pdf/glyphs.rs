//! What is drawn where? The glyphs of a page, with their characters.
//!
//! The interpreter draws the page on a device that paints nothing and writes down each glyph.
//! What lies outside of the page or is marked as an artifact (headers and footers, in a tagged
//! document) is no part of the text. Invisible text is: behind a scanned page it is the text.

use hayro_interpret::font::{Glyph as Shape, GlyphRun};
use hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro_interpret::hayro_syntax::Pdf;
use hayro_interpret::hayro_syntax::object::Dict;
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps,
    InterpreterCache, InterpreterSettings, RenderContent, SoftMask, TransformExt, interpret_page,
};

use crate::error::Result;
use crate::parse::beyond;

/// Glyphs on a page, at most; a dense newspaper page has 30,000.
const MOST_GLYPHS: usize = 1_000_000;

/// Units in which a font measures a glyph of size 1.
const UNITS: f64 = 1000.0;

/// One glyph, turned so that its line is horizontal and y grows downwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Glyph {
    /// Its characters; several for a ligature.
    pub text: String,
    /// Where its baseline begins.
    pub x: f32,
    /// The height of its baseline.
    pub y: f32,
    /// How far the next glyph would begin to its right.
    pub width: f32,
    /// The size of the letters.
    pub size: f32,
    /// Quarter turns, clockwise, by which the line was turned.
    pub turn: u8,
}

/// Reads the pages of a document, with the fonts that were read once.
pub struct PageReader<'a> {
    pdf: &'a Pdf,
    cache: InterpreterCache<'a>,
    settings: InterpreterSettings,
}

impl<'a> PageReader<'a> {
    /// A reader for the pages of `pdf`.
    pub fn new(pdf: &'a Pdf) -> PageReader<'a> {
        // Annotations are drawn over a page: notes, stamps, form fields, and links.
        let settings =
            InterpreterSettings { render_content: RenderContent::PAGE, ..Default::default() };
        PageReader { pdf, cache: InterpreterCache::new(), settings }
    }

    /// The glyphs of page `number`, in the order in which they are drawn; at most `room` bytes
    /// of text.
    pub fn read(&self, number: usize, room: usize) -> Result<Vec<Glyph>> {
        let page = &self.pdf.pages()[number];
        let (width, height) = page.render_dimensions();
        let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(
            page.initial_transform(true).to_kurbo(),
            bounds,
            &self.cache,
            self.pdf.xref(),
            self.settings.clone(),
        );
        let mut notes = GlyphRecorder { bounds, room, ..GlyphRecorder::default() };
        interpret_page(page, &mut context, &mut notes);
        if notes.is_full {
            let page = number + 1;
            return Err(beyond(format!("page {page} of the document has too much text")));
        }
        Ok(notes.glyphs)
    }
}

/// The device that writes down.
#[derive(Default)]
struct GlyphRecorder {
    glyphs: Vec<Glyph>,
    bounds: Rect,
    room: usize,
    is_full: bool,
    /// Marked content that is open: whether it is an artifact.
    marks: Vec<bool>,
}

impl GlyphRecorder {
    fn note(&mut self, shape: &Shape<'_>, transform: Affine, is_vertical: bool) {
        let text = match shape.as_unicode() {
            Some(BfString::Char(character)) => readable(&character.to_string()),
            Some(BfString::String(text)) => readable(&text),
            None => return,
        };
        let origin = transform * Point::ZERO;
        let size = (transform * Point::new(0.0, UNITS) - origin).hypot();
        let is_on_page = origin.is_finite() && self.bounds.inflate(size, size).contains(origin);
        if text.is_empty() || !(size > 0.1 && size < 10_000.0) || !is_on_page {
            return;
        }
        let direction = transform * Point::new(UNITS, 0.0) - origin;
        let (direction, width) = if is_vertical {
            (transform * Point::new(0.0, -UNITS) - origin, size)
        } else {
            (direction, width(shape, size, direction.hypot()))
        };
        let turn = quarter_turns(direction.x, direction.y);
        let (x, y) = turned(origin, turn);
        self.room = self.room.saturating_sub(text.len());
        self.is_full |= self.room == 0 || self.glyphs.len() >= MOST_GLYPHS;
        let (x, y) = (x as f32, y as f32);
        self.glyphs.push(Glyph { text, x, y, width: width as f32, size: size as f32, turn });
    }
}

/// How wide a glyph of `size` is. Where the font at hand isn't the document's own, its glyphs
/// were stretched to `stretched`.
fn width(shape: &Shape<'_>, size: f64, stretched: f64) -> f64 {
    let advance = match shape {
        Shape::Outline(glyph) => glyph.advance_width(),
        Shape::Type3(glyph) => glyph.advance_width(),
    };
    let advance = f64::from(advance.unwrap_or(500.0)) / UNITS;
    let (plain, wide) = (advance * size, advance * stretched);
    wide.clamp(plain * 0.7, plain * 1.3).clamp(0.0, size * 4.0)
}

/// How often a line that runs in this direction was turned clockwise by 90 degrees.
fn quarter_turns(x: f64, y: f64) -> u8 {
    match () {
        () if x.abs() >= y.abs() => {
            if x >= 0.0 {
                0
            } else {
                2
            }
        }
        () if y >= 0.0 => 1,
        () => 3,
    }
}

/// Turns a place back.
fn turned(place: Point, turn: u8) -> (f64, f64) {
    match turn {
        0 => (place.x, place.y),
        1 => (place.y, -place.x),
        2 => (-place.x, -place.y),
        _ => (-place.y, place.x),
    }
}

/// `text` without control characters, with the letters of ligatures.
fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{fb00}' => readable.push_str("ff"),
            '\u{fb01}' => readable.push_str("fi"),
            '\u{fb02}' => readable.push_str("fl"),
            '\u{fb03}' => readable.push_str("ffi"),
            '\u{fb04}' => readable.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => readable.push_str("st"),
            '\u{a0}' | '\t' | '\n' | '\r' => readable.push(' '),
            '\u{ad}' => readable.push('-'),
            '\u{200b}' | '\u{feff}' => {}
            _ if character.is_control() => {}
            _ => readable.push(character),
        }
    }
    readable
}

impl<'a> Device<'a> for GlyphRecorder {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        if self.is_full || self.marks.contains(&true) {
            return;
        }
        let is_vertical = run.writing_mode() == WritingMode::Vertical;
        for glyph in run.glyphs() {
            self.note(glyph, props.transform * glyph.transform(), is_vertical);
            if self.is_full {
                return;
            }
        }
    }

    fn begin_marked_content(&mut self, tag: &[u8], _: Option<&Dict<'_>>) {
        self.marks.push(tag == b"Artifact");
    }

    fn end_marked_content(&mut self) {
        self.marks.pop();
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
