//! The picture of a study in link previews: its heat map without words, since previews show the
//! title beside it.

use shared::plot::{FigureColorRole, FigureTheme, diverging_color_step_of_fraction};
use shared::study::overview::StudySummary;

/// The name of the file.
pub(super) const FILE: &str = "preview.png";

/// The size that link previews show whole (Open Graph).
pub(super) const SIZE: [u32; 2] = [1200, 630];

const MARGIN: u32 = 30;

/// The space between cells.
const GAP: u32 = 6;

/// Draws a colored cell for each ranker and axiom, and returns the picture as PNG.
pub(super) fn heatmap_png(summary: &StudySummary) -> Vec<u8> {
    let [width, height] = SIZE;
    let background = rgb(FigureColorRole::Background);
    let mut pixels = background.repeat((width * height) as usize);
    let n_rows = summary.fractions.len().max(1);
    let n_columns = summary.probes.len().max(1);
    // The first pixel of a cell, or of the one behind the last.
    let edge = |size: u32, n: usize, of: usize| {
        MARGIN + ((size - 2 * MARGIN + GAP) as usize * n / of) as u32
    };
    for (row, fractions) in summary.fractions.iter().enumerate() {
        for (column, fraction) in fractions.iter().enumerate() {
            let Some(fraction) = *fraction else { continue };
            let step = diverging_color_step_of_fraction(fraction);
            let color = rgb(FigureColorRole::Step(step));
            let [top, bottom] = [row, row + 1].map(|it| edge(height, it, n_rows));
            let [left, right] = [column, column + 1].map(|it| edge(width, it, n_columns));
            for y in top..bottom.saturating_sub(GAP) {
                for x in left..right.saturating_sub(GAP) {
                    let at = 3 * (y * width + x) as usize;
                    pixels[at..at + 3].copy_from_slice(&color);
                }
            }
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header();
    let written = written.and_then(|mut it| it.write_image_data(&pixels));
    written.expect("a vector takes every write, and the picture has its size");
    bytes
}

fn rgb(color: FigureColorRole) -> [u8; 3] {
    let digits = u32::from_str_radix(&color.hex(FigureTheme::Light)[1..], 16);
    let [_, red, green, blue] = digits.unwrap_or_default().to_be_bytes();
    [red, green, blue]
}
