//! The form for the settings of the study, with each error beside its field.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::api::worker::{FileKind, StudyInputPart};
use shared::probe::{AxiomVariant, Probe};
use shared::text::{WordpieceVocabulary, stopwords};
use web_sys::{HtmlInputElement, HtmlSelectElement};

use super::reading;
use super::settings::{
    LexicalRankerFormValues, LexicalRankerKind, LocalStudyField, LocalStudyFormValues,
    STOP_LIST_FILE, WORDPIECE,
};
use super::state::{CollectionPartPresence, FileReadState, WorkbenchState};
use crate::widgets::analyzer::{
    stemmer_select_options, stop_list_select_options, tokenizer_select_options,
};
use crate::widgets::axiom_fields::{
    FURTHER_AXIOMS_LABEL, LENGTH_TOLERANCE_LABEL, MIN_QUERY_TERMS_LABEL,
};
use crate::widgets::error_message::OptionalErrorMessage;
use crate::widgets::form::{
    FieldErrorMessage, FormCheckbox, FormFieldId, FormTextField, FormValuesAndErrors, SelectField,
};
use crate::widgets::section::Section;
use crate::widgets::variant::axiom_variant_description;

/// Renders the section with the form.
#[component]
pub(super) fn StudySettingsForm(bench: WorkbenchState) -> impl IntoView {
    let wrong = Memo::new(move |_| bench.study_definition().err().unwrap_or_default());
    let form = FormValuesAndErrors {
        values: bench.settings,
        errors: wrong.into(),
    };
    use LocalStudyField::{LengthTolerance, MaxInstancesPerQuery, MinQueryTerms, Queries, Seed};
    const QUERIES: &str = "First N queries only (blank = all)";
    const INSTANCES: &str = "Instances per query, at most (blank = all)";
    const SEED: &str = "Random seed, if instances are capped";
    let limits = view! {
        {form.number_field(LengthTolerance, LENGTH_TOLERANCE_LABEL, |it| &mut it.length_tolerance)}
        {form.number_field(MinQueryTerms, MIN_QUERY_TERMS_LABEL, |it| &mut it.min_query_terms)}
        {form.number_field(Queries, QUERIES, |it| &mut it.n_queries)}
        {form.number_field(MaxInstancesPerQuery, INSTANCES, |it| &mut it.max_instances_per_query)}
        {form.number_field(Seed, SEED, |it| &mut it.seed)}
    };
    let rows = Memo::new(move |_| bench.settings.with(|it| it.rankers.len()));
    let add = move |_| {
        let row = LexicalRankerFormValues::with_defaults(LexicalRankerKind::Bm25);
        bench.settings.update(|it| it.rankers.push(row));
    };
    let header = move || {
        let reset = move |_| bench.settings.set(LocalStudyFormValues::default_settings());
        view! { <button class="btn bare" type="button" on:click=reset>"Reset to defaults"</button> }
    };
    view! {
        <Section id="settings" name="Settings" header>
            <AnalyzerFields bench form/>
            <fieldset>
                <legend>{LocalStudyField::Ranker(0).heading()}</legend>
                {move || (0..rows.get()).map(|at| view! { <RankerFields form at/> }).collect_view()}
                <button class="btn" type="button" on:click=add>"Add ranker"</button>
            </fieldset>
            <AxiomFields form/>
            <fieldset class="form">
                <legend>{LocalStudyField::Pool.heading()}</legend>
                <PoolFields bench form/>
                {limits}
            </fieldset>
        </Section>
    }
}

