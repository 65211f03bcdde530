//! The settings of the study, each checked where it stands.

use leptos::ev::{Event, Targeted};
use leptos::prelude::*;
use shared::api::worker::{FileKind, Part};
use shared::probe::{Mode, Probe};
use shared::text::{Pieces, Stemmer, Tokenizer, stopwords};
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlInputElement, HtmlSelectElement};

use super::Bench;
use super::files::State;
use super::settings::{Field, Formula, RankerRow, Refusal, Settings, WORDPIECE};

/// The section of the page.
#[component]
pub(super) fn Form(bench: Bench) -> impl IntoView {
    let wrong = Memo::new(move |_| {
        let beside = bench.beside();
        bench
            .settings
            .with(|it| it.definition(&beside).err().unwrap_or_default())
    });
    let bound = Bound {
        settings: bench.settings,
        wrong,
    };
    let rows = Memo::new(move |_| bench.settings.with(|it| it.rankers.len()));
    let add = move |_| {
        let row = RankerRow::usual(Formula::Bm25);
        bench.settings.update(|it| it.rankers.push(row));
    };
    view! {
        <section class="section" aria-labelledby="settings">
            <header>
                <h2 id="settings">"Settings"</h2>
                <button
                    class="btn bare"
                    type="button"
                    on:click=move |_| bench.settings.set(Settings::standard())
                >
                    "As at first"
                </button>
            </header>
            <Analysis bench bound/>
            <fieldset>
                <legend>"Rankers"</legend>
                {move || (0..rows.get()).map(|at| view! { <Ranker bound at/> }).collect_view()}
                <button class="btn" type="button" on:click=add>"Add a ranker"</button>
            </fieldset>
            <Probes bound/>
            <fieldset class="form">
                <legend>"Pool and limits"</legend>
                <Pool bench bound/>
                <Number
                    bound
                    field=Field::Delta
                    label="Length gap δ, in terms, or inf"
                    get=|it| it.delta.clone()
                    set=|it, text| it.delta = text
                />
                <Number
                    bound
                    field=Field::MinTerms
                    label="Query terms a text needs, at least"
                    get=|it| it.min_terms.clone()
                    set=|it, text| it.min_terms = text
                />
                <Number
                    bound
                    field=Field::Queries
                    label="Only the first queries; empty: all"
                    get=|it| it.n_queries.clone()
                    set=|it, text| it.n_queries = text
                />
                <Number
                    bound
                    field=Field::PerQuery
                    label="Most instances of a query; empty: all"
                    get=|it| it.per_query.clone()
                    set=|it, text| it.per_query = text
                />
                <Number
                    bound
                    field=Field::Seed
                    label="Seed of the draw, if there is a most"
                    get=|it| it.seed.clone()
                    set=|it, text| it.seed = text
                />
            </fieldset>
        </section>
    }
}

/// The settings with what is wrong in them.
#[derive(Clone, Copy)]
struct Bound {
    settings: RwSignal<Settings>,
    wrong: Memo<Vec<Refusal>>,
}

impl Bound {
    fn reason(self, field: Field) -> Option<String> {
        let wrong = self.wrong.get();
        wrong
            .into_iter()
            .find(|it| it.field == field)
            .map(|it| it.reason)
    }

    fn invalid(self, field: Field) -> Option<&'static str> {
        self.reason(field).map(|_| "true")
    }
}

/// An address for `aria-describedby`.
fn id(field: Field) -> String {
    match field {
        Field::Analyzer => "wrong-analyzer".to_owned(),
        Field::Ranker(at) => format!("wrong-ranker-{at}"),
        Field::Pool => "wrong-pool".to_owned(),
        Field::Probes => "wrong-probes".to_owned(),
        Field::Further => "wrong-further".to_owned(),
        Field::Modes => "wrong-modes".to_owned(),
        Field::Delta => "wrong-delta".to_owned(),
        Field::MinTerms => "wrong-min-terms".to_owned(),
        Field::PerQuery => "wrong-per-query".to_owned(),
        Field::Seed => "wrong-seed".to_owned(),
        Field::Queries => "wrong-queries".to_owned(),
    }
}

