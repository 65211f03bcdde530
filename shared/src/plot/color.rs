//! The colors of figures, in light and dark.
//!
//! A diverging scale of eleven steps around chance, blue with the axiom and rust against it.
//! Equal steps of both arms have equal lightness in OKLCH, so gray print keeps their strength,
//! and their hues (48° and 238°) lie on the axis that red-green blind readers keep.

/// What a mark is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureColor {
    /// The background.
    Background,
    /// Words and lines that matter.
    Foreground,
    /// Secondary texts.
    Secondary,
    /// Missing values.
    Missing,
    /// Lines with a meaning.
    Axis,
    /// Lines that only separate.
    Separator,
    /// A step of the scale, −5 to 5: [`crate::plot::color_step_of_fraction`].
    Step(i8),
    /// Words and lines on that step; at least 4.5 : 1 against it.
    OnStep(i8),
}

/// On which ground a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureTheme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl FigureColor {
    /// As a hexadecimal color: `#1b1c1e`.
    pub fn hex(self, theme: FigureTheme) -> &'static str {
        let [light, dark] = match self {
            FigureColor::Background => ["#ffffff", "#16171a"],
            FigureColor::Foreground | FigureColor::OnStep(-3..=3) => ["#1b1c1e", "#ecebe7"],
            FigureColor::Secondary => ["#55585e", "#b3b5b9"],
            FigureColor::Missing => ["#6a6d73", "#9a9da3"],
            FigureColor::Axis => ["#8a8880", "#71757c"],
            FigureColor::Separator => ["#e3e1db", "#303338"],
            FigureColor::Step(..=-5) => ["#76350c", "#f6b290"],
            FigureColor::Step(-4) => ["#ac5c2e", "#d68961"],
            FigureColor::Step(-3) => ["#eaa37f", "#8c5030"],
            FigureColor::Step(-2) => ["#f7cdb9", "#663f2b"],
            FigureColor::Step(-1) => ["#fbe9e0", "#463127"],
            FigureColor::Step(0) => ["#f1f0ed", "#2b2d30"],
            FigureColor::Step(1) => ["#e1eff9", "#283944"],
            FigureColor::Step(2) => ["#bbddf4", "#2c4f65"],
            FigureColor::Step(3) => ["#81bee6", "#30688a"],
            FigureColor::Step(4) => ["#2b7cab", "#62a7d3"],
            FigureColor::Step(5..) => ["#025075", "#93ccf2"],
            FigureColor::OnStep(..=-4) | FigureColor::OnStep(4..) => ["#ffffff", "#101113"],
        };
        match theme {
            FigureTheme::Light => light,
            FigureTheme::Dark => dark,
        }
    }
}
