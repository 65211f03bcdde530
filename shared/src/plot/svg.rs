//! Rendering of a figure as a self-contained SVG file (SVG 1.1, with presentation attributes only,
//! so that pages can forbid inline styles).

use std::fmt::Write;

use super::{FigureColorRole, FigureFontStyle, FigureMark, FigureTheme, PlotFigure, TextAnchor};
use crate::report::markup::escape_markup;

const SANS: &str = "system-ui, -apple-system, Segoe UI, Roboto, Helvetica Neue, sans-serif";

/// Renders the figure on the background of the theme.
pub fn figure_to_svg(figure: &PlotFigure, theme: FigureTheme) -> String {
    let mut out = String::new();
    write_figure(&mut out, figure, theme).expect("a String takes every write");
    out
}

fn write_figure(out: &mut String, figure: &PlotFigure, theme: FigureTheme) -> std::fmt::Result {
    let corner = px(-figure.margin);
    let [width, height] = [figure.width, figure.height].map(|it| px(it + 2.0 * figure.margin));
    let label = escape_markup(&figure.alt_text);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{corner} {corner} {width} {height}\" role=\"img\" aria-label=\"{label}\" \
         font-family=\"{SANS}\">"
    )?;
    writeln!(
        out,
        "<title>{label}</title>\n<desc>{}</desc>",
        escape_markup(&figure.description)
    )?;
    let paper = FigureColorRole::Background.hex(theme);
    writeln!(
        out,
        "<rect x=\"{corner}\" y=\"{corner}\" width=\"{width}\" height=\"{height}\" \
         fill=\"{paper}\"/>"
    )?;
    write_marks(out, &figure.marks, theme)?;
    writeln!(out, "</svg>")
}

fn write_marks(out: &mut String, marks: &[FigureMark], theme: FigureTheme) -> std::fmt::Result {
    marks.iter().try_for_each(|it| write_mark(out, it, theme))
}

fn write_mark(out: &mut String, mark: &FigureMark, theme: FigureTheme) -> std::fmt::Result {
    match mark {
        FigureMark::Rect {
            at: [x, y],
            size: [width, height],
            corner_radius: round,
            fill,
        } => {
            let [x, y, width, height] = [x, y, width, height].map(|it| px(*it));
            write!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
            )?;
            if *round > 0.0 {
                write!(out, " rx=\"{}\"", px(*round))?;
            }
            writeln!(out, " fill=\"{}\"/>", fill.hex(theme))
        }
        FigureMark::Line {
            from: [x1, y1],
            to: [x2, y2],
            width,
            stroke,
            opacity,
        } => {
            let [x1, y1, x2, y2, width] = [x1, y1, x2, y2, width].map(|it| px(*it));
            write!(
                out,
                "<path d=\"M{x1} {y1}L{x2} {y2}\" stroke=\"{}\"",
                stroke.hex(theme)
            )?;
            write!(out, " stroke-width=\"{width}\"")?;
            if *opacity < 1.0 {
                write!(out, " stroke-opacity=\"{}\"", px(*opacity))?;
            }
            writeln!(out, "/>")
        }
        FigureMark::Dot {
            at: [x, y],
            fill,
            stroke,
        } => {
            let (fill, stroke) = (fill.hex(theme), stroke.hex(theme));
            let (x, y) = (px(*x), px(*y));
            writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{fill}\" stroke=\"{stroke}\" \
                 stroke-width=\"1.5\"/>"
            )
        }
        FigureMark::Text {
            at: [x, y],
            anchor,
            font,
            fill,
            text,
        } => {
            let (x, y) = (px(*x), px(*y));
            let anchor = match anchor {
                TextAnchor::Start => "",
                TextAnchor::Middle => " text-anchor=\"middle\"",
                TextAnchor::End => " text-anchor=\"end\"",
            };
            let font = match font {
                FigureFontStyle::Label => "font-size=\"12\"",
                FigureFontStyle::Base => "font-size=\"14\"",
                FigureFontStyle::Head => "font-size=\"14\" font-weight=\"600\"",
                FigureFontStyle::Cell => "font-size=\"15\"",
            };
            let (fill, text) = (fill.hex(theme), escape_markup(text));
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\"{anchor} {font} fill=\"{fill}\">{text}</text>"
            )
        }
        FigureMark::Group { title, marks } => {
            writeln!(out, "<g><title>{}</title>", escape_markup(title))?;
            write_marks(out, marks, theme)?;
            writeln!(out, "</g>")
        }
    }
}

/// Formats a length with at most two decimals.
fn px(value: f64) -> String {
    let exact = format!("{:.2}", value + 0.0);
    let short = exact.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".to_owned()
    } else {
        short.to_owned()
    }
}
