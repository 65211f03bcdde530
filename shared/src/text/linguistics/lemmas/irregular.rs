//! Irregular forms of English, as listed in grammars. A form of two words belongs to the more
//! frequent word.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Returns the infinitive of an irregular verb form.
pub(super) fn infinitive_of_irregular_verb(form: &str) -> Option<&'static str> {
    VERBS.get(form).copied()
}

/// Returns the singular of an irregular plural, or the noun itself if it has only one form.
pub(super) fn singular_of_irregular_noun(form: &str) -> Option<&'static str> {
    NOUNS.get(form).copied()
}

/// Returns the positive of an irregular adjective, or the adjective itself if it only looks like a
/// comparative.
pub(super) fn positive_of_irregular_adjective(form: &str) -> Option<&'static str> {
    positive(form, "good", "bad")
}

/// Returns the positive of an irregular adverb, or the adverb itself if it only looks like a
/// comparative.
pub(super) fn positive_of_irregular_adverb(form: &str) -> Option<&'static str> {
    positive(form, "well", "badly")
}

/// Returns the positive of a comparative or superlative; `good` and `bad` are those of `better` and
/// `worse`.
fn positive(form: &str, good: &'static str, bad: &'static str) -> Option<&'static str> {
    match form {
        "better" | "best" => Some(good),
        "worse" | "worst" => Some(bad),
        "further" | "farther" | "furthest" | "farthest" => Some("far"),
        _ => kept(form),
    }
}

fn kept(form: &str) -> Option<&'static str> {
    const KEPT: &[&str] = &[
        "former", "inner", "latter", "other", "outer", "over", "upper",
    ];
    KEPT.iter().find(|it| **it == form).copied()
}

type Table = BTreeMap<&'static str, &'static str>;

static VERBS: LazyLock<Table> = LazyLock::new(|| read(VERB_LINES));
static NOUNS: LazyLock<Table> = LazyLock::new(|| read(NOUN_LINES));

/// Reads a table; each line has a base form and its irregular forms.
fn read(lines: &'static str) -> Table {
    let mut table = Table::new();
    for line in lines.lines() {
        let mut forms = line.split_whitespace();
        let Some(base) = forms.next() else { continue };
        for form in forms {
            table.entry(form).or_insert(base);
        }
    }
    table
}

const VERB_LINES: &str = "
be am is are was were been being 're 'm 's
have has had having 've
do does did done doing
will 'll wo
would 'd
can ca
shall sha
arise arose arisen
awake awoke awoken
bear bore borne
beat beaten
become became
begin began begun beginning
bend bent
bet bet
bind bound
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought bring
build built
burn burnt
buy bought
cast cast
catch caught
choose chose chosen
cling clung cling
come came
cost cost
creep crept
cut cut
deal dealt
die died dying dies
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dwell dwelt
eat ate eaten
fall fell fallen
feed fed feed
feel felt
fight fought
find found
flee fled
fling flung
fly flew flown flies
forbid forbade forbidden
forget forgot forgotten forgetting
forgive forgave forgiven
freeze froze frozen
get got gotten getting
give gave given
go went gone goes going
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left leaves
lend lent
lie lied lying lies lain
light lit
live lived lives living
lose lost
make made
mean meant
meet met
mistake mistook mistaken
overcome overcame
pay paid
prove proven
quit quitting
ride rode ridden
ring rang rung ring
rise rose risen
run ran running
say said says
see saw seen sees seeing
seek sought
sell sold
send sent
set setting
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung sing
sink sank sunk
sit sat
sleep slept
slide slid
smell smelt
sow sown
speak spoke spoken
speed sped speed
spell spelt
spend spent
spin spun
spoil spoilt
spring sprang sprung spring
stand stood
steal stole stolen
stick stuck
sting stung sting
stink stank stunk
strike struck stricken
string strung string
strive strove striven
swear swore sworn
sweep swept
swell swollen
swim swam swum
swing swung swing
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
tie tied tying ties
undergo underwent undergone undergoes
understand understood
undertake undertook undertaken
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
withdraw withdrew withdrawn
write wrote written
agree agreed agrees agreeing
disagree disagreed disagreeing
free freed freeing
guarantee guaranteed guaranteeing
decree decreed
age aged aging ageing
add added adds adding
use used uses using
lower lowered lowering
program programmed programming
travel travelled travelling
label labelled labelling
model modelled modelling
cancel cancelled cancelling
focus focused focuses focusing focussed focussing
need needed
exceed exceeded exceeding
succeed succeeded succeeding
proceed proceeded proceeding
embed embedded embedding
";

const NOUN_LINES: &str = "
alga algae
analysis analyses
antenna antennae
axis axes
bacterium bacteria
basis bases
cactus cacti
calf calves
child children
crisis crises
criterion criteria
die dice
diagnosis diagnoses
elf elves
emphasis emphases
foot feet
fungus fungi
genus genera
goose geese
half halves
hoof hooves
hypothesis hypotheses
index indices
knife knives
larva larvae
leaf leaves
life lives
loaf loaves
louse lice
man men
matrix matrices
medium media
mouse mice
nebula nebulae
nucleus nuclei
oasis oases
ovum ova
ox oxen
parenthesis parentheses
phenomenon phenomena
quiz quizzes
radius radii
scarf scarves
self selves
sheaf sheaves
shelf shelves
spectrum spectra
stimulus stimuli
stratum strata
synthesis syntheses
thesis theses
thief thieves
tooth teeth
vertebra vertebrae
vertex vertices
wharf wharves
wife wives
wolf wolves
woman women
aircraft aircraft
always always
athletics athletics
bus buses
clothes clothes
data data
economics economics
electronics electronics
gas gases
glasses glasses
headquarters headquarters
lens lenses
mathematics mathematics
means means
news news
people people
physics physics
politics politics
scissors scissors
series series
species species
statistics statistics
thanks thanks
trousers trousers
virus viruses
";
