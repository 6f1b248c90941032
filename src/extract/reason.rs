//! # reason: does the sentence beside the best one say why?
//!
//! ```text
//! "Why must the pump be filled?" and "The pump must be filled. This is because the seal burns." → both sentences
//! ```
//!
//! A rule has all the words of such a question, and the reason for it, in the sentence beside it, often none. It is told by
//! first words that refer to the other sentence: behind the rule, as what is the reason for that ("This is because"), or before
//! it, where the rule begins as what follows from that ("Therefore"). Words that also open a sentence of its own don't count
//! ("because", "otherwise", "as a result"): they would add what has nothing to do with the question.

use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::word_list::list_has;
use crate::text::words::{Word, each_word, word_places};

/// Words of a question among which a phrase that asks why has to begin: further on it asks for no more than a part of it.
const MOST_WORDS_BEFORE: usize = 3;

/// Whether `question`, whose first word that asks is `first_asking`, asks for a reason.
pub(super) fn asks_why(question: &str, first_asking: Option<&Word>) -> bool {
    let is_word = first_asking.is_some_and(|it| list_has(ASKING_WHY, &it.folded));
    let mut beginnings = word_places(question).take(MOST_WORDS_BEFORE);
    let is_asked = (is_word || beginnings.any(|(at, _)| WHY_PHRASES.begin(&question[at..])))
        && !OTHER_QUESTIONS.stand_in(question);
    is_asked || WHY_BEGINNINGS.begin(question) || asks_why_unspaced(question)
}

/// Whether `question` asks why in Chinese, Japanese or Korean.
fn asks_why_unspaced(question: &str) -> bool {
    let is_said = |(word, others): &(&str, &[&str])| {
        let mut ends = question.match_indices(word).map(|(at, _)| &question[at + word.len()..]);
        ends.any(|behind| !others.iter().any(|it| behind.starts_with(it)))
    };
    let end = without_marks(question);
    WHY_UNSPACED.iter().any(is_said)
        || ENDS_ASKING_WHY.iter().any(|it| end.ends_with(it))
        || each_word(question).any(|it| it.folded == "왜")
}

/// Whether `sentence` says the reason for what stands before it.
pub(super) fn gives_reason(sentence: &str) -> bool {
    REASONS.begin(sentence) || ends_as_reason(sentence)
}

/// Whether `text` says why what it says is so, or why something before it is.
pub(super) fn holds_reason(text: &str) -> bool {
    let told = NO_CAUSES.iter().fold(text.to_owned(), |told, it| told.replace(it, " "));
    CAUSES.stand_in(&told) || gives_reason(text)
}

/// Whether `sentence` says what follows from the one before it.
pub(super) fn follows_from_reason(sentence: &str) -> bool {
    CONSEQUENCES.begin(sentence)
}

/// Whether `sentence`, of Japanese or Korean, where the verb comes last, ends as the reason for what stands before it.
fn ends_as_reason(sentence: &str) -> bool {
    let (sentence, end) = (sentence.trim_start(), without_marks(sentence));
    let ends = |endings: &[&str]| endings.iter().any(|it| end.ends_with(it));
    let begins = |beginnings: &[&str]| beginnings.iter().any(|it| sentence.starts_with(it));
    // "からです" says why behind a verb or an adjective, and elsewhere from where or from when; behind "のは", it says why that
    // is so, and not what stands before.
    let is_cause = ["からです", "からである"].iter().any(|ending| {
        end.strip_suffix(ending)
            .is_some_and(|it| ENDS_OF_PREDICATES.iter().any(|of| it.ends_with(of)))
    });
    let refers = begins(&["これは", "なぜなら"]);
    is_cause && (refers || !end.contains("のは"))
        || refers && ends(&["ためです", "ためである", "ので"])
        || ends(&["理由です", "理由である"]) && !begins(&["これが", "それが"])
        || begins(&["이는 "]) && ends(&["때문입니다", "때문이다", "때문이에요", "때문이죠"])
}

/// `text` without what stands behind its last letter or digit.
fn without_marks(text: &str) -> &str {
    text.trim_end_matches(|it: char| !it.is_alphanumeric())
}

