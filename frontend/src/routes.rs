//! The route table: the address of every page. Addresses are parsed and written only here.

use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use shared::annotation::task::StudyInstanceRef;
use shared::api::annotation::TaskId;
use shared::probe::{AxiomVariant, Probe};

/// A page with the values in its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PageRoute {
    /// The list of studies.
    Studies,
    /// The results of one study.
    Study {
        /// Name of the study.
        study: String,
    },
    /// The figures of a study, as in the papers.
    Figures {
        /// Name of the study.
        study: String,
    },
    /// The late-interaction analysis of a study's rankers.
    LateInteraction {
        /// Name of the study.
        study: String,
    },
    /// The comparison of two rankers of a study.
    CompareRankers {
        /// Name of the study.
        study: String,
    },
    /// The behavioral tests of a study, a section of the Study page.
    BehavioralTests {
        /// Name of the study.
        study: String,
    },
    /// The human judgments of a study, a section of the Study page.
    HumanJudgments {
        /// Name of the study.
        study: String,
    },
    /// The instances of a probe for one ranker.
    Instances {
        /// Name of the study.
        study: String,
        /// The column of the heat map.
        probe: Probe,
        /// The row of the heat map, counted from 0.
        ranker: usize,
    },
    /// The page of one instance.
    Instance {
        /// Name of the study.
        study: String,
        /// The column of the heat map.
        probe: Probe,
        /// The variant of the axiom.
        mode: AxiomVariant,
        /// The number of the instance within its probe and variant.
        number: u64,
    },
    /// The comparison of published tables with ours.
    Reproductions,
    /// The page that tests axioms on texts typed by the user.
    Playground,
    /// The page that makes a study from the user's files.
    Workbench,
    /// The annotation tasks of the user.
    ReviewTasks,
    /// The page on which a task is annotated.
    AnnotateTask {
        /// The id of the task.
        task: TaskId,
    },
    /// The progress and results of a task, for curators.
    CurateTask {
        /// The id of the task.
        task: TaskId,
    },
    /// The form for a new task.
    NewTask,
    /// A few instances of a study, to try annotating.
    Trial {
        /// Name of the study.
        study: String,
    },
    /// The page that invitation links lead to, and on which people sign in.
    Join,
    /// The list of people and invitations.
    People,
    /// The models and jobs of the server.
    Operator,
    /// The documentation of axioms, statistics, API and citation.
    About,
}

