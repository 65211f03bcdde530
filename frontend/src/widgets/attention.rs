//! The attention of a cross-encoder between query tokens and document tokens.

use leptos::prelude::*;
use shared::api::{AttentionResponse, GetAttentionRequest, TokenSimilarities};
use shared::plot::{self, FigureTheme, PlotFigure};
use shared::report::{self, ReportTable, TableValue, format};
use shared::score::RankerInfo;

use super::export_buttons::FigureExportButtons;
use super::figure::FigureView;
use super::form::SelectField;
use super::resource_view::RequestReplyView;
use super::section::Section;
use super::{download, token_match_map};
use crate::api;
use crate::first_paint::InOwnTask;

/// The suffix of a cross-encoder's specification.
pub(crate) const CROSS_ENCODER_SUFFIX: &str = ":cross";

/// The layer, head and direction that the user has chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct AttentionChoice {
    /// The layer; none for the last.
    layer: Option<u32>,
    /// The head; none for the mean of all.
    head: Option<u32>,
    direction: AttentionDirection,
}

/// The direction of attention that is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AttentionDirection {
    /// The attention of query tokens to document tokens.
    #[default]
    QueryToDocument,
    /// The attention of document tokens to query tokens.
    DocumentToQuery,
}

/// Renders a map for each document, for the chosen layer and head.
#[component]
pub(crate) fn AttentionMaps(
    /// A cross-encoder.
    ranker: RankerInfo,
    /// The query as written, which the server tokenizes.
    query: String,
    /// The documents as written.
    texts: Vec<String>,
    /// Returns the title of the document at an index.
    title: fn(usize) -> String,
) -> impl IntoView {
    let choice = RwSignal::new(AttentionChoice::default());
    let asked = Memo::new(move |_| choice.with(|it| (it.layer, it.head)));
    let RankerInfo { spec, label, .. } = ranker;
    let name = format!("Attention of {label}");
    let found = LocalResource::new(move || {
        let (layer, head) = asked.get();
        let requests = texts.iter().map(|text| GetAttentionRequest {
            model: spec.clone(),
            query: query.clone(),
            document: text.clone(),
            layer,
            head,
        });
        let requests: Vec<GetAttentionRequest> = requests.collect();
        async move {
            let mut all = Vec::new();
            for request in requests {
                all.push(api::send_and_parse(&request).await?);
            }
            Ok::<Vec<AttentionResponse>, api::RequestError>(all)
        }
    });
    let answered = move || found.get_untracked()?.ok();
    // The form stays while a reply is loading, so that a drop-down list keeps the focus.
    let shape = Memo::new(
        move |before: Option<&Option<(u32, u32)>>| match found.get() {
            Some(Ok(all)) => all.first().map(|it| (it.n_layers, it.n_heads)),
            Some(Err(_)) | None => before.copied().flatten(),
        },
    );
    let form = move || {
        shape.get()?;
        let all = answered()?;
        Some(view! { <Choices first=all.first()?.clone() choice/> })
    };
    let shown = move |all| view! { <Maps all choice title/> }.into_any();
    let svg = Callback::new(move |()| {
        let all = answered().unwrap_or_default();
        let direction = choice.get_untracked().direction;
        for (at, figure) in figures(&all, direction, title).iter().enumerate() {
            let text = plot::figure_to_svg(figure, FigureTheme::Light);
            download::offer_text_download(
                &format!("attention-{}.svg", at + 1),
                "image/svg+xml",
                &text,
            );
        }
    });
    let csv = Callback::new(move |()| {
        let table = weight_table(&answered().unwrap_or_default());
        download::offer_text_download("attention.csv", "text/csv", &report::table_to_csv(&table));
    });
    view! {
        <Section
            id="attention"
            name
            note="Attention weights of one layer between query and document tokens; a stronger \
                 color is higher, and the frame marks the maximum. Attention weights do not explain the \
                 score."
            header=move || view! { <FigureExportButtons of="attention" svg csv/> }
        >
            {form}
            <RequestReplyView answer=found until="Running the model" shown/>
        </Section>
    }
}

/// Renders the choice of layer, head and direction.
#[component]
fn Choices(
    /// The first reply for the first document.
    first: AttentionResponse,
    choice: RwSignal<AttentionChoice>,
) -> impl IntoView {
    let layers = (0..first.n_layers).map(|it| {
        let selected = it == first.layer;
        view! { <option value=it.to_string() selected=selected>{(it + 1).to_string()}</option> }
    });
    let layers = layers.collect_view();
    let heads = (0..first.n_heads).map(|it| {
        let selected = Some(it) == first.head;
        view! { <option value=it.to_string() selected=selected>{(it + 1).to_string()}</option> }
    });
    let heads = heads.collect_view();
    let of_query = move || choice.with(|it| it.direction) == AttentionDirection::QueryToDocument;
    let turn = move |word: String| {
        let direction = match word.as_str() {
            "query-to-document" => AttentionDirection::QueryToDocument,
            _ => AttentionDirection::DocumentToQuery,
        };
        choice.update(|it| it.direction = direction);
    };
    view! {
        <form class="form choices" on:submit=|event| event.prevent_default()>
            <SelectField label="Layer" choose=move |layer: String| {
                choice.update(|it| it.layer = layer.parse().ok());
            }>{layers}</SelectField>
            <SelectField label="Head" choose=move |head: String| {
                choice.update(|it| it.head = head.parse().ok());
            }>
                <option value="mean" selected=first.head.is_none()>"mean of all heads"</option>
                {heads}
            </SelectField>
            <SelectField label="Direction of attention" choose=turn>
                <option value="query-to-document" selected=of_query>"query to document"</option>
                <option value="document-to-query" selected=move || !of_query()>
                    "document to query"
                </option>
            </SelectField>
        </form>
    }
}