/// With what verbs and adjectives of Japanese end before "から"; with "い" or "く", nouns do, too.
const ENDS_OF_PREDICATES: [&str; 9] = ["る", "た", "だ", "ない", "す", "つ", "む", "ぶ", "ぐ"];

/// Words that ask why, of languages that write spaces.
const ASKING_WHY: &str = "why warum weshalb wieso pourquoi perché porquê waarom dlaczego neden niçin почему зачем чому γιατί \
    क्यों لماذا";

/// What else asks why, where it begins among the first words.
const WHY_PHRASES: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "how. come., for. what. reason., for. which. reason., what. is. the. reason. for., \
             what. is. the. reason. why., what. is. the. reason. that., what. the. reason. for., what. the. reason. why., \
             what. the. reason. that., what. are. the. reasons. for., what. are. the. reasons. why.",
        ),
        (
            NaturalLanguage::German,
            "aus. welchem. grund., aus. welchen. gründen., was. ist. der. grund., woran. liegt., woran. kann. es. liegen., \
             wie. kommt. es.",
        ),
        (
            NaturalLanguage::French,
            "pour. quelle. raison., pour. quelles. raisons., quelle. est. la. raison., à. quoi. est. dû., comment. se. fait.",
        ),
        (
            NaturalLanguage::Spanish,
            "por. qué., a. qué. se. debe., cuál. es. la. razón., cuál. es. el. motivo.",
        ),
        (
            NaturalLanguage::Italian,
            "come. mai., per. quale. motivo., per. quale. ragione., qual. è. il. motivo., qual. è. la. ragione.",
        ),
        (
            NaturalLanguage::Portuguese,
            "por. quê., por. qual. motivo., por. qual. razão., a. que. se. deve., qual. é. o. motivo., qual. é. a. razão.",
        ),
        (NaturalLanguage::Dutch, "hoezo., om. welke. reden., wat. is. de. reden., hoe. komt. het."),
        (NaturalLanguage::Polish, "z. jakiego. powodu., jaki. jest. powód."),
        (
            NaturalLanguage::Russian,
            "отчего., по. какой. причине., в. чём. причина., в. чем. причина., какова. причина., из. за. чего.",
        ),
        (
            NaturalLanguage::Ukrainian,
            "чому., з. якої. причини., у. чому. причина., в. чому. причина.",
        ),
        (
            NaturalLanguage::Turkish,
            "niye., hangi. nedenle., ne. sebeple., nedeni. ne., nedeni. nedir., sebebi. ne., sebebi. nedir.",
        ),
        (NaturalLanguage::Greek, "για. ποιο. λόγο., για. ποιον. λόγο., ποιος. είναι. ο. λόγος."),
        (NaturalLanguage::Hindi, "किस. कारण., किस. वजह."),
        (NaturalLanguage::Arabic, "ما. سبب., ما. السبب., ما. هو. سبب., ما. هو. السبب., لأي. سبب."),
    ],
    unspaced: &[],
};

/// What asks why at the beginning alone: elsewhere it is "because" or "by which".
const WHY_BEGINNINGS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Spanish, "por. que."),
        (NaturalLanguage::Italian, "perche., perchè."),
        (NaturalLanguage::Portuguese, "por. que., porque."),
    ],
    unspaced: &[],
};

/// What has a word that asks why and asks for something else: "what equals".
const OTHER_QUESTIONS: Phrases =
    Phrases { spaced: &[(NaturalLanguage::Ukrainian, "чому. дорівню")], unspaced: &[] };

/// What asks why in languages that write no spaces, wherever it stands, each with what makes another word of it behind it:
/// "どうしても" is "by all means", and "なんですか" is "what is it".
const WHY_UNSPACED: [(&str, &[&str]); 9] = [
    ("为什么", &[]),
    ("為什麼", &[]),
    ("为何", &[]),
    ("為何", &[]),
    ("为啥", &[]),
    ("なぜ", &[]),
    ("何故", &[]),
    ("どうして", &["も", "います", "いる"]),
    ("なんで", &["も", "す", "しょ"]),
];