/// What is wrong with a field.
#[component]
fn Wrong(bound: Bound, field: Field) -> impl IntoView {
    let message = move || {
        bound
            .reason(field)
            .map(|reason| view! { <span class="verdict bad">{reason}</span> })
    };
    view! { <span id=id(field) class="wrong">{message}</span> }
}

/// A number as text, since a mistake is text.
#[component]
fn Number(
    bound: Bound,
    field: Field,
    label: &'static str,
    #[prop(default = "numeric")] inputmode: &'static str,
    get: fn(&Settings) -> String,
    set: fn(&mut Settings, String),
) -> impl IntoView {
    let typed = move |event: Targeted<Event, HtmlInputElement>| {
        bound.settings.update(|it| set(it, event.target().value()));
    };
    view! {
        <label class="field" class:error=move || bound.reason(field).is_some()>
            <span class="label">{label}</span>
            <input
                inputmode=inputmode
                autocomplete="off"
                aria-invalid=move || bound.invalid(field)
                aria-describedby=id(field)
                prop:value=move || bound.settings.with(get)
                on:input:target=typed
            />
            <Wrong bound field/>
        </label>
    }
}

/// One of several words.
#[component]
fn Choice(
    bound: Bound,
    label: &'static str,
    /// Word in the settings and words for people.
    options: Vec<(&'static str, &'static str)>,
    get: fn(&Settings) -> String,
    set: fn(&mut Settings, String),
) -> impl IntoView {
    let options = options.into_iter().map(|(word, name)| {
        let selected = move || bound.settings.with(get) == word;
        view! { <option value=word selected=selected>{name}</option> }
    });
    let options = options.collect_view();
    let chosen = move |event: Targeted<Event, HtmlSelectElement>| {
        bound.settings.update(|it| set(it, event.target().value()));
    };
    view! {
        <label class="field">
            <span class="label">{label}</span>
            <select on:change:target=chosen>{options}</select>
        </label>
    }
}

/// How texts become terms.
#[component]
fn Analysis(bench: Bench, bound: Bound) -> impl IntoView {
    let tokenizers = vec![
        (Tokenizer::Alnum.name(), "letters a–z and digits"),
        (Tokenizer::Unicode.name(), "words of Unicode"),
        (WORDPIECE, "pieces of words, after a vocabulary"),
    ];
    let stemmers = Stemmer::ALL.iter().map(|&it| match it {
        Stemmer::None => (it.name(), "none"),
        Stemmer::Porter => (it.name(), "Porter"),
        Stemmer::Porter2 => (it.name(), "Porter 2"),
    });
    let lists = vec![
        ("none", "none"),
        ("en-function", "English function words"),
        ("list", "a file"),
    ];
    let vocabulary = move || {
        let wanted = bench.settings.with(|it| it.tokenizer == WORDPIECE);
        wanted.then(|| view! { <Vocabulary bench/> })
    };
    let file = move || {
        let wanted = bench.settings.with(|it| it.stopwords == "list");
        wanted.then(|| view! { <StopList bench/> })
    };
    view! {
        <fieldset class="form">
            <legend>"Analyser"</legend>
            <Choice
                bound
                label="A token is"
                options=tokenizers
                get=|it| it.tokenizer.clone()
                set=|it, word| it.tokenizer = word
            />
            {vocabulary}
            <Choice
                bound
                label="Stemmer"
                options=stemmers.collect()
                get=|it| it.stemmer.clone()
                set=|it, word| it.stemmer = word
            />
            <Choice
                bound
                label="Stop list"
                options=lists
                get=|it| it.stopwords.clone()
                set=|it, word| it.stopwords = word
            />
            {file}
            <Wrong bound field=Field::Analyzer/>
        </fieldset>
    }
}

/// The vocabulary of a model: its `vocab.txt` or `tokenizer.json`.
#[component]
fn Vocabulary(bench: Bench) -> impl IntoView {
    let chosen = move |event: Targeted<Event, HtmlInputElement>| {
        let Some(file) = event.target().files().and_then(|it| it.get(0)) else {
            return;
        };
        leptos::task::spawn_local(async move {
            if let Ok(text) = JsFuture::from(file.text()).await {
                let text = text.as_string().unwrap_or_default();
                let read = Pieces::read(&file.name(), &text).map_err(|it| it.to_string());
                bench.pieces.set(Some(read));
            }
        });
    };
    let read = move || match bench.pieces.get() {
        Some(Ok(pieces)) => format!("{}, {} pieces", pieces.file(), pieces.len()),
        Some(Err(_)) | None => String::new(),
    };
    view! {
        <label class="field">
            <span class="label">"vocab.txt or tokenizer.json " {read}</span>
            <input type="file" on:change:target=chosen/>
        </label>
    }
}