/// Renders a map for each document.
#[component]
fn Maps(
    all: Vec<AttentionResponse>,
    choice: RwSignal<AttentionChoice>,
    title: fn(usize) -> String,
) -> impl IntoView {
    let strips = move || {
        let each = figures(&all, choice.with(|it| it.direction), title).into_iter();
        let strip = each.enumerate().map(|(at, figure)| {
            let said = figure.alt_text.clone();
            let label = format!("{}, attention", title(at));
            view! {
                <figure>
                    <div class="strip" role="group" tabindex="0" aria-label=label>
                        <InOwnTask><FigureView figure/></InOwnTask>
                    </div>
                    <p class="note">{said}</p>
                </figure>
            }
        });
        strip.collect_view()
    };
    view! { <div class="docs strips">{strips}</div> }
}

fn figures(
    all: &[AttentionResponse],
    direction: AttentionDirection,
    title: fn(usize) -> String,
) -> Vec<PlotFigure> {
    let each = all.iter().enumerate();
    each.map(|(at, it)| attention_figure(&title(at), it, direction))
        .collect()
}

/// Returns the positions of the query tokens and of the document tokens, without the special tokens
/// at their ends.
fn token_ranges(it: &AttentionResponse) -> [std::ops::Range<usize>; 2] {
    let (second, n) = (it.document_start as usize, it.tokens.len());
    [
        1..second.saturating_sub(1).max(1),
        second.min(n)..n.saturating_sub(1).max(second),
    ]
}

fn attention_figure(
    name: &str,
    it: &AttentionResponse,
    direction: AttentionDirection,
) -> PlotFigure {
    let [query, text] = token_ranges(it);
    let pieces = |of: &std::ops::Range<usize>| it.tokens[of.clone()].to_vec();
    // Rows are query tokens in both directions, so that the maps can be compared.
    let weight = |q: usize, t: usize| match direction {
        AttentionDirection::QueryToDocument => it.weights[q][t],
        AttentionDirection::DocumentToQuery => it.weights[t][q],
    };
    let weights: Vec<Vec<f32>> = query
        .clone()
        .map(|q| text.clone().map(|t| weight(q, t)).collect())
        .collect();
    let matches = TokenSimilarities {
        query_tokens: pieces(&query),
        document_tokens: pieces(&text),
        cosines: weights,
    };
    let cut = if it.truncated { ", truncated" } else { "" };
    let most = matches.query_tokens.iter().zip(&matches.cosines);
    let most = most.filter_map(|(piece, row)| {
        let each = row.iter().zip(&matches.document_tokens);
        let (weight, met) = each.max_by(|a, b| a.0.total_cmp(b.0))?;
        Some(format!(
            "{piece}, {met} {}",
            format::format_two_digit_fraction(f64::from(*weight))
        ))
    });
    let most: Vec<String> = most.collect();
    PlotFigure {
        alt_text: format!("{name}{cut}: {}.", most.join("; ")),
        description: "Rows are query tokens, columns document tokens; a stronger color is higher."
            .to_owned(),
        ..token_match_map::token_match_figure(name, &matches)
    }
}

/// Returns a table of the attention of every token to every token, for export.
fn weight_table(all: &[AttentionResponse]) -> ReportTable {
    let mut table = ReportTable::new("attention", "Attention of each token to each token")
        .add_number_columns("document | position")
        .add_text_columns("token")
        .add_number_columns("attended position")
        .add_text_columns("attended token")
        .add_number_columns("weight");
    for (document, it) in all.iter().enumerate() {
        for (from, (token, row)) in it.tokens.iter().zip(&it.weights).enumerate() {
            for (to, (attended, &weight)) in it.tokens.iter().zip(row).enumerate() {
                table.rows.push(vec![
                    TableValue::Count(document as u64 + 1),
                    TableValue::Count(from as u64 + 1),
                    TableValue::Text(token.clone()),
                    TableValue::Count(to as u64 + 1),
                    TableValue::Text(attended.clone()),
                    TableValue::Score {
                        value: f64::from(weight),
                        digits: 4,
                    },
                ]);
            }
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::score::{RankerInfo, RankerKind};

    #[test]
    fn both_directions_have_the_query_in_rows_without_special_pieces() {
        let ranker = RankerInfo {
            spec: "m:cross".to_owned(),
            label: "m".to_owned(),
            detail: String::new(),
            kind: RankerKind::Neural,
            fingerprint: String::new(),
            note: None,
        };
        let pieces = ["[CLS]", "ice", "[SEP]", "cold", "river", "[SEP]"];
        let weights = (0..6_u8).map(|row| (0..6_u8).map(|at| f32::from(10 * row + at)).collect());
        let it = AttentionResponse {
            ranker,
            n_layers: 1,
            n_heads: 1,
            layer: 0,
            head: None,
            tokens: pieces.map(str::to_owned).to_vec(),
            document_start: 3,
            weights: weights.collect(),
            truncated: false,
        };
        assert_eq!(token_ranges(&it), [1..2, 3..5]);
        let label = |direction| attention_figure("Document 1", &it, direction).alt_text;
        assert!(label(AttentionDirection::QueryToDocument).contains("ice, river"));
        assert!(label(AttentionDirection::DocumentToQuery).contains("ice, river"));
        assert_eq!(weight_table(&[it]).rows.len(), 36);
    }
}