/// What asks why at the end of a question, where the verb comes last.
const ENDS_ASKING_WHY: [&str; 22] = [
    "原因是什么",
    "原因是什麼",
    "原因何在",
    "理由是什么",
    "理由是什麼",
    "理由は",
    "理由は何",
    "理由は何ですか",
    "理由は何でしょうか",
    "理由はなんですか",
    "理由を教えてください",
    "原因は",
    "原因は何ですか",
    "原因は何でしょうか",
    "이유는",
    "이유는 무엇인가요",
    "이유는 무엇입니까",
    "이유가 무엇인가요",
    "이유가 무엇입니까",
    "이유는 뭔가요",
    "이유가 뭔가요",
    "이유가 뭐예요",
];

/// With what sentences begin that say the reason for what stands before them.
const REASONS: Phrases = Phrases {
    spaced: &[
        // "That's because" is "that because" without the possessive.
        (
            NaturalLanguage::English,
            "this. is. because., that. is. because., it. is. because., that. because., it. because., the. reason. is., \
             the. reason. for. this. is., the. reason. for. that. is., the. reason. being.",
        ),
        (
            NaturalLanguage::German,
            "das. liegt. daran., dies. liegt. daran., der. grund. dafür., grund. dafür. ist., das. kommt. daher.",
        ),
        (
            NaturalLanguage::French,
            "c'est. parce. qu, c’est. parce. qu, la. raison. en. est., cela. est. dû., cela. tient. à., cela. tient. au",
        ),
        (
            NaturalLanguage::Spanish,
            "esto. se. debe. a., esto. se. debe. al., eso. se. debe. a., eso. se. debe. al., la. razón. es., el. motivo. es., \
             es. porque.",
        ),
        (
            NaturalLanguage::Italian,
            "ciò. è. dovuto., questo. perché., il. motivo. è., la. ragione. è.",
        ),
        (
            NaturalLanguage::Portuguese,
            "isso. se. deve. a., isso. se. deve. ao, isso. se. deve. à, isso. deve. se. a., isso. deve. se. ao, \
             isso. deve. se. à, isto. se. deve. a., isto. se. deve. ao, isto. se. deve. à, isto. deve. se. a., \
             isto. deve. se. ao, isto. deve. se. à, o. motivo. é., a. razão. é.",
        ),
        (
            NaturalLanguage::Dutch,
            "dit. komt. doordat., dat. komt. doordat., de. reden. is., de. reden. hiervoor.",
        ),
        (
            NaturalLanguage::Polish,
            "dzieje. się. tak. ponieważ., powodem. jest., wynika. to. z., wynika. to. ze.",
        ),
        (
            NaturalLanguage::Russian,
            "это. связано. с., это. связано. со., это. потому., причина. в. том., это. объясняется., дело. в. том.",
        ),
        (
            NaturalLanguage::Ukrainian,
            "це. пов'язано. з, це. пов’язано. з, причина. в. тому., причина. у. тому.",
        ),
        (NaturalLanguage::Turkish, "bunun. nedeni., bunun. sebebi."),
        (NaturalLanguage::Greek, "αυτό. συμβαίνει. επειδή., ο. λόγος. είναι."),
        (NaturalLanguage::Hindi, "इसका. कारण."),
        (
            NaturalLanguage::Arabic,
            "والسبب., السبب., وذلك. لأن., وذلك. لأنه., وذلك. لأنها., ذلك. لأن., ذلك. لأنه., ذلك. لأنها., ويرجع. ذلك., يرجع. ذلك.",
        ),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "这是因为, 這是因為, 原因在于, 原因在於, 其原因"),
        (NaturalLanguage::Korean, "그 이유는"),
    ],
};

