//! Figures as data, and their rendering as SVG for pages, reports and papers.
//!
//! A [`PlotFigure`] is a list of marks whose colors are [`FigureColorRole`]s; a theme maps these to
//! hexadecimal colors. The builders arrange the marks and describe the result in words for people
//! who do not see the figure.

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
mod learning_curve;
mod svg;
mod thumbnail;

pub use color::{FigureColorRole, FigureTheme};
pub use funnel::{draw_effectiveness_by_overlap_third, draw_mining_funnel};
pub use grid_search::draw_grid_search_heatmap;
pub use heatmap::draw_study_heatmap_figure;
pub use histogram::{draw_margin_histogram, draw_score_difference_histogram};
pub use learning_curve::{LearningCurveLayout, draw_learning_curves, draw_learning_curves_of};
pub use points::{LabeledScatterPlot, draw_labeled_scatter_plot};
pub use scale::{diverging_color_step_of_effect, diverging_color_step_of_fraction};
pub use scatter::draw_effectiveness_axiom_scatter;
pub use svg::figure_to_svg;
pub use thumbnail::draw_heatmap_thumbnail;

/// The margin of most figures, in pixels.
pub const FIGURE_MARGIN: f64 = 8.0;

/// A figure; coordinates are in pixels from the upper left corner.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotFigure {
    /// The width, in pixels.
    pub width: f64,
    /// The height, in pixels.
    pub height: f64,
    /// The margin on every side, in pixels.
    pub margin: f64,
    /// The result in words, for people who do not see the figure.
    pub alt_text: String,
    /// How to read the figure.
    pub description: String,
    /// The marks in drawing order: later ones cover earlier ones.
    pub marks: Vec<FigureMark>,
}

/// A graphical element of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureMark {
    /// A filled rectangle.
    Rect {
        /// The upper left corner.
        at: [f64; 2],
        /// The width and height.
        size: [f64; 2],
        /// The radius of its corners.
        corner_radius: f64,
        /// The color.
        fill: FigureColorRole,
    },
    /// A straight line.
    Line {
        /// One end.
        from: [f64; 2],
        /// The other end.
        to: [f64; 2],
        /// The line width, in pixels.
        width: f64,
        /// The color.
        stroke: FigureColorRole,
        /// The opacity, from 0 to 1.
        opacity: f64,
    },
    /// A circle with an edge; hollow if its fill is the background.
    Dot {
        /// The center.
        at: [f64; 2],
        /// The color of the inside.
        fill: FigureColorRole,
        /// The color of the edge.
        stroke: FigureColorRole,
    },
    /// A line of text.
    Text {
        /// The start, middle or end of the baseline, according to `anchor`.
        at: [f64; 2],
        /// The part of the text that is at `at`.
        anchor: TextAnchor,
        /// The font.
        font: FigureFontStyle,
        /// The color.
        fill: FigureColorRole,
        /// The text, which may be untrusted.
        text: String,
    },
    /// Marks that belong together, with a text that appears when a pointer rests on them.
    Group {
        /// The text, a sentence.
        title: String,
        /// The marks.
        marks: Vec<FigureMark>,
    },
}

/// The part of a text that is at a given position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextAnchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// The font of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureFontStyle {
    /// 12 pixels.
    Label,
    /// 14 pixels.
    Base,
    /// 14 pixels, bold.
    Head,
    /// 15 pixels.
    Cell,
}

/// The font and the color of a text.
#[derive(Debug, Clone, Copy)]
struct TextStyle(FigureFontStyle, FigureColorRole);

/// The width of a figure that fills the column of a page, in pixels.
pub const COLUMN_FIGURE_WIDTH: f64 = 560.0;

/// The style of secondary text.
const NOTE: TextStyle = TextStyle(FigureFontStyle::Label, FigureColorRole::Secondary);

/// Returns the width of a figure with space for at most a number of pixels, unless that is less
/// than 320.
fn column_figure_width(max_width: f64) -> f64 {
    max_width.clamp(320.0, COLUMN_FIGURE_WIDTH)
}

fn rect(at: [f64; 2], size: [f64; 2], round: f64, fill: FigureColorRole) -> FigureMark {
    FigureMark::Rect {
        at,
        size,
        corner_radius: round,
        fill,
    }
}

/// Returns a line with a width of one pixel.
fn line(from: [f64; 2], to: [f64; 2], stroke: FigureColorRole) -> FigureMark {
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

/// Formats a number of queries: `1 query`, `1,163 queries`.
fn queries(n: u64) -> String {
    let what = if n == 1 { "query" } else { "queries" };
    format!("{} {what}", crate::report::format::format_count(n))
}

/// Returns `text` on one line with at most `n` characters.
fn fit(text: &str, n: usize) -> String {
    let line = crate::report::markup::collapse_to_one_line(text);
    if line.chars().count() <= n {
        return line;
    }
    let kept: String = line.chars().take(n - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
