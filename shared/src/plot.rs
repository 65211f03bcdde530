//! Figures as data, and how they are drawn: one writer of SVG for page, report and paper.
//!
//! A [`PlotFigure`] is a list of marks with [`FigureColor`]s for colors; a theme says what an ink
//! is. The builders decide what is drawn where, and put the finding into words for those who do not
//! see it.

pub mod color;
pub mod scale;
mod funnel;
pub mod rr_change;
pub mod heatmap_rows;
mod heatmap;
mod histogram;
mod points;
pub mod group_bars;
pub mod annotation;
mod scatter;
mod grid_search;
mod svg;
mod thumbnail;

pub use color::{FigureColor, FigureTheme};
pub use funnel::{draw_funnel, draw_overlap_thirds};
pub use grid_search::draw_grid_search;
pub use heatmap::draw_heatmap;
pub use histogram::{draw_difference_histogram, draw_margin_histogram};
pub use points::{PointPlot, draw_point_plot};
pub use scale::{color_step_of_effect, color_step_of_fraction};
pub use scatter::draw_effectiveness_scatter;
pub use svg::to_svg;
pub use thumbnail::draw_thumbnail;

/// What is drawn, in pixels from the upper left.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotFigure {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
    /// Ground on every side of these.
    pub margin: f64,
    /// The finding, for those who do not see the figure.
    pub alt_text: String,
    /// How to read it.
    pub description: String,
    /// In the order in which they are drawn, later ones above earlier ones.
    pub marks: Vec<FigureMark>,
}

/// One thing that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureMark {
    /// A filled rectangle.
    Rect {
        /// Upper left corner.
        at: [f64; 2],
        /// Width and height.
        size: [f64; 2],
        /// Radius of its corners.
        corner_radius: f64,
        /// Its color.
        fill: FigureColor,
    },
    /// A straight line.
    Line {
        /// One end.
        from: [f64; 2],
        /// The other.
        to: [f64; 2],
        /// How thick.
        width: f64,
        /// Its color.
        stroke: FigureColor,
        /// 0 to 1.
        opacity: f64,
    },
    /// A circle with an edge; hollow where it is filled with what lies below.
    Dot {
        /// Its center.
        at: [f64; 2],
        /// Inside.
        fill: FigureColor,
        /// The edge.
        stroke: FigureColor,
    },
    /// Words.
    Text {
        /// Where their baseline begins, or has its middle or end.
        at: [f64; 2],
        /// Which of these stands at `at`.
        anchor: TextAnchor,
        /// How they are set.
        font: FontStyle,
        /// Color.
        fill: FigureColor,
        /// Anything, also what strangers wrote.
        text: String,
    },
    /// Marks that belong together, with what is said of them when a pointer rests there.
    Group {
        /// A sentence.
        title: String,
        /// The marks.
        marks: Vec<FigureMark>,
    },
}

/// The point of a text that stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAnchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FontStyle {
    /// 12 pixels.
    Label,
    /// 14 pixels.
    Base,
    /// 14 pixels, bold.
    Head,
    /// 15 pixels.
    Cell,
}

/// The size and the color of words.
#[derive(Debug, Clone, Copy)]
struct TextStyle(FontStyle, FigureColor);

/// Width of a figure that fills the column of a page.
const COLUMN: f64 = 560.0;

/// Secondary words.
const NOTE: TextStyle = TextStyle(FontStyle::Label, FigureColor::Secondary);

fn rect(at: [f64; 2], size: [f64; 2], round: f64, fill: FigureColor) -> FigureMark {
    FigureMark::Rect {
        at,
        size,
        corner_radius: round,
        fill,
    }
}

/// One pixel thick.
fn line(from: [f64; 2], to: [f64; 2], stroke: FigureColor) -> FigureMark {
    FigureMark::Line {
        from,
        to,
        width: 1.0,
        stroke,
        opacity: 1.0,
    }
}

fn text(
    at: [f64; 2],
    anchor: TextAnchor,
    TextStyle(font, fill): TextStyle,
    text: String,
) -> FigureMark {
    FigureMark::Text {
        at,
        anchor,
        font,
        fill,
        text,
    }
}

/// `1 query`, `1,163 queries`.
fn queries(n: u64) -> String {
    let what = if n == 1 { "query" } else { "queries" };
    format!("{} {what}", crate::report::format::count(n))
}

/// `text` on one line and at most `n` characters long.
fn fit(text: &str, n: usize) -> String {
    let line = crate::report::markup::one_line(text);
    if line.chars().count() <= n {
        return line;
    }
    let kept: String = line.chars().take(n - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
