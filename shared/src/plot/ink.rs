//! The colours of figures, in light and dark.
//!
//! A diverging scale of eleven steps around chance, blue with the axiom and rust against it.
//! Equal steps of both arms have equal lightness in OKLCH, so grey print keeps their strength,
//! and their hues (48° and 238°) lie on the axis that red-green blind readers keep.

/// What a mark is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The ground.
    Paper,
    /// Words and lines that matter.
    Ink,
    /// Secondary words.
    Ink2,
    /// Absent values.
    Ink3,
    /// Lines that mean something.
    Edge,
    /// Lines that only part.
    Rule,
    /// A step of the scale, −5 to 5: [`crate::plot::step_of_fraction`].
    Step(i8),
    /// Words and lines on that step; at least 4.5 : 1 against it.
    OnStep(i8),
}

/// On which ground a figure stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl Ink {
    /// As a hexadecimal colour: `#1b1c1e`.
    pub fn hex(self, theme: Theme) -> &'static str {
        let [light, dark] = match self {
            Ink::Paper => ["#ffffff", "#16171a"],
            Ink::Ink | Ink::OnStep(-3..=3) => ["#1b1c1e", "#ecebe7"],
            Ink::Ink2 => ["#55585e", "#b3b5b9"],
            Ink::Ink3 => ["#6a6d73", "#9a9da3"],
            Ink::Edge => ["#8a8880", "#71757c"],
            Ink::Rule => ["#e3e1db", "#303338"],
            Ink::Step(..=-5) => ["#76350c", "#f6b290"],
            Ink::Step(-4) => ["#ac5c2e", "#d68961"],
            Ink::Step(-3) => ["#eaa37f", "#8c5030"],
            Ink::Step(-2) => ["#f7cdb9", "#663f2b"],
            Ink::Step(-1) => ["#fbe9e0", "#463127"],
            Ink::Step(0) => ["#f1f0ed", "#2b2d30"],
            Ink::Step(1) => ["#e1eff9", "#283944"],
            Ink::Step(2) => ["#bbddf4", "#2c4f65"],
            Ink::Step(3) => ["#81bee6", "#30688a"],
            Ink::Step(4) => ["#2b7cab", "#62a7d3"],
            Ink::Step(5..) => ["#025075", "#93ccf2"],
            Ink::OnStep(..=-4) | Ink::OnStep(4..) => ["#ffffff", "#101113"],
        };
        match theme {
            Theme::Light => light,
            Theme::Dark => dark,
        }
    }
}
