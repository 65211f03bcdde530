//! Renders a figure of `shared::plot` in the page. It takes its colors from the style sheet, so it
//! follows the theme.

use leptos::prelude::*;
use shared::plot::{FigureColorRole, FigureFontStyle, FigureMark, PlotFigure, TextAnchor};

/// Returns the width of the content of a page in pixels, which changes with the screen.
pub(crate) fn content_width() -> Memo<f64> {
    let current = || {
        let screen = document().document_element();
        let screen = screen.map_or(0, |it| it.client_width());
        // The style sheet sets the width of the content.
        let padding = if screen <= 760 { 16 } else { 32 };
        f64::from(screen.min(1440) - 2 * padding)
    };
    let width = RwSignal::new(current());
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        let _ = width.try_set(current());
    });
    on_cleanup(move || resized.remove());
    Memo::new(move |_| width.get())
}

/// Renders a figure as wide as its container.
#[component]
pub(crate) fn FigureView(
    /// The figure to draw.
    figure: PlotFigure,
) -> impl IntoView {
    render_figure_with_mark_renderer(figure, "img", render_figure_mark)
}

/// Renders a figure, drawing each of its marks with a function.
pub(super) fn render_figure_with_mark_renderer(
    figure: PlotFigure,
    role: &'static str,
    mark: impl FnMut(FigureMark) -> AnyView,
) -> impl IntoView {
    let corner = -figure.margin;
    let [width, height] = [figure.width, figure.height].map(|it| it + 2.0 * figure.margin);
    let marks = figure.marks.into_iter().map(mark).collect_view();
    view! {
        <svg
            class="drawing"
            viewBox=format!("{corner} {corner} {width} {height}")
            role=role
            aria-label=figure.alt_text
        >
            {marks}
        </svg>
    }
}

/// Renders one mark; the title of a group is shown as its tooltip.
pub(super) fn render_figure_mark(mark: FigureMark) -> AnyView {
    match mark {
        FigureMark::Rect {
            at: [x, y],
            size: [width, height],
            corner_radius: round,
            fill,
        } => view! {
            <rect
                x=px(x)
                y=px(y)
                width=px(width)
                height=px(height)
                rx=px(round)
                fill=css_color(fill)
            ></rect>
        }
        .into_any(),
        FigureMark::Line {
            from: [x1, y1],
            to: [x2, y2],
            width,
            stroke,
            opacity,
        } => view! {
            <path
                d=format!("M{} {}L{} {}", px(x1), px(y1), px(x2), px(y2))
                stroke=css_color(stroke)
                stroke-width=px(width)
                stroke-opacity=px(opacity)
            ></path>
        }
        .into_any(),
        FigureMark::Dot { at, fill, stroke } => {
            let ([x, y], fill, stroke) = (at.map(px), css_color(fill), css_color(stroke));
            view! { <circle cx=x cy=y r="3" fill=fill stroke=stroke stroke-width="1.5"></circle> }
                .into_any()
        }
        FigureMark::Text {
            at: [x, y],
            anchor,
            font,
            fill,
            text,
        } => {
            let (size, weight) = font_style(font);
            view! {
                <text
                    x=px(x)
                    y=px(y)
                    text-anchor=text_anchor(anchor)
                    style=("fill", css_color(fill))
                    style=("font-size", size)
                    style=("font-weight", weight)
                >
                    {text}
                </text>
            }
            .into_any()
        }
        FigureMark::Group { title, marks } => {
            let marks = marks.into_iter().map(render_figure_mark).collect_view();
            view! { <g><title>{title}</title>{marks}</g> }.into_any()
        }
    }
}

/// Returns the CSS color of a figure color.
fn css_color(ink: FigureColorRole) -> &'static str {
    match ink {
        FigureColorRole::Background => "var(--paper)",
        FigureColorRole::Foreground | FigureColorRole::OnStep(-3..=3) => "var(--ink)",
        FigureColorRole::Secondary => "var(--ink-2)",
        FigureColorRole::Missing => "var(--ink-3)",
        FigureColorRole::Axis => "var(--edge)",
        FigureColorRole::Separator => "var(--rule)",
        FigureColorRole::Step(..=-5) => "var(--n5)",
        FigureColorRole::Step(-4) => "var(--n4)",
        FigureColorRole::Step(-3) => "var(--n3)",
        FigureColorRole::Step(-2) => "var(--n2)",
        FigureColorRole::Step(-1) => "var(--n1)",
        FigureColorRole::Step(0) => "var(--zero)",
        FigureColorRole::Step(1) => "var(--p1)",
        FigureColorRole::Step(2) => "var(--p2)",
        FigureColorRole::Step(3) => "var(--p3)",
        FigureColorRole::Step(4) => "var(--p4)",
        FigureColorRole::Step(5..) => "var(--p5)",
        FigureColorRole::Gray(..=1) => "var(--g1)",
        FigureColorRole::Gray(2) => "var(--g2)",
        FigureColorRole::Gray(3) => "var(--g3)",
        FigureColorRole::Gray(4) => "var(--g4)",
        FigureColorRole::Gray(5..) => "var(--g5)",
        FigureColorRole::OnStep(..=-4) | FigureColorRole::OnStep(4..) => "var(--on-strong)",
    }
}

fn text_anchor(anchor: TextAnchor) -> &'static str {
    match anchor {
        TextAnchor::Start => "start",
        TextAnchor::Middle => "middle",
        TextAnchor::End => "end",
    }
}

fn font_style(font: FigureFontStyle) -> (&'static str, &'static str) {
    match font {
        FigureFontStyle::Label => ("12px", "400"),
        FigureFontStyle::Base => ("14px", "400"),
        FigureFontStyle::Head => ("14px", "600"),
        FigureFontStyle::Cell => ("15px", "400"),
    }
}

fn px(value: f64) -> String {
    format!("{value:.2}")
}