/// Renders the fields of the analyzer.
#[component]
fn AnalyzerFields(
    bench: WorkbenchState,
    form: FormValuesAndErrors<LocalStudyFormValues, LocalStudyField>,
) -> impl IntoView {
    let mut tokenizers = tokenizer_select_options();
    tokenizers.push((WORDPIECE, "WordPiece, from a vocabulary file"));
    let mut stop_lists = stop_list_select_options();
    stop_lists.push((STOP_LIST_FILE, "from a file"));
    let vocabulary = move || {
        let wanted = bench.settings.with(|it| it.analyzer.tokenizer == WORDPIECE);
        wanted.then(|| view! { <Vocabulary bench/> })
    };
    let file = move || {
        let wanted = bench
            .settings
            .with(|it| it.analyzer.stopwords == STOP_LIST_FILE);
        wanted.then(|| view! { <StopList bench/> })
    };
    view! {
        <fieldset class="form">
            <legend>{LocalStudyField::Analyzer.heading()}</legend>
            {form.string_select("Tokenizer", tokenizers, |it| &mut it.analyzer.tokenizer)}
            {vocabulary}
            {form.string_select(
                "Stemmer",
                stemmer_select_options(),
                |it| &mut it.analyzer.stemmer,
            )}
            {form.string_select("Stop words", stop_lists, |it| &mut it.analyzer.stopwords)}
            {file}
            <FieldErrorMessage form field=LocalStudyField::Analyzer/>
        </fieldset>
    }
}

/// Renders the field for a model's vocabulary: its `vocab.txt` or `tokenizer.json`.
#[component]
fn Vocabulary(bench: WorkbenchState) -> impl IntoView {
    let take = move |name: String, text: String| {
        let read = WordpieceVocabulary::parse_file(&name, &text).map_err(|it| it.to_string());
        bench.vocabulary.set(Some(read));
    };
    let read = move || match bench.vocabulary.get() {
        Some(Ok(pieces)) => format!("{}, {} tokens", pieces.file_name(), pieces.len()),
        Some(Err(_)) | None => String::new(),
    };
    view! {
        <TextFileField
            label="Vocabulary (vocab.txt or tokenizer.json) "
            read=Signal::derive(read) take
        />
    }
}

/// Renders the field for a stop list, a file with one word per line.
#[component]
fn StopList(bench: WorkbenchState) -> impl IntoView {
    let take = move |name: String, text: String| {
        bench
            .stop_list
            .set(Some((name, stopwords::parse_stop_list(&text))));
    };
    let name = move || bench.stop_list.get().map_or(String::new(), |it| it.0);
    view! { <TextFileField label="Stop words, one per line " read=Signal::derive(name) take/> }
}

/// Renders a field for a text file.
#[component]
fn TextFileField<F>(
    label: &'static str,
    /// What was read from the file, in words.
    read: Signal<String>,
    /// Receives the name and the text of the file.
    take: F,
) -> impl IntoView
where
    F: Fn(String, String) + Copy + 'static,
{
    let failed = RwSignal::new(None);
    let chosen = move |event: Targeted<Event, HtmlInputElement>| {
        let Some(file) = event.target().files().and_then(|it| it.get(0)) else {
            return;
        };
        leptos::task::spawn_local(async move {
            let found = reading::read_file_text(&file).await;
            failed.set(found.map(|text| take(file.name(), text)).err());
        });
    };
    view! {
        <label class="field">
            <span class="label">{label} {read}</span>
            <input type="file" on:change:target=chosen/>
        </label>
        <OptionalErrorMessage error=failed/>
    }
}

