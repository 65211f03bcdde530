//! The settings: collection, analyzer, limits of the preconditions, and ranker parameters.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::probe::AxiomVariant;
use shared::study::overview::StudySummary;
use web_sys::HtmlSelectElement;

use super::input::PlaygroundSettingsField;
use super::state::PlaygroundState;
use crate::api;
use crate::widgets::analyzer::{
    stemmer_select_options, stop_list_select_options, tokenizer_select_options,
};
use crate::widgets::axiom_fields::{
    FURTHER_AXIOMS_LABEL, LENGTH_TOLERANCE_LABEL, MIN_QUERY_TERMS_LABEL,
};
use crate::widgets::details::DetailsOnDemand;
use crate::widgets::form::{FieldErrorMessage, FormTextField, RadioButton};
use crate::widgets::resource_view::RequestErrorMessage;
use crate::widgets::term::{GlossaryTerm, Term};
use crate::widgets::variant::axiom_variant_label;

/// Renders the settings below the results, closed at first. They open when a value is invalid.
#[component]
pub(super) fn PlaygroundSettingsFields(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let summary = move || {
        let analyzer = desk.collection_analyzer();
        desk.settings.with(|it| it.describe(analyzer.as_ref()))
    };
    let form = desk.settings_with_errors();
    let has_errors = Memo::new(move |_| form.errors.with(|it| !it.is_empty()));
    let is_open = RwSignal::new(false);
    Effect::new(move |_| {
        if has_errors.get() {
            is_open.set(true);
        }
    });
    view! {
        <DetailsOnDemand
            class="section chosen-settings"
            is_open
            summary=move || {
                view! { <b>"Analyzer and ranker settings"</b> ": " {summary} }
            }
        >
            <AnalysisSettings desk/>
            <RankerParameters desk/>
        </DetailsOnDemand>
    }
}

/// Renders the fields that decide which terms a text has and which axioms apply.
#[component]
fn AnalysisSettings(desk: PlaygroundState) -> impl IntoView {
    use PlaygroundSettingsField::{Delta, MinTerms};
    let form = desk.settings_with_errors();
    view! {
        <div class="reading-bar" role="group" aria-label="Analysis settings">
            <CollectionSelect desk/>
            <AnalyzerFields desk/>
            {form.number_field(Delta, LENGTH_TOLERANCE_LABEL, |it| &mut it.length_tolerance)}
            {form.number_field(MinTerms, MIN_QUERY_TERMS_LABEL, |it| &mut it.min_query_terms)}
            <FormTextField
                form
                field=PlaygroundSettingsField::Further
                label=FURTHER_AXIOMS_LABEL
                text=|it| &mut it.further_axioms
            />
        </div>
    }
}

/// Renders the parameters of BM25 and QL.
#[component]
fn RankerParameters(desk: PlaygroundState) -> impl IntoView {
    let form = desk.settings_with_errors();
    let idf = vec![("lucene", "lucene"), ("rsj", "rsj")];
    view! {
        <div class="parameters" role="group" aria-label="Parameters of BM25">
            <b>"BM25"</b>
            {form.number_field(PlaygroundSettingsField::K1, "k1", |it| &mut it.k1)}
            {form.number_field(PlaygroundSettingsField::B, "b", |it| &mut it.b)}
            {form.string_select("idf", idf, |it| &mut it.idf)}
        </div>
        <div class="parameters" role="group" aria-label="Parameters of query likelihood">
            <b>"QL"</b>
            {form.number_field(PlaygroundSettingsField::Mu, "μ, terms", |it| &mut it.mu)}
        </div>
    }
}

/// Renders the choice of the collection, which gives document frequencies and the average length.
#[component]
fn CollectionSelect(desk: PlaygroundState) -> impl IntoView {
    let studies = api::fetch_on_signal_change(|| shared::api::ListStudiesRequest {});
    let choose = move |event: Targeted<Event, HtmlSelectElement>| {
        let name = event.target().value();
        desk.settings
            .update(|it| it.study = (!name.is_empty()).then_some(name));
    };
    let chosen = Memo::new(move |_| desk.settings.with(|it| it.study.clone()));
    let options = move || {
        let found = studies.get().and_then(Result::ok).unwrap_or_default();
        let now = chosen.get();
        let options = collection_options(found, now.as_deref())
            .into_iter()
            .map(|(name, title)| {
                let selected = name == now.as_deref().unwrap_or_default();
                view! { <option value=name selected=selected>{title}</option> }
            });
        options.collect_view()
    };
    view! {
        <div class="field wide-field">
            <label class="label" for="collection">"Collection statistics"</label>
            <select id="collection" on:change:target=choose>{options}</select>
            <RequestErrorMessage answer=studies/>
        </div>
    }
}

/// Returns the names and titles of the collections: the documents themselves, then the studies. The
/// current study is kept even if it is not in the list.
fn collection_options(studies: Vec<StudySummary>, now: Option<&str>) -> Vec<(String, String)> {
    let mut choices = vec![(String::new(), "these documents only".to_owned())];
    choices.extend(studies.into_iter().map(|it| (it.name, it.title)));
    if let Some(now) = now
        && choices.iter().all(|it| it.0 != now)
    {
        choices.push((now.to_owned(), now.to_owned()));
    }
    choices
}

/// Renders the fields of the analyzer; a collection has its own.
#[component]
fn AnalyzerFields(desk: PlaygroundState) -> impl IntoView {
    let form = desk.settings_with_errors();
    let own = Memo::new(move |_| desk.settings.with(|it| it.study.is_none()));
    let theirs = move || {
        let found = desk.collection_analyzer();
        found.map_or_else(|| "loading".to_owned(), |it| it.describe())
    };
    move || {
        if !own.get() {
            return view! {
                <div class="field wide-field">
                    <span class="label">
                        <Term of=GlossaryTerm::Analyzer>"Analyzer"</Term> " of the collection"
                    </span>
                    <span class="given">{theirs}</span>
                </div>
            }
            .into_any();
        }
        let (tokenizers, stemmers) = (tokenizer_select_options(), stemmer_select_options());
        let stop_lists = stop_list_select_options();
        view! {
            {form.string_select("Tokenizer", tokenizers, |it| &mut it.analyzer.tokenizer)}
            {form.string_select("Stemmer", stemmers, |it| &mut it.analyzer.stemmer)}
            {form.string_select("Stop words", stop_lists, |it| &mut it.analyzer.stopwords)}
            <FieldErrorMessage form field=PlaygroundSettingsField::Analyzer/>
        }
        .into_any()
    }
}

/// Renders the switch between the variants of the axioms.
#[component]
pub(super) fn AxiomVariantSwitch(
    /// The state of the page.
    desk: PlaygroundState,
) -> impl IntoView {
    let labels = AxiomVariant::ALL.iter().map(|&variant| {
        view! {
            <RadioButton
                group="mode"
                term=GlossaryTerm::Variant(variant)
                chosen=move || desk.settings.with(|it| it.variant == variant)
                choose=move || desk.settings.update(|it| it.variant = variant)
            >
                {axiom_variant_label(variant)}
            </RadioButton>
        }
    });
    let labels = labels.collect_view();
    view! {
        <span class="choice" role="radiogroup" aria-label="Variant">
            {labels}
        </span>
    }
}