/// The pattern of an address, and the page that its values stand for.
type Route = (&'static str, fn(&PathValues) -> Option<PageRoute>);

/// The route of every page.
const ROUTES: &[Route] = &[
    ("/", |_| Some(PageRoute::Studies)),
    ("/study/:study", |it| {
        it.study(|study| PageRoute::Study { study })
    }),
    ("/study/:study/figures", |it| {
        it.study(|study| PageRoute::Figures { study })
    }),
    ("/study/:study/inside", |it| {
        it.study(|study| PageRoute::LateInteraction { study })
    }),
    ("/study/:study/differ", |it| {
        it.study(|study| PageRoute::CompareRankers { study })
    }),
    ("/study/:study/behaviours", |it| {
        it.study(|study| PageRoute::BehavioralTests { study })
    }),
    ("/study/:study/said", |it| {
        it.study(|study| PageRoute::HumanJudgments { study })
    }),
    ("/study/:study/:axiom/:ranker", |it| {
        Some(PageRoute::Instances {
            study: it.text("study")?,
            probe: it.parsed("axiom")?,
            ranker: it.parsed("ranker")?,
        })
    }),
    ("/study/:study/:axiom/:mode/instance/:number", |it| {
        let mode = it.text("mode")?;
        Some(PageRoute::Instance {
            study: it.text("study")?,
            probe: it.parsed("axiom")?,
            mode: AxiomVariant::ALL
                .iter()
                .copied()
                .find(|it| it.name() == mode)?,
            number: it.parsed("number")?,
        })
    }),
    ("/replay", |_| Some(PageRoute::Reproductions)),
    ("/playground", |_| Some(PageRoute::Playground)),
    ("/workbench", |_| Some(PageRoute::Workbench)),
    ("/review", |_| Some(PageRoute::ReviewTasks)),
    ("/review/new", |_| Some(PageRoute::NewTask)),
    ("/review/:task", |it| {
        it.task(|task| PageRoute::AnnotateTask { task })
    }),
    ("/review/:task/curate", |it| {
        it.task(|task| PageRoute::CurateTask { task })
    }),
    ("/review/try/:study", |it| {
        it.study(|study| PageRoute::Trial { study })
    }),
    ("/join", |_| Some(PageRoute::Join)),
    ("/people", |_| Some(PageRoute::People)),
    ("/operator", |_| Some(PageRoute::Operator)),
    ("/about", |_| Some(PageRoute::About)),
];

/// The values in an address by their names in the pattern, unescaped.
struct PathValues(Vec<(&'static str, String)>);

impl PathValues {
    fn text(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|it| it.0 == name);
        found.map(|it| it.1.clone())
    }

    fn study(&self, page: fn(String) -> PageRoute) -> Option<PageRoute> {
        Some(page(self.text("study")?))
    }

    fn task(&self, page: fn(TaskId) -> PageRoute) -> Option<PageRoute> {
        Some(page(TaskId(self.parsed("task")?)))
    }

    fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// Matches a path against a pattern; none if it does not match.
    fn match_path(pattern: &'static str, path: &str) -> Option<PathValues> {
        let mut values = Vec::new();
        let (mut names, mut parts) = (pattern.split('/'), path.split('/'));
        loop {
            match (names.next(), parts.next()) {
                (None, None) => return Some(PathValues(values)),
                (Some(name), Some(part)) => match name.strip_prefix(':') {
                    Some(name) if !part.is_empty() => values.push((name, unescape(part))),
                    None if name == part => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
    }
}

impl PageRoute {
    /// Returns the page of an instance of a study.
    pub(crate) fn for_instance(study: String, place: StudyInstanceRef) -> PageRoute {
        PageRoute::Instance {
            study,
            probe: place.probe,
            mode: place.variant,
            number: place.index,
        }
    }

    /// Returns the page at a path, with or without a trailing slash.
    pub(crate) fn parse(path: &str) -> Option<PageRoute> {
        let path = match path {
            "/" => path,
            _ => path.strip_suffix('/').unwrap_or(path),
        };
        let mut routes = ROUTES.iter();
        routes.find_map(|(pattern, page)| page(&PathValues::match_path(pattern, path)?))
    }

    /// Returns the path of the page.
    pub(crate) fn href(&self) -> String {
        let values = self.values();
        let route = ROUTES
            .iter()
            .find(|it| it.1(&values).as_ref() == Some(self));
        let (pattern, _) = route.expect("every page has a route");
        let parts = pattern.split('/').map(|part| match part.strip_prefix(':') {
            Some(name) => escape(&values.text(name).unwrap_or_default()),
            None => part.to_owned(),
        });
        parts.collect::<Vec<String>>().join("/")
    }

    fn values(&self) -> PathValues {
        PathValues(match self {
            PageRoute::Studies
            | PageRoute::Reproductions
            | PageRoute::Playground
            | PageRoute::Workbench
            | PageRoute::ReviewTasks
            | PageRoute::NewTask
            | PageRoute::Join
            | PageRoute::People
            | PageRoute::Operator
            | PageRoute::About => Vec::new(),
            PageRoute::Study { study }
            | PageRoute::Figures { study }
            | PageRoute::LateInteraction { study }
            | PageRoute::CompareRankers { study }
            | PageRoute::BehavioralTests { study }
            | PageRoute::HumanJudgments { study }
            | PageRoute::Trial { study } => vec![("study", study.clone())],
            PageRoute::Instances {
                study,
                probe,
                ranker,
            } => vec![
                ("study", study.clone()),
                ("axiom", probe.slug().into_owned()),
                ("ranker", ranker.to_string()),
            ],
            PageRoute::Instance {
                study,
                probe,
                mode,
                number,
            } => vec![
                ("study", study.clone()),
                ("axiom", probe.slug().into_owned()),
                ("mode", mode.name().to_owned()),
                ("number", number.to_string()),
            ],
            PageRoute::AnnotateTask { task } | PageRoute::CurateTask { task } => {
                vec![("task", task.0.to_string())]
            }
        })
    }

    /// The pages in the header, with their names.
    pub(crate) const NAVIGATION: [(PageRoute, &str); 6] = [
        (PageRoute::Studies, "Studies"),
        (PageRoute::Playground, "Playground"),
        (PageRoute::Workbench, "Workbench"),
        (PageRoute::ReviewTasks, "Review"),
        (PageRoute::Reproductions, "Reproductions"),
        (PageRoute::About, "About"),
    ];

    /// Returns whether a path is that of this page or of one below it.
    pub(crate) fn contains(&self, path: &str) -> bool {
        match self {
            PageRoute::Studies => path == "/" || path.starts_with("/study/"),
            PageRoute::ReviewTasks => {
                let first = path.split('/').nth(1).unwrap_or_default();
                ["review", "join", "people"].contains(&first) && PageRoute::parse(path).is_some()
            }
            other => PageRoute::parse(path).as_ref() == Some(other),
        }
    }
}

/// Everything except the unreserved characters of RFC 3986.
const ESCAPED_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Percent-encodes a part of an address.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED_CHARACTERS).to_string()
}

fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::probe::Axiom;

    fn study() -> String {
        "demo".to_owned()
    }

    #[test]
    fn every_page_is_found_where_it_says_it_is() {
        let (probe, task) = (Probe::Axiom(Axiom::Tfc1), TaskId(7));
        let behaviour: Probe = "match:length:relevance".parse().unwrap();
        let pages = [
            (PageRoute::Studies, "/"),
            (PageRoute::Study { study: study() }, "/study/demo"),
            (PageRoute::Figures { study: study() }, "/study/demo/figures"),
            (
                PageRoute::LateInteraction { study: study() },
                "/study/demo/inside",
            ),
            (
                PageRoute::CompareRankers { study: study() },
                "/study/demo/differ",
            ),
            (
                PageRoute::BehavioralTests { study: study() },
                "/study/demo/behaviours",
            ),
            (
                PageRoute::HumanJudgments { study: study() },
                "/study/demo/said",
            ),
            (
                PageRoute::Instances {
                    study: study(),
                    probe,
                    ranker: 2,
                },
                "/study/demo/tfc1/2",
            ),
            (
                PageRoute::Instance {
                    study: study(),
                    probe: behaviour,
                    mode: AxiomVariant::PaperCamara2020,
                    number: 0,
                },
                "/study/demo/match%3Alength%3Arelevance/paper/instance/0",
            ),
            (PageRoute::Reproductions, "/replay"),
            (PageRoute::Playground, "/playground"),
            (PageRoute::Workbench, "/workbench"),
            (PageRoute::ReviewTasks, "/review"),
            (PageRoute::AnnotateTask { task }, "/review/7"),
            (PageRoute::CurateTask { task }, "/review/7/curate"),
            (PageRoute::NewTask, "/review/new"),
            (PageRoute::Trial { study: study() }, "/review/try/demo"),
            (PageRoute::Join, "/join"),
            (PageRoute::People, "/people"),
            (PageRoute::Operator, "/operator"),
            (PageRoute::About, "/about"),
        ];
        assert_eq!(pages.len(), ROUTES.len());
        for (page, path) in pages {
            assert_eq!(page.href(), path);
            assert_eq!(PageRoute::parse(path), Some(page.clone()));
            let slash = format!("{}/", path.trim_end_matches('/'));
            assert_eq!(PageRoute::parse(&slash), Some(page));
        }
        for none in [
            "",
            "/review/x",
            "/review/7/curate/8",
            "/join/7",
            "/study",
            "/study/demo/nothing/0",
            "/study/demo/tfc1/fixed/instance/x",
            "/study/demo/tfc1/loose/instance/0",
        ] {
            assert_eq!(PageRoute::parse(none), None, "{none}");
        }
    }

    #[test]
    fn a_page_below_another_belongs_to_it() {
        assert!(PageRoute::ReviewTasks.contains("/review/7"));
        assert!(PageRoute::ReviewTasks.contains("/people"));
        assert!(!PageRoute::ReviewTasks.contains("/replay"));
        let page = PageRoute::Instances {
            study: study(),
            probe: Probe::Axiom(Axiom::Tfc1),
            ranker: 2,
        };
        assert!(PageRoute::Studies.contains(&page.href()));
        assert!(!PageRoute::About.contains(&page.href()));
    }

    #[test]
    fn reserved_characters_are_escaped() {
        assert_eq!(unescape("match%3Alength"), "match:length");
        assert_eq!(unescape("100%"), "100%");
        assert_eq!(escape("c++ ~_.-"), "c%2B%2B%20~_.-");
    }
}
