//! Head nouns by question class. The lists are our own, after the fine classes of Li and Roth.

use super::QuestionClass;

/// Returns whether a word is in a list of words separated by spaces.
pub(super) fn word_list_contains(list: &str, word: &str) -> bool {
    list.split(' ').any(|it| it == word)
}

/// Returns the class of a noun in singular or plural, if it is in a list.
pub(super) fn question_class_of_noun(noun: &str) -> Option<QuestionClass> {
    let noun = noun.strip_suffix("'s").unwrap_or(noun);
    let lists = [
        (NUMERIC, QuestionClass::Numeric),
        (LOCATION, QuestionClass::Location),
        (HUMAN, QuestionClass::Human),
        (DESCRIPTION, QuestionClass::Description),
        (ENTITY, QuestionClass::Entity),
    ];
    let of = |noun: &str| {
        lists
            .iter()
            .find(|it| word_list_contains(it.0, noun))
            .map(|it| it.1)
    };
    of(noun).or_else(|| of(&singular(noun)))
}

/// Returns a noun without its plural ending.
fn singular(noun: &str) -> String {
    if let Some(stem) = noun.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["ches", "shes", "xes", "sses"] {
        if noun.ends_with(ending) {
            return noun[..noun.len() - 2].to_owned();
        }
    }
    let plural = noun.ends_with('s') && !noun.ends_with("ss") && !noun.ends_with("us");
    match plural {
        true => noun[..noun.len() - 1].to_owned(),
        false => noun.to_owned(),
    }
}

/// Returns whether a word is a superlative: `largest`, `most`.
pub(super) fn is_superlative(word: &str) -> bool {
    let others = "arrest forest guest harvest honest interest modest protest request";
    word_list_contains("best worst most least", word)
        || word.len() > 5 && word.ends_with("est") && !word_list_contains(others, word)
}

const NUMERIC: &str = "\
    age altitude amount anniversary area birthdate birthday budget calorie capacity century \
    charge circumference code cost count date day deadline decade degree density depth \
    diameter distance dosage dose duration elevation expectancy fare fee frequency gdp height \
    hour income latitude length lifespan limit longitude mass maximum measurement median \
    minimum minute month number odds pay percent percentage ph population pressure price \
    probability proportion quantity radius range rate ratio root salary score size span speed \
    sum tax temperature time toll value velocity voltage volume wage wavelength week weight \
    width worth year zip";

const LOCATION: &str = "\
    address airport bay beach birthplace canal canyon capital city coast continent country \
    county desert destination district headquarters hemisphere hill island lake location \
    mountain nation neighborhood ocean park peak peninsula place planet port province region \
    river sea state strait street suburb territory town township valley village volcano \
    waterfall";

const HUMAN: &str = "\
    actor actress agency architect army artist astronaut astronomer athlete author band bishop \
    brother captain ceo chairman champion chancellor character chemist club coach comedian \
    company composer conqueror corporation creator dancer daughter designer detective dictator \
    director discoverer doctor dynasty emperor empress engineer explorer family father firm \
    founder general god goddess governor hero host husband inventor judge king lawyer leader \
    man manufacturer mathematician mayor men minister mother musician narrator novelist \
    organisation organization owner painter party people person pharaoh philosopher physicist \
    pilot player poet politician pope president prince princess producer prophet publisher \
    queen ruler saint scientist sculptor secretary senator singer sister soldier son star team \
    trainer tribe tsar villain wife winner woman women writer";

const DESCRIPTION: &str = "\
    advantage aim background benefit cause characteristic con concept consequence definition \
    description difference difficulty disadvantage duty effect experience explanation feature \
    function goal history idea impact importance influence meaning method motive objective \
    origin plot principle pro procedure process purpose quality reason relation relationship \
    requirement responsibility result role rule significance similarity stage step story \
    strategy structure symptom theme theory tip use way";

const ENTITY: &str = "\
    album animal antonym award bacteria battle beer beverage bird bone book brand breed car \
    cheese chemical color colour compound computer crop currency dance disease dish dog drink \
    drug element equation event fabric film fish flower food formula fruit fuel game gas gem \
    gland grain herb holiday hormone illness ingredient insect instrument invention item job \
    language letter liquid machine magazine mammal material medication medicine metal mineral \
    molecule movie muscle name newspaper novel nut object occupation oil opera organ painting \
    phrase plant play poem predator prize product program protein religion reptile rock sauce \
    series ship show sign snake software song species spice sport stone style subject \
    substance substitute symbol synonym term title tool tree vegetable vehicle virus vitamin \
    weapon website wine wood word";
