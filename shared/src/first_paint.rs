//! Texts that a server writes into a page, so that a browser shows them before it has loaded the
//! program of the pages, which shows them again.

/// The heading of the home page.
pub const HOME_HEADING: &str = "Why does a ranker rank the way it does?";

/// The paragraph below the heading of the home page.
pub const HOME_LEAD: &str = "A retrieval axiom says which of two documents a good ranker should \
    score higher, for example the one with more occurrences of a query term. Axioscope finds \
    thousands of such pairs in a collection and shows how often each ranker agrees, down to the \
    single pair and the term that decided it.";

/// The question that the Playground answers.
pub const PLAYGROUND_QUESTION: &str = "Which axioms apply to your own query and documents, and \
    which rankers satisfy them? Results are recomputed as you type.";

/// The query with which the Playground opens.
pub const PLAYGROUND_QUERY: &str = "feed sourdough starter";

/// The documents with which the Playground opens.
pub const PLAYGROUND_DOCUMENTS: [&str; 2] = [
    "A sourdough starter is flour and water with wild yeast. The sourdough starter raises the \
     dough, and its acids give sourdough bread its taste.",
    "Feed it flour and water once a day. A starter that rests in the fridge needs food only once \
     a week, and the sourdough will rise as well as before.",
];

/// The introduction to human judgments.
pub const ANNOTATION_INTRODUCTION: &str = "An axiom predicts which of two documents a good ranker \
    should score higher. Annotators judge whether the axiom holds for real documents: given a \
    query and two documents, they choose the document that answers the query better.";

/// What a study says whose texts are not published.
pub const WITHHELD_TEXTS_NOTICE: &str = "This study was published without document texts. Drop \
    your own copy of the collection to show them; it stays in this browser.";

/// The id of the element with these texts, which the program of the pages removes.
pub const FIRST_PAINT_ID: &str = "first-paint";