/// Renders the fields of one ranker and its parameters.
#[component]
fn RankerFields(
    form: FormValuesAndErrors<LocalStudyFormValues, LocalStudyField>,
    /// The row of the ranker.
    at: usize,
) -> impl IntoView {
    let formula = Memo::new(move |_| form.values.with(|it| it.rankers.get(at).map(|it| it.kind)));
    let options = LexicalRankerKind::ALL.map(|it| {
        view! { <option selected=move || formula.get() == Some(it)>{it.display_name()}</option> }
    });
    let change = move |name: String| {
        let formula = LexicalRankerKind::ALL
            .into_iter()
            .find(|it| it.display_name() == name);
        if let Some(formula) = formula {
            form.values
                .update(|it| it.rankers[at] = LexicalRankerFormValues::with_defaults(formula));
        }
    };
    let parameters = move || {
        let parameters = formula
            .get()
            .map(LexicalRankerKind::parameter_names_and_defaults)
            .unwrap_or_default();
        let fields = parameters.iter().enumerate();
        fields
            .map(|(place, it)| view! { <ParameterField form at place label=it.1/> })
            .collect_view()
    };
    let remove = move |_| {
        form.values.update(|it| {
            it.rankers.remove(at);
        });
    };
    let field = LocalStudyField::Ranker(at);
    view! {
        <div class="ranker-row" class:error=move || form.field_error(field).is_some()>
            <SelectField label="Ranker" choose=change>{options}</SelectField>
            {parameters}
            <button
                class="btn bare"
                type="button"
                aria-label=format!("Remove ranker {}", at + 1)
                on:click=remove
            >
                "✕"
            </button>
            <FieldErrorMessage form field/>
        </div>
    }
}

/// Renders the field of one parameter of a ranker.
#[component]
fn ParameterField(
    form: FormValuesAndErrors<LocalStudyFormValues, LocalStudyField>,
    at: usize,
    place: usize,
    label: &'static str,
) -> impl IntoView {
    let value = move || {
        let value =
            |it: &LocalStudyFormValues| Some(it.rankers.get(at)?.values.get(place)?.clone());
        form.values.with(value).unwrap_or_default()
    };
    let set = move |text: String| {
        form.values.update(|it| {
            let rows = it.rankers.get_mut(at);
            if let Some(place) = rows.and_then(|it| it.values.get_mut(place)) {
                *place = text;
            }
        });
    };
    let field = LocalStudyField::Ranker(at);
    let input = if label == "idf" {
        let options = ["lucene", "rsj"]
            .map(|it| view! { <option selected=move || value() == it>{it}</option> });
        view! {
            <select on:change:target=move |event| set(event.target().value())>{options}</select>
        }
        .into_any()
    } else {
        view! {
            <input
                inputmode="decimal"
                autocomplete="off"
                aria-invalid=move || form.aria_invalid(field)
                aria-describedby=field.id()
                prop:value=value
                on:input:target=move |event| set(event.target().value())
            />
        }
        .into_any()
    };
    view! { <label class="field narrow"><span class="label">{label}</span> {input}</label> }
}

/// Renders the fields for axioms and variants.
#[component]
fn AxiomFields(form: FormValuesAndErrors<LocalStudyFormValues, LocalStudyField>) -> impl IntoView {
    let probes = Probe::list_minable_paper_axioms(true)
        .into_iter()
        .map(|axiom| {
            let on = move || form.values.with(|it| it.probes.contains(&axiom));
            let turn = move |_| {
                form.values.update(|it| {
                    it.probes = toggled(&Probe::list_minable_paper_axioms(true), &it.probes, axiom)
                });
            };
            view! {
                <label title=axiom.probe_description().short_title>
                    <input type="checkbox" prop:checked=on on:change=turn/>
                    {axiom.name()}
                </label>
            }
        });
    let variants = AxiomVariant::ALL.iter().map(|&variant| {
        let on = move || form.values.with(|it| it.variants.contains(&variant));
        let turn = move |_| {
            form.values
                .update(|it| it.variants = toggled(AxiomVariant::ALL, &it.variants, variant));
        };
        view! {
            <label>
                <input type="checkbox" prop:checked=on on:change=turn/>
                {axiom_variant_description(variant)}
            </label>
        }
    });
    view! {
        <fieldset>
            <legend>{LocalStudyField::Probes.heading()}</legend>
            <div class="checks">{probes.collect_view()}</div>
            <p class="note">
                "STMC1, STMC2 and STMC3 need word vectors: a GloVe or word2vec file, or vectors \
                 trained on your documents."
            </p>
            <FieldErrorMessage form field=LocalStudyField::Probes/>
            <FormTextField
                form
                field=LocalStudyField::FurtherAxioms
                label=FURTHER_AXIOMS_LABEL
                text=|it| &mut it.further_axioms
            />
        </fieldset>
        <fieldset>
            <legend>{LocalStudyField::Variants.heading()}</legend>
            <div class="checks">{variants.collect_view()}</div>
            <FieldErrorMessage form field=LocalStudyField::Variants/>
        </fieldset>
        <fieldset>
            <legend>"Analyzer audit"</legend>
            <div class="checks">
                <FormCheckbox
                    form
                    label="Compute the share of instances that remain instances with another \
                         analyzer"
                    on=|it| &mut it.has_tokenization_audit
                />
            </div>
        </fieldset>
    }
}