/// By what a sentence says within it why something is so.
const CAUSES: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "because., due. to., owing. to., caused. by."),
        (
            NaturalLanguage::German,
            "weil., aufgrund., wegen., da. sonst., denn. sonst., kommt. daher.",
        ),
        (NaturalLanguage::French, FRENCH_CAR),
        (
            NaturalLanguage::French,
            "parce. qu, puisqu, en. raison. de., en. raison. du., en. raison. des., en. raison. d', en. raison. d’, à. cause. de., \
             à. cause. du., à. cause. des., sinon.",
        ),
        (
            NaturalLanguage::Spanish,
            "porque., ya. que., puesto. que., dado. que., debido. a., debido. al., a. causa. de., a. causa. del., se. debe. a., \
             se. debe. al.",
        ),
        (
            NaturalLanguage::Italian,
            "perché., poiché., dato. che., visto. che., in. quanto., a. causa. di., a. causa. del., a. causa. della., altrimenti.",
        ),
        (
            NaturalLanguage::Portuguese,
            "porque., pois., já. que., uma. vez. que., visto. que., devido. a., devido. ao., devido. à., por. causa. de., \
             por. causa. do., por. causa. da.",
        ),
        (NaturalLanguage::Dutch, "omdat., doordat., want., vanwege., wegens., aangezien."),
        (
            NaturalLanguage::Polish,
            "ponieważ., bo., gdyż., dlatego. że., z. powodu., wskutek., spowodowan",
        ),
        (
            NaturalLanguage::Russian,
            "потому. что., так. как., поскольку., из. за., ведь., ибо., вследствие., ввиду., по. причине., в. связи. с. тем.",
        ),
        (
            NaturalLanguage::Ukrainian,
            "тому. що., бо., оскільки., адже., через. те. що., внаслідок.",
        ),
        (
            NaturalLanguage::Turkish,
            "çünkü., zira., nedeniyle., sebebiyle., yüzünden., dolayı., ötürü.",
        ),
        (NaturalLanguage::Greek, "επειδή., διότι., γιατί., λόγω., εξαιτίας."),
        (NaturalLanguage::Hindi, "क्योंकि., के. कारण., की. वजह., चूँकि., चूंकि."),
        (
            NaturalLanguage::Arabic,
            "لأن., لأنه., لأنها., لأنهم., لأنهما., لأنك., لأننا., بسبب., نظرا., لكونه., لكونها., وإلا.",
        ),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "因为, 因為, 由于, 由於, 否则, 否則"),
        (NaturalLanguage::Japanese, "ので、, せいで, なぜなら, ためです, ためである"),
        (NaturalLanguage::Korean, "때문, 므로, 덕분"),
    ],
};

/// What has the words of a cause and is none: what is due to be done, and "the way that".
const NO_CAUSES: [&str; 2] = ["due to be ", "так, как "];

/// With what sentences begin that say what follows from the one before them.
const CONSEQUENCES: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "therefore., hence., that. is. why., this. is. why., that. why., for. this. reason., for. that. reason.",
        ),
        (NaturalLanguage::German, "deshalb., daher., darum., deswegen., aus. diesem. grund."),
        (
            NaturalLanguage::French,
            "c'est. pourquoi., c’est. pourquoi., pour. cette. raison., voilà. pourquoi.",
        ),
        (NaturalLanguage::Spanish, "por. eso., por. ello., por. esta. razón., por. este. motivo."),
        (
            NaturalLanguage::Italian,
            "perciò., per. questo. motivo., per. questa. ragione., ecco. perché.",
        ),
        (NaturalLanguage::Portuguese, "por. isso., por. esta. razão., por. este. motivo."),
        (NaturalLanguage::Dutch, "daarom., om. die. reden."),
        (NaturalLanguage::Polish, "dlatego., z. tego. powodu."),
        (NaturalLanguage::Russian, "поэтому., по. этой. причине."),
        (NaturalLanguage::Ukrainian, "з. цієї. причини."),
        (NaturalLanguage::Turkish, "bu. nedenle., bu. yüzden., bu. sebeple."),
        (NaturalLanguage::Greek, "γι. αυτό., για. αυτόν. τον. λόγο."),
        (NaturalLanguage::Hindi, "इसलिए., इस. कारण."),
        (NaturalLanguage::Arabic, "لذلك., ولذلك., لهذا. السبب."),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "因此, 所以"),
        // Without the comma, "for that purpose" begins like this, too.
        (NaturalLanguage::Japanese, "そのため、, このため、, したがって"),
        (NaturalLanguage::Korean, "그래서, 따라서, 이 때문에"),
    ],
};

/// "Because" before a word that begins a clause: alone, it is also a coach.
const FRENCH_CAR: &str = "\
    car. il., car. ils., car. elle., car. elles., car. le., car. la., car. les., car. l', car. l’, car. un., car. une., \
    car. ce., car. cet., car. cette., car. ces., car. cela., car. c'est., car. c’est., car. on., car. vous., car. si., \
    car. des., car. tout., car. toute., car. son., car. sa., car. ses., car. leur., car. leurs.";
