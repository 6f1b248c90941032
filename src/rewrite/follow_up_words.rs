//! The words by which a question shows that it follows another, in each language.

use crate::text::language::NaturalLanguage;

/// Words that stand for something said before.
pub(super) const POINTING: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::English,
        "he her hers him his it its one ones same she such that their theirs them then there these they this \
         those",
    ),
    (
        NaturalLanguage::German,
        "dafür damit darin dazu deren dessen dies diese diesem diesen dieser dieses dort er es ihm ihn ihr ihre \
         ihrem ihren ihrer sein seine seinem seinen seiner sie",
    ),
    (NaturalLanguage::French, "cela elle elles il ils leur leurs lui sa ses son"),
    (NaturalLanguage::Spanish, "ella ellas ellos eso esto le les su sus él"),
    (NaturalLanguage::Italian, "essa esse essi esso questo sua sue suo suoi"),
    (NaturalLanguage::Dutch, "daarmee daarvan die dit hij hun zij zijn"),
    (NaturalLanguage::Portuguese, "ela elas ele eles isso seu seus sua suas"),
    (NaturalLanguage::Polish, "go ich im jego jej on ona one oni ono tam ten ta te tego tej"),
    (
        NaturalLanguage::Russian,
        "его ее её ей ему им их он она они оно там эта эти это этого этой этот",
    ),
    (NaturalLanguage::Ukrainian, "він вона воно вони його її їй йому їм їх там це цей ця ці"),
    (NaturalLanguage::Greek, "αυτός αυτή αυτό αυτοί αυτές αυτά εκεί"),
    (NaturalLanguage::Turkish, "bu bunlar bunun buna onlar onların onu onun orada şu"),
    (
        NaturalLanguage::Hindi,
        "वह वे यह ये उस उन इस इन उसका उसकी उसके उसे उनका उनकी उनके इसका इसकी इसके इसे वहाँ",
    ),
    (NaturalLanguage::Arabic, "هو هي هم ذلك هذا هذه هناك لها فيها منها عنها به فيه منه عنه"),
    (NaturalLanguage::Korean, "그것 그것은 그것의 그건 그 거기"),
];

/// What stands for something said before, of languages without spaces.
pub(super) const UNSPACED_POINTING: [&str; 20] = [
    "它",
    "他",
    "她",
    "这个",
    "那个",
    "這個",
    "那個",
    "这些",
    "那些",
    "那里",
    "那裡",
    "それ",
    "その",
    "そこ",
    "これ",
    "この",
    "彼",
    "彼女",
    "あれ",
    "そちら",
];

/// Words that join a question to the one before it.
pub(super) const JOINING: &str = "and but or und aber oder et mais ou y pero o e ma mas en maar of peki und а и но або але και αλλά और \
    लेकिन وماذا وكم ومتى وأين وكيف وهل ولماذا ومن وفي 그럼 그리고";

/// Of languages in which they are other words in the other ones.
pub(super) const JOINING_OF: &[(NaturalLanguage, &str)] = &[
    (NaturalLanguage::Polish, "a ale i oraz"),
    (NaturalLanguage::Turkish, "ya ve"),
    (NaturalLanguage::Ukrainian, "і й та"),
];

/// How questions begin and end that are joined to the one before, of languages without spaces.
pub(super) const UNSPACED_JOINING: [&str; 8] =
    ["那", "那么", "那麼", "では", "じゃあ", "じゃ", "それでは", "でも"];
pub(super) const UNSPACED_ENDS: [&str; 4] = ["呢", "は", "はどう", "はどうですか"];

/// Words before that of which a question says no more than "And in winter?".
pub(super) const PREPOSITIONS: &str = "\
    about after at before between by during for from in on over per to under until with without \
    ab am auf bei beim bis für im in mit nach ohne unter vom von vor während zum zur zwischen \
    à au aux avant après avec chez dans en entre pendant pour sans sous sur vers \
    a al antes con de del desde después durante en entre hasta para por sin sobre \
    ai al alla alle con da dal dalla di dopo durante fino in nei nel nella per prima senza su sul sulla tra \
    ao aos às até com da das de do dos em entre na nas no nos para pela pelo por sem sobre \
    aan bij binnen buiten in met na naar op over per tijdens tot tussen van voor zonder \
    bez dla do na nad o od po pod podczas przed przez przy w we z za ze \
    без в во для до за из к на над о об от перед по под при про с у через \
    без в для до за з із на над о об перед по під при про у через \
    από για με μέχρι πριν μετά σε στη στην στις στο στον στους χωρίς \
    في على من إلى عن بعد قبل خلال مع بدون";

/// How questions begin that only name something else.
pub(super) const OPENINGS: [&str; 29] = [
    "how about",
    "que dire de",
    "qu'en est il",
    "qué hay de",
    "qué pasa con",
    "was ist bei",
    "was ist mit",
    "what about",
    "what of",
    "a co z",
    "co z",
    "e per",
    "che dire di",
    "e quanto a",
    "e sobre",
    "hoe zit het met",
    "en hoe zit het met",
    "а как насчёт",
    "а как насчет",
    "как насчёт",
    "как насчет",
    "а что с",
    "ماذا عن",
    "وماذا عن",
    "και τι γίνεται με",
    "peki ya",
    "wie ist es",
    "wie sieht es",
    "wie steht es",
];

/// Verbs that questions are made with: without one, a question of function words says nothing of its own.
pub(super) const VERBS: &str = "am is are was were do does did has have had can could may must should will would ist sind war \
    waren hat haben hatte kann können muss müssen darf soll wird werden gibt est sont était fait faut peut es son \
    está están hay è sono ha é são tem is zijn heeft kan";

/// Words by which a question says that it asks the same again.
pub(super) const REPEATING: &str = "again also apply applies else goes instead now same then too auch denn genauso gilt jetzt \
    nun sieht steht wieder aussi también anche ook também";

pub(super) const ARTICLES: &str = "the a an der die das dem den des ein eine einem einen einer le la les l un une el los las \
    una il lo gli i de het een o os as um uma";