/// A stop list from a file, one word a line.
#[component]
fn StopList(bench: Bench) -> impl IntoView {
    let chosen = move |event: Targeted<Event, HtmlInputElement>| {
        let Some(file) = event.target().files().and_then(|it| it.get(0)) else {
            return;
        };
        leptos::task::spawn_local(async move {
            if let Ok(text) = JsFuture::from(file.text()).await {
                let list = stopwords::list(&text.as_string().unwrap_or_default());
                bench.stop_list.set(Some((file.name(), list)));
            }
        });
    };
    let name = move || bench.stop_list.get().map(|it| it.0);
    view! {
        <label class="field">
            <span class="label">"One word a line " {name}</span>
            <input type="file" on:change:target=chosen/>
        </label>
    }
}

/// One ranker with its parameters.
#[component]
fn Ranker(
    bound: Bound,
    /// Its row.
    at: usize,
) -> impl IntoView {
    let formula = Memo::new(move |_| {
        bound
            .settings
            .with(|it| it.rankers.get(at).map(|it| it.formula))
    });
    let options = Formula::ALL.map(|it| {
        view! { <option selected=move || formula.get() == Some(it)>{it.name()}</option> }
    });
    let change = move |event: Targeted<Event, HtmlSelectElement>| {
        let name = event.target().value();
        let formula = Formula::ALL.into_iter().find(|it| it.name() == name);
        if let Some(formula) = formula {
            bound
                .settings
                .update(|it| it.rankers[at] = RankerRow::usual(formula));
        }
    };
    let parameters = move || {
        let parameters = formula.get().map(Formula::parameters).unwrap_or_default();
        let fields = parameters.iter().enumerate();
        fields
            .map(|(place, it)| view! { <Parameter bound at place label=it.1/> })
            .collect_view()
    };
    let remove = move |_| {
        bound.settings.update(|it| {
            it.rankers.remove(at);
        });
    };
    let field = Field::Ranker(at);
    view! {
        <div class="ranker-row" class:error=move || bound.reason(field).is_some()>
            <label class="field">
                <span class="label">"Formula"</span>
                <select on:change:target=change>{options}</select>
            </label>
            {parameters}
            <button
                class="btn bare"
                type="button"
                aria-label=format!("Remove ranker {}", at + 1)
                on:click=remove
            >
                "✕"
            </button>
            <Wrong bound field/>
        </div>
    }
}

/// One parameter of a ranker.
#[component]
fn Parameter(bound: Bound, at: usize, place: usize, label: &'static str) -> impl IntoView {
    let value = move || {
        let value = |it: &Settings| Some(it.rankers.get(at)?.values.get(place)?.clone());
        bound.settings.with(value).unwrap_or_default()
    };
    let set = move |text: String| {
        bound.settings.update(|it| {
            let rows = it.rankers.get_mut(at);
            if let Some(place) = rows.and_then(|it| it.values.get_mut(place)) {
                *place = text;
            }
        });
    };
    let field = Field::Ranker(at);
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
                aria-invalid=move || bound.invalid(field)
                aria-describedby=id(field)
                prop:value=value
                on:input:target=move |event| set(event.target().value())
            />
        }
        .into_any()
    };
    view! { <label class="field narrow"><span class="label">{label}</span> {input}</label> }
}

