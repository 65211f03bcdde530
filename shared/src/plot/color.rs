//! The colors of figures, in light and dark.
//!
//! A diverging scale of eleven steps around chance: blue for agreement with the axiom, rust for the
//! opposite. Equal steps on both sides have equal lightness in OKLCH, so that they remain
//! comparable in gray print, and their hues (48° and 238°) are distinguishable with red-green color
//! blindness.

/// The color of a mark, independent of the theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureColorRole {
    /// The background.
    Background,
    /// Main text and lines.
    Foreground,
    /// Secondary text.
    Secondary,
    /// Missing values.
    Missing,
    /// Axes and other lines with a meaning.
    Axis,
    /// Lines that only separate.
    Separator,
    /// A step of the scale, from −5 to 5: [`crate::plot::diverging_color_step_of_fraction`].
    Step(i8),
    /// Text and lines on that step, with a contrast of at least 4.5 : 1.
    OnStep(i8),
    /// A step of a gray scale, from 1 to 5, for quantities that are neither with nor against an
    /// axiom. Text on it has the color of `OnStep`.
    Gray(u8),
}

/// The background that a figure is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureTheme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl FigureColorRole {
    /// Returns the hexadecimal color, as in `#1b1c1e`.
    pub fn hex(self, theme: FigureTheme) -> &'static str {
        let [light, dark] = match self {
            FigureColorRole::Background => ["#ffffff", "#16171a"],
            FigureColorRole::Foreground | FigureColorRole::OnStep(-3..=3) => ["#1b1c1e", "#ecebe7"],
            FigureColorRole::Secondary => ["#55585e", "#b3b5b9"],
            FigureColorRole::Missing => ["#6a6d73", "#9a9da3"],
            FigureColorRole::Axis => ["#8a8880", "#71757c"],
            FigureColorRole::Separator => ["#e3e1db", "#303338"],
            FigureColorRole::Step(..=-5) => ["#76350c", "#f6b290"],
            FigureColorRole::Step(-4) => ["#ac5c2e", "#d68961"],
            FigureColorRole::Step(-3) => ["#eaa37f", "#8c5030"],
            FigureColorRole::Step(-2) => ["#f7cdb9", "#663f2b"],
            FigureColorRole::Step(-1) => ["#fbe9e0", "#463127"],
            FigureColorRole::Step(0) => ["#f1f0ed", "#2b2d30"],
            FigureColorRole::Step(1) => ["#e1eff9", "#283944"],
            FigureColorRole::Step(2) => ["#bbddf4", "#2c4f65"],
            FigureColorRole::Step(3) => ["#81bee6", "#30688a"],
            FigureColorRole::Step(4) => ["#2b7cab", "#62a7d3"],
            FigureColorRole::Step(5..) => ["#025075", "#93ccf2"],
            FigureColorRole::Gray(..=1) => ["#e8edf6", "#33373e"],
            FigureColorRole::Gray(2) => ["#d3d8e1", "#474b53"],
            FigureColorRole::Gray(3) => ["#b1b6bf", "#5e626a"],
            FigureColorRole::Gray(4) => ["#70747d", "#9a9fa7"],
            FigureColorRole::Gray(5..) => ["#464a52", "#bfc4cd"],
            FigureColorRole::OnStep(..=-4) | FigureColorRole::OnStep(4..) => ["#ffffff", "#101113"],
        };
        match theme {
            FigureTheme::Light => light,
            FigureTheme::Dark => dark,
        }
    }
}
