//! # starter: does this word begin a sentence?
//!
//! ```text
//! "The", "Het", "L'entrée" → yes;  "Boston", "L'Oréal" → not known
//! ```
//!
//! Function words are seldom anything but the beginning of a sentence where they have a capital. Those that are names or begin
//! with a name somewhere ("De", "Van", "Han", "Ali", "Per") are left out.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::fold;
use crate::text::elision::behind_article;

/// Whether `word`, which has a capital, rarely is anything but the beginning of a sentence.
pub(crate) fn is_starter(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':']);
    // The name in "L'Oréal" has a capital of its own.
    let begins_with_article =
        behind_article(word).is_some_and(|it| it.starts_with(char::is_lowercase));
    begins_with_article || STARTERS.contains(fold(word).as_str())
}

static STARTERS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| WORDS.iter().flat_map(|words| words.split_ascii_whitespace()).collect());

/// Words in lower case, by language.
const WORDS: &[&str] = &[
    // English
    "a after all also although an and as at because before both but by during each every finally for from he her his \
     how however i if in into it its many most my no not on once one only or our she since so some such that the \
     their then there these they this those though thus to under until we what when where which while who why with \
     yet you your",
    // German
    "aber alle am auch auf außerdem bei beim bitte da dabei daher damit danach dann das dem den der des deshalb dies \
     diese dieser dieses doch dort durch ein eine einer er es falls für hier ich ihr im ist jede jeder jedes jedoch \
     kein keine mit nach nicht nun nur ohne seine seit sie sind um und unsere vom von vor was wegen weil wenn wer wie \
     wir während zu zudem zum zur zwischen",
    // French
    "après au aucun aucune aux avant avec c'est ce ces cette chaque dans depuis dès elle en et il ils j'ai je la le \
     les lorsque mais nous ou pour quand se si sur tous toute toutes un une vous à",
    // Spanish, Portuguese and Catalan
    "antes ao aquí cada com con cuando depois después el ele ella em esta este esto hay hoy las lo los na não o os \
     para pero por quando sin también também todas todos uma una uno y",
    // Italian
    "alla anche dalla dopo e gli nei nel nella ogni poi prima questa questo sono tutti",
    // Romanian
    "această acest când din după pentru toate toți în și",
    // Dutch
    "alleen als bij daarna dat die dit een elke geen het hij ik is maar met naar niet om onze ook sinds tijdens toen \
     tot u uw voor vraag waar wanneer wat wij zij zonder",
    // Polish
    "albo ale czy dla dlatego do gdy jednak jeśli jeżeli każdy kiedy można należy nie od oraz po potem proszę przed \
     przy tak także teraz też w wszyscy wszystkie z za ze",
    // Czech and Slovak
    "aj ak avšak jestliže každý když keď lze nebo není pak podle pokud potom pri proto při tady také tiež v ve však \
     všechny všetky",
    // Slovenian, Croatian, Bosnian and Serbian
    "ako ili iz kada ko kod ne nije pod sve svi će",
    // Hungarian
    "az azonban ez ezek ezért ha itt kérjük minden nem után vagy és",
    // Swedish, Danish and Norwegian
    "denna derfor dersom dessutom det detta dette där efter etter fra från för hvis här ikke inte jag jeg när når och \
     också og også på sedan siden så till ved vi vid vores",
    // Finnish, Estonian, Latvian and Lithuanian
    "ar bet ir ja jei jos kaikki kui kuitenkin kun kõik mutta nyt par see siksi tämä tässä visi šis",
    // Turkish
    "ama ancak ayrıca bir bu bugün bunun burada eğer ile ise için sonra tüm şimdi şu",
    // Indonesian, Malay and Vietnamese
    "apabila các hãy ini itu jika kami khi không kita mỗi một những nếu sau semua setelah setiap trong trước untuk và \
     để",
    // Greek
    "ένα ένας αλλά αν από αυτή αυτό αυτός για δεν εάν η θα κάθε και κατά με μετά μην να ο οι πού πριν πότε πώς σε στα \
     στη στην στις στο στον στους τα τη την της τι το τον του τους των ως όλα όλες όλοι όμως όπως όταν ότι",
    // Russian
    "а без в вам вас все всего всё вы где для до его ее если еще ещё её за здесь и из или их к каждый как когда \
     который кроме кто можно мы на над нельзя но нужно об однако он она они оно от перед по под после потом поэтому \
     при с сейчас со так также там теперь тогда только тут у уже что эта эти это этот я",
    // Ukrainian and Belarusian
    "або але вона вони воно від він з зі й його кожен коли крім ми можна не однак потім проте після та також тепер \
     тоді тому треба усі це цей ця ці що як якщо і із їх її",
    // Bulgarian, Macedonian and Serbian
    "ако всички във г-н го да ние обаче освен още след със те тези това този той тя",
];
