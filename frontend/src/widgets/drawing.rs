//! A figure of `shared::plot`, drawn in the page: it takes its colours from the sheet, and so
//! follows the theme.

use leptos::prelude::*;
use shared::plot::{Anchor, Figure, Font, Ink, Mark};

/// The figure as wide as its place.
#[component]
pub(crate) fn Drawing(
    /// What is drawn.
    figure: Figure,
) -> impl IntoView {
    framed(figure, "img", drawn)
}

/// A figure each of whose marks is drawn in some way.
pub(super) fn framed(
    figure: Figure,
    role: &'static str,
    mark: impl FnMut(Mark) -> AnyView,
) -> impl IntoView {
    let corner = -figure.margin;
    let [width, height] = [figure.width, figure.height].map(|it| it + 2.0 * figure.margin);
    let marks = figure.marks.into_iter().map(mark).collect_view();
    view! {
        <svg
            class="drawing"
            viewBox=format!("{corner} {corner} {width} {height}")
            role=role
            aria-label=figure.label
        >
            {marks}
        </svg>
    }
}

/// One mark; what is said of a group shows where a pointer rests on it.
pub(super) fn drawn(mark: Mark) -> AnyView {
    match mark {
        Mark::Rect {
            at: [x, y],
            size: [width, height],
            round,
            fill,
        } => view! {
            <rect
                x=px(x)
                y=px(y)
                width=px(width)
                height=px(height)
                rx=px(round)
                fill=colour(fill)
            ></rect>
        }
        .into_any(),
        Mark::Line {
            from: [x1, y1],
            to: [x2, y2],
            width,
            stroke,
            opacity,
        } => view! {
            <path
                d=format!("M{} {}L{} {}", px(x1), px(y1), px(x2), px(y2))
                stroke=colour(stroke)
                stroke-width=px(width)
                stroke-opacity=px(opacity)
            ></path>
        }
        .into_any(),
        Mark::Dot { at, fill, stroke } => {
            let ([x, y], fill, stroke) = (at.map(px), colour(fill), colour(stroke));
            view! { <circle cx=x cy=y r="3" fill=fill stroke=stroke stroke-width="1.5"></circle> }
                .into_any()
        }
        Mark::Text {
            at: [x, y],
            anchor,
            font,
            fill,
            text,
        } => {
            let (size, weight) = set(font);
            view! {
                <text
                    x=px(x)
                    y=px(y)
                    text-anchor=stands(anchor)
                    style=("fill", colour(fill))
                    style=("font-size", size)
                    style=("font-weight", weight)
                >
                    {text}
                </text>
            }
            .into_any()
        }
        Mark::Group { title, marks } => {
            let marks = marks.into_iter().map(drawn).collect_view();
            view! { <g><title>{title}</title>{marks}</g> }.into_any()
        }
    }
}

/// An ink as the sheet names it.
fn colour(ink: Ink) -> &'static str {
    match ink {
        Ink::Paper => "var(--paper)",
        Ink::Ink | Ink::OnStep(-3..=3) => "var(--ink)",
        Ink::Ink2 => "var(--ink-2)",
        Ink::Ink3 => "var(--ink-3)",
        Ink::Edge => "var(--edge)",
        Ink::Rule => "var(--rule)",
        Ink::Step(..=-5) => "var(--n5)",
        Ink::Step(-4) => "var(--n4)",
        Ink::Step(-3) => "var(--n3)",
        Ink::Step(-2) => "var(--n2)",
        Ink::Step(-1) => "var(--n1)",
        Ink::Step(0) => "var(--zero)",
        Ink::Step(1) => "var(--p1)",
        Ink::Step(2) => "var(--p2)",
        Ink::Step(3) => "var(--p3)",
        Ink::Step(4) => "var(--p4)",
        Ink::Step(5..) => "var(--p5)",
        Ink::OnStep(..=-4) | Ink::OnStep(4..) => "var(--on-strong)",
    }
}

fn stands(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}

fn set(font: Font) -> (&'static str, &'static str) {
    match font {
        Font::Label => ("12px", "400"),
        Font::Base => ("14px", "400"),
        Font::Head => ("14px", "600"),
        Font::Cell => ("15px", "400"),
    }
}

fn px(value: f64) -> String {
    format!("{value:.2}")
}