/// Axioms and readings.
#[component]
fn Probes(bound: Bound) -> impl IntoView {
    let probes = Probe::AXIOMS.iter().map(|&axiom| {
        let on = move || bound.settings.with(|it| it.probes.contains(&axiom));
        let turn = move |_| {
            bound
                .settings
                .update(|it| it.probes = turned(Probe::AXIOMS, &it.probes, axiom));
        };
        view! {
            <label title=axiom.about().gist>
                <input type="checkbox" prop:checked=on on:change=turn/>
                {axiom.name()}
            </label>
        }
    });
    let modes = Mode::ALL.iter().map(|&mode| {
        let on = move || bound.settings.with(|it| it.modes.contains(&mode));
        let turn = move |_| {
            bound
                .settings
                .update(|it| it.modes = turned(Mode::ALL, &it.modes, mode));
        };
        view! {
            <label>
                <input type="checkbox" prop:checked=on on:change=turn/>
                {mode_name(mode)}
            </label>
        }
    });
    view! {
        <fieldset>
            <legend>"Axioms"</legend>
            <div class="checks">{probes.collect_view()}</div>
            <Wrong bound field=Field::Probes/>
            <Number
                bound
                field=Field::Further
                label="Others of ir_axioms, and formulas: prox1, tfc1 & tp"
                inputmode="text"
                get=|it| it.further.clone()
                set=|it, text| it.further = text
            />
        </fieldset>
        <fieldset>
            <legend>"Readings of the axioms"</legend>
            <div class="checks">{modes.collect_view()}</div>
            <Wrong bound field=Field::Modes/>
        </fieldset>
        <fieldset>
            <legend>"Tokenisation audit"</legend>
            <div class="checks">
                <label>
                    <input
                        type="checkbox"
                        prop:checked=move || bound.settings.with(|it| it.audit)
                        on:change=move |_| bound.settings.update(|it| it.audit = !it.audit)
                    />
                    "How many instances hold under words, stems and pieces"
                </label>
            </div>
        </fieldset>
    }
}

/// `chosen` with one turned on or off, in the order of `all`.
fn turned<T: Copy + PartialEq>(all: &[T], chosen: &[T], one: T) -> Vec<T> {
    all.iter()
        .copied()
        .filter(|it| chosen.contains(it) != (*it == one))
        .collect()
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Fixed => "as the axiom says",
        Mode::PaperRennings2019 => "as printed, Rennings 2019",
        Mode::PaperCamara2020 => "as printed, Câmara 2020",
        Mode::CodeCamara2020 => "as their code does, Câmara 2020",
    }
}

/// Which texts of a query are compared.
#[component]
fn Pool(bench: Bench, bound: Bound) -> impl IntoView {
    let options = move || {
        let now = bench.settings.with(|it| it.pool.clone());
        let mut options = pools(bench);
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
    let ranked = Memo::new(move |_| bench.settings.with(Settings::pool_is_ranked));
    let field = Field::Pool;
    view! {
        <label class="field" class:error=move || bound.reason(field).is_some()>
            <span class="label">"Compare, for each query,"</span>
            <select aria-describedby=id(field) on:change:target=chosen>{options}</select>
            {move || (!ranked.get()).then(|| view! { <Wrong bound field/> })}
        </label>
        {move || {
            ranked
                .get()
                .then(|| {
                    view! {
                        <Number
                            bound
                            field
                            label="How many of them"
                            get=|it| it.k.clone()
                            set=|it, text| it.k = text
                        />
                    }
                })
        }}
    }
}

/// Words and names of every pool that the files allow.
fn pools(bench: Bench) -> Vec<(String, String)> {
    let mut pools = vec![
        ("rank:bm25".to_owned(), "the first of BM25".to_owned()),
        ("rank:ql".to_owned(), "the first of QL".to_owned()),
    ];
    let runs = bench.files.with(|files| {
        let runs = files.iter().filter(|it| match &it.state {
            State::Read(read) => read.kind == FileKind::Run,
            State::Reading(_) | State::Failed(_) => false,
        });
        runs.map(|it| it.name.clone()).collect::<Vec<String>>()
    });
    pools.extend(
        runs.into_iter()
            .map(|it| (format!("run:{it}"), format!("the first of {it}"))),
    );
    if bench.has(Part::Qrels) == super::Has::Yes {
        pools.push(("judged".to_owned(), "the judged texts".to_owned()));
    }
    pools.push(("group".to_owned(), "the texts of its group".to_owned()));
    pools.push(("all".to_owned(), "all texts".to_owned()));
    pools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_keeps_the_order_of_all() {
        assert_eq!(turned(&[1, 2, 3], &[3], 1), [1, 3]);
        assert_eq!(turned(&[1, 2, 3], &[1, 3], 1), [3]);
    }
}
