//! Everything that stands on the page of the Playground.

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use shared::api::{CollectionStats, Scored, Show};
use shared::probe::{Claim, Manipulation, Mode};
use shared::score::RankerAbout;
use shared::study::bench::Answer;
use shared::study::instance::{Shown, Term};
use shared::text::Analyzer;
use shared::verdict::Verdict;

use super::history::History;
use super::sheet::{Field, Refusal, Settings, Sheet};
use crate::api::{self, Error};
use crate::page::Page;
use crate::widgets::form::Fields;

/// Names of the texts.
pub(super) const NAMES: [&str; 3] = ["A", "B", "C"];

/// Everything that stands on the page.
#[derive(Clone, Copy)]
pub(crate) struct Desk {
    pub(super) query: RwSignal<String>,
    /// Two or three.
    pub(super) texts: RwSignal<Vec<History>>,
    pub(super) settings: RwSignal<Settings>,
    /// The instance that was opened.
    pub(super) origin: RwSignal<Option<Origin>>,
    /// What was on the page before something else was opened, with what that is called.
    pub(super) before: RwSignal<Option<(String, Sheet)>>,
    /// Statistics of the chosen collection; none where the texts are the collection.
    pub(super) collection: LocalResource<Option<Collection>>,
    pub(super) outcome: RwSignal<Outcome>,
    /// Neural rankers with their scores.
    pub(super) models: RwSignal<Vec<Model>>,
    /// The text that was last made of another one.
    pub(super) manipulated: RwSignal<Option<ManipulatedText>>,
}

/// A collection whose statistics were asked for.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) study: String,
    pub(super) stats: Result<Rc<CollectionStats>, Error>,
}

/// What has become of what was typed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// Nothing was typed.
    Blank,
    /// Statistics are on their way.
    Waiting,
    Answered(Arc<Answer>),
    /// Some fields hold mistakes.
    Wrong(Vec<Refusal>),
    /// It cannot be answered, for this reason.
    Refused(String),
    /// The statistics are not to be had.
    Failed(Error),
}

impl Desk {
    /// As it stands in a link.
    pub(super) fn sheet(self) -> Sheet {
        Sheet {
            query: self.query.get(),
            texts: self
                .texts
                .with(|it| it.iter().map(|it| it.now().to_owned()).collect()),
            settings: self.settings.get(),
        }
    }

    /// Puts a sheet in the place of what is there, which can be had back.
    pub(super) fn open(self, what: &str, sheet: Sheet) {
        let before = untrack(|| self.sheet());
        let kept = (!before.is_blank()).then(|| (what.to_owned(), before));
        self.before.set(kept);
        self.origin.set(None);
        self.lay(sheet);
    }

    /// Puts a sheet on the page.
    pub(super) fn lay(self, sheet: Sheet) {
        let texts = sheet.texts.into_iter().map(History::new);
        batch(|| {
            self.query.set(sheet.query);
            self.texts.set(texts.collect());
            self.settings.set(sheet.settings);
        });
    }

    pub(super) fn answer(self) -> Option<Arc<Answer>> {
        self.outcome.with(|it| match it {
            Outcome::Answered(answer) => Some(Arc::clone(answer)),
            Outcome::Blank
            | Outcome::Waiting
            | Outcome::Wrong(_)
            | Outcome::Refused(_)
            | Outcome::Failed(_) => None,
        })
    }

    /// Distinct query terms, none without an answer.
    pub(super) fn terms(self) -> Vec<Term> {
        self.answer().map(|it| it.terms.clone()).unwrap_or_default()
    }

    /// The analyser that the chosen collection brings.
    pub(super) fn analyzer_of_collection(self) -> Option<Analyzer> {
        let study = self.settings.with(|it| it.study.clone())?;
        let collection = self
            .collection
            .get()
            .flatten()
            .filter(|it| it.study == study)?;
        Some(collection.stats.ok()?.analyzer.clone())
    }

    /// The settings, and what is wrong with them.
    pub(super) fn form(self) -> Fields<Settings, Field> {
        let wrong = Signal::derive(move || match self.outcome.get() {
            Outcome::Wrong(wrong) => wrong,
            Outcome::Blank
            | Outcome::Waiting
            | Outcome::Answered(_)
            | Outcome::Refused(_)
            | Outcome::Failed(_) => Vec::new(),
        });
        Fields {
            values: self.settings,
            wrong,
        }
    }

    /// How many texts there are.
    pub(super) fn n_texts(self) -> Memo<usize> {
        Memo::new(move |_| self.texts.with(Vec::len))
    }
}

/// An instance of a study, as it is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Origin(pub(super) Show);

impl Origin {
    /// From `study`, `axiom`, `mode` and `number` behind `?`.
    pub(super) fn from_words(word: impl Fn(&str) -> Option<String>) -> Option<Origin> {
        let mode = word("mode")?;
        Some(Origin(Show {
            study: word("study")?,
            probe: word("axiom")?.parse().ok()?,
            mode: Mode::ALL.iter().copied().find(|it| it.name() == mode)?,
            number: word("number")?.parse().ok()?,
            delta_score: None,
        }))
    }

    pub(super) fn page(&self) -> Page {
        Page::Instance {
            study: self.0.study.clone(),
            probe: self.0.probe,
            mode: self.0.mode,
            number: self.0.number,
        }
    }

    pub(super) async fn sheet(self) -> Result<Sheet, Error> {
        let Origin(request) = self;
        let Shown { query, texts, .. } = api::call(&request).await?;
        Ok(Sheet {
            query: query.text,
            texts: texts.into_iter().map(|it| it.body.text).collect(),
            settings: Settings {
                study: Some(request.study),
                mode: request.mode,
                ..Settings::usual()
            },
        })
    }
}

/// A neural ranker with what it said of the texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) ranker: RankerAbout,
    pub(super) reply: Reply,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// There is no query or a text is missing.
    Idle,
    Waiting,
    Scored(Arc<Scored>),
    Failed(Error),
}

impl Model {
    /// What it makes of a claim over the texts.
    pub(super) fn verdict(&self, claim: Claim<u32>) -> Option<Verdict> {
        let Reply::Scored(scored) = &self.reply else {
            return None;
        };
        let scored = claim.scored(|text| scored.scores.get(text as usize).copied())?;
        Some(scored.verdict(self.ranker.kind.tie_width()))
    }

    /// What it said, if it has.
    pub(super) fn scored(&self) -> Option<Scored> {
        match &self.reply {
            Reply::Scored(scored) => Some((**scored).clone()),
            Reply::Idle | Reply::Waiting | Reply::Failed(_) => None,
        }
    }
}

/// A text that was made of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ManipulatedText {
    pub(super) by: Manipulation,
    /// Place and words of the text as it was.
    pub(super) original: (usize, String),
    /// Place and words of what it was made.
    pub(super) made: (usize, String),
}