/// Returns `chosen` with one value added or removed, in the order of `all`.
fn toggled<T: Copy + PartialEq>(all: &[T], chosen: &[T], one: T) -> Vec<T> {
    all.iter()
        .copied()
        .filter(|it| chosen.contains(it) != (*it == one))
        .collect()
}

/// Renders the fields for the candidate pool.
#[component]
fn PoolFields(
    bench: WorkbenchState,
    form: FormValuesAndErrors<LocalStudyFormValues, LocalStudyField>,
) -> impl IntoView {
    let options = move || {
        let now = bench.settings.with(|it| it.pool.clone());
        let mut options = pool_options(bench);
        if !options.iter().any(|it| it.0 == now) {
            options.push((now.clone(), now.clone()));
        }
        let options = options.into_iter().map(|(word, name)| {
            let selected = word == now;
            view! { <option value=word selected=selected>{name}</option> }
        });
        options.collect_view()
    };
    let chosen = move |event: Targeted<Event, HtmlSelectElement>| {
        bench.settings.update(|it| it.pool = event.target().value());
    };
    let ranked = Memo::new(move |_| {
        bench
            .settings
            .with(LocalStudyFormValues::is_pool_top_of_ranking)
    });
    let field = LocalStudyField::Pool;
    view! {
        <label class="field" class:error=move || form.field_error(field).is_some()>
            <span class="label">"Candidate pool of each query"</span>
            <select aria-describedby=field.id() on:change:target=chosen>{options}</select>
            {move || (!ranked.get()).then(|| view! { <FieldErrorMessage form field/> })}
        </label>
        {move || {
            ranked.get().then(|| form.number_field(field, "Depth", |it| &mut it.pool_depth))
        }}
    }
}

/// Returns the value and display name of every pool that the files allow.
fn pool_options(bench: WorkbenchState) -> Vec<(String, String)> {
    let mut pools = vec![
        ("rank:bm25".to_owned(), "Top of BM25".to_owned()),
        ("rank:ql".to_owned(), "Top of QL".to_owned()),
    ];
    let runs = bench.files.with(|files| {
        let runs = files.iter().filter(|it| match &it.state {
            FileReadState::Read(read) => read.kind == FileKind::Run,
            FileReadState::Reading(_) | FileReadState::Failed(_) => false,
        });
        runs.map(|it| it.name.clone()).collect::<Vec<String>>()
    });
    pools.extend(
        runs.into_iter()
            .map(|it| (format!("run:{it}"), format!("Top of {it}"))),
    );
    if bench.part_presence(StudyInputPart::Qrels) == CollectionPartPresence::Present {
        pools.push(("judged".to_owned(), "all judged documents".to_owned()));
    }
    pools.push((
        "group".to_owned(),
        "all documents in the query's group".to_owned(),
    ));
    pools.push(("all".to_owned(), "all documents".to_owned()));
    pools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_keeps_the_order_of_all() {
        assert_eq!(toggled(&[1, 2, 3], &[3], 1), [1, 3]);
        assert_eq!(toggled(&[1, 2, 3], &[1, 3], 1), [3]);
    }
}
