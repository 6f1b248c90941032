//! # definition: does the question ask what a thing is, and does a heading name that thing?
//!
//! ```text
//! "What does the encode directive do?" → encode, a directive;  "encode (Caddyfile directive)" names it
//! ```
//!
//! A manual names a thing in a heading and says below it what the thing is, mostly without its name ("Configures
//! compression."). A sentence elsewhere that repeats the words of the question would look better. Questions are
//! recognised by what they begin and end with, in the languages of the table; a heading has to name the thing and nothing
//! else, but for a word for its kind.
//!
//! Below such a heading stand other things, too: "Before …", "Some questions …", "The city …". A sentence without the name
//! counts if its first word may be a verb or stands for the thing, and what a reader says of it decides.

use unicode_segmentation::UnicodeSegmentation;

use super::markup::plain;
use crate::text::function_word::{is_function_character, is_function_word_of};
use crate::text::language::language;
use crate::text::word_list::list_has;

/// A thing whose definition is asked for, or that a heading names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definiendum {
    /// Its name, word by word, in lower case.
    name: Vec<String>,
    /// Which rows of [`KINDS`] say of what kind it is.
    kinds: Vec<usize>,
}

impl Definiendum {
    /// The thing whose definition `question` asks for; `None` where it asks for anything else.
    pub fn asked(question: &str) -> Option<Definiendum> {
        let words = name_words(question);
        let within = FRAMES.iter().filter_map(|(before, after)| within(&words, before, after));
        within.min_by_key(|thing| thing.len()).map(Definiendum::read)
    }

    /// Whether `heading` names this thing, as it is or in the question for it, and nothing else.
    pub fn is_named_by(&self, heading: &str) -> bool {
        let named = Definiendum::asked(heading).or_else(|| {
            let words = name_words(heading.split("{#").next()?);
            let is_number = |word: &&String| word.chars().all(|c| c.is_numeric() || c == '.');
            let numbers = words.iter().take_while(is_number).count();
            let name = if numbers < words.len() { &words[numbers..] } else { &words[..] };
            (!name.is_empty()).then(|| Definiendum::read(name))
        });
        named.is_some_and(|named| self.is(&named))
    }

    /// Whether `sentence` has its name.
    pub fn is_named_in(&self, sentence: &str) -> bool {
        self.stands_in(&lower_words(&plain(sentence), MOST_WORDS_OF_PIECE))
    }

    fn stands_in(&self, words: &[String]) -> bool {
        let is_name =
            |it: &[String]| it.iter().zip(&self.name).all(|(word, name)| is_number_of(word, name));
        !self.name.is_empty() && words.windows(self.name.len()).any(is_name)
    }

    /// How the first sentence below a heading that names this thing speaks of it; `None` where that is of something else.
    pub fn said_by(&self, sentence: &str) -> Option<DefinitionWording> {
        let words = name_words(sentence);
        let is_named = self.stands_in(&words);
        let language = language(sentence);
        let is_function = |word: &str| {
            let is_character = word.chars().all(is_function_character);
            is_function_word_of(word, language) || is_character || list_has(CONTEXT, word)
        };
        let is_determiner =
            |word: &&String| list_has(ARTICLES, word) || list_has(DEMONSTRATIVES, word);
        let determiners = words.iter().take_while(is_determiner).count();
        let first = words.get(determiners)?;
        let is_subject = list_has(SUBJECTS, &words[0]) || list_has(SUBJECTS, first);
        let is_kind = begins_with_kind(&words[determiners..]);
        let is_context = !is_subject && (is_function(first) || is_apart(sentence));
        match is_named {
            true if is_context => Some(DefinitionWording::Nameless),
            true => Some(DefinitionWording::Named),
            false => (is_subject || is_kind || determiners == 0 && !is_context)
                .then_some(DefinitionWording::Nameless),
        }
    }

    /// `words` without articles and words for kinds, of which one at least stays.
    fn read(mut words: &[String]) -> Definiendum {
        let mut kinds = Vec::new();
        loop {
            if let [article, rest @ ..] = words
                && !rest.is_empty()
                && list_has(ARTICLES, article)
            {
                words = rest;
            } else if let Some((kind, rest)) = without_kind(words) {
                kinds.push(kind);
                words = rest;
            } else {
                break;
            }
        }
        kinds.sort_unstable();
        Definiendum { name: words.to_vec(), kinds }
    }

    fn is(&self, other: &Definiendum) -> bool {
        let is_same = |(one, other): (&String, &String)| is_number_of(one, other);
        let may_be = self.kinds.is_empty() || other.kinds.is_empty() || self.kinds == other.kinds;
        may_be
            && self.name.len() == other.name.len()
            && self.name.iter().zip(&other.name).all(is_same)
    }
}

/// How a sentence that may define something speaks of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefinitionWording {
    /// By its name.
    Named,
    /// Without it, or after what only leads to it: "Makes responses smaller.", "Before a log is written, …".
    Nameless,
}

/// The words of a name or a question in lower case, an elided article apart, without what stands in parentheses.
fn name_words(text: &str) -> Vec<String> {
    let (mut outside, mut depth) = (String::new(), 0_usize);
    for sign in plain(text).chars() {
        match sign {
            '(' | '（' => depth += 1,
            ')' | '）' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(sign),
            _ => {}
        }
    }
    lower_words(&outside, MOST_WORDS)
}

/// At most `most` words of `text` in lower case, an elided article apart.
fn lower_words(text: &str, most: usize) -> Vec<String> {
    let apart = text.replace(['\'', '’'], " ").to_lowercase();
    apart.unicode_words().take(most).map(str::to_owned).collect()
}

/// What stands in `words` between the phrases `before` and `after`; `None` where they are not around anything.
fn within<'a>(words: &'a [String], before: &str, after: &str) -> Option<&'a [String]> {
    let rest = without_prefix(words, before)?;
    without_suffix(rest, after).filter(|thing| !thing.is_empty())
}

fn without_prefix<'a>(words: &'a [String], phrase: &str) -> Option<&'a [String]> {
    phrase.split_ascii_whitespace().try_fold(words, |words, expected| {
        let (first, rest) = words.split_first()?;
        (first == expected).then_some(rest)
    })
}

fn without_suffix<'a>(words: &'a [String], phrase: &str) -> Option<&'a [String]> {
    phrase.split_ascii_whitespace().rev().try_fold(words, |words, expected| {
        let (last, rest) = words.split_last()?;
        (last == expected).then_some(rest)
    })
}

/// The kind that `words` end or begin with, and the words without it.
fn without_kind(words: &[String]) -> Option<(usize, &[String])> {
    let kinds = KINDS
        .iter()
        .enumerate()
        .flat_map(|(kind, names)| names.iter().map(move |name| (kind, *name)));
    let without = |(kind, name): (usize, &str)| {
        let rest = without_suffix(words, name).or_else(|| without_prefix(words, name))?;
        (!rest.is_empty()).then_some((kind, rest))
    };
    kinds.filter_map(without).min_by_key(|(_, rest)| rest.len())
}

/// Whether `words` begin with a word for a kind.
fn begins_with_kind(words: &[String]) -> bool {
    KINDS.iter().flat_map(|names| names.iter()).any(|name| without_prefix(words, name).is_some())
}

/// Whether a comma follows the first word: an adverb, or the first of several.
fn is_apart(sentence: &str) -> bool {
    let text = plain(sentence);
    let first = text.unicode_word_indices().next();
    first.is_some_and(|(at, word)| text[at + word.len()..].starts_with([',', '，', '、']))
}

/// Whether two words are one, or the singular and the plural of one.
fn is_number_of(one: &str, other: &str) -> bool {
    let (shorter, longer) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let ending = longer.strip_prefix(shorter);
    ending.is_some_and(|ending| {
        let is_long = shorter.chars().count() >= SHORTEST_INFLECTED;
        ending.is_empty() || is_long && list_has(PLURALS, ending)
    })
}

/// Words of a question or a heading that are looked at; names are shorter.
const MOST_WORDS: usize = 24;

/// Words of a piece among which a name is looked for.
const MOST_WORDS_OF_PIECE: usize = 300;

/// Letters of the shortest word whose plural is known.
const SHORTEST_INFLECTED: usize = 4;

/// Endings of plurals.
const PLURALS: &str = "s es e n en";

const ARTICLES: &str = "\
    the a an der die das den dem ein eine einen einem le la les l un une des d el los las una unos unas \
    il lo gli i o os as um uma de het een";

/// What points at a thing and stands before a word for its kind.
const DEMONSTRATIVES: &str = "\
    this these that dieser diese dieses jener ce cet cette ces este esta estos estas questo questa esta estes deze dit \
    этот эта эти эту ten ta te bu هذا هذه यह この 该 此 这 本";

/// Words that stand for the thing named above, and function words with which a sentence about it begins that has no subject.
const SUBJECTS: &str = "\
    it they is are can used es er sie ist sind wird dient kann c il elle ils elles se sert est permet sirve esto es son \
    è sono serve é são het ze wordt dient jest są służy वह هو هي это он она оно они является 它 是 可 能 为 由";

/// Words with which a sentence begins that leads to something else; function words do, too.
#[rustfmt::skip]
const CONTEXT: &str = "\
    some sometimes many most often usually normally typically generally before after once because since although though \
    while when whenever if unless unlike without with suppose imagine consider remember note see every each no not all \
    manche manchmal viele meistens oft gewöhnlich normalerweise bevor nachdem weil obwohl während wenn sobald falls ohne mit \
    siehe beachten jede jeder jedes alle kein keine \
    certains certaines parfois souvent beaucoup avant après quand lorsque si comme puisque malgré sans avec chaque tous voir \
    algunos algunas veces muchos muchas antes después cuando si aunque mientras sin con cada todos véase \
    alcuni alcune talvolta spesso prima dopo quando anche mentre senza con ogni tutti vedi \
    alguns algumas muitas muitos depois quando embora enquanto sem com cada todos veja \
    sommige soms vaak voordat nadat als omdat hoewel terwijl zonder met elke alle zie \
    некоторые иногда часто обычно прежде перед после когда если хотя пока без с каждый все см \
    当 如 若 有 每 请 除 虽 因 先 前 后 通";

/// What stands before and behind the thing; of Chinese, characters.
#[rustfmt::skip]
const FRAMES: &[(&str, &str)] = &[
    ("what is", ""), ("what are", ""), ("what s", ""), ("what does", "do"), ("what do", "do"), ("what does", "mean"),
    ("what is", "for"), ("what are", "for"), ("what s", "for"), ("what is", "good for"), ("what is", "used for"),
    ("what are", "used for"), ("what is the purpose of", ""), ("what is the meaning of", ""), ("what is meant by", ""),
    ("define", ""),
    ("was ist", ""), ("was sind", ""), ("was macht", ""), ("was machen", ""), ("was tut", ""), ("was bewirkt", ""),
    ("was bedeutet", ""), ("was heißt", ""), ("wozu dient", ""), ("wozu dienen", ""), ("wozu ist", "da"),
    ("wozu ist", "gut"), ("wozu gibt es", ""), ("wofür ist", ""), ("wofür ist", "da"), ("wofür ist", "gut"),
    ("wofür steht", ""), ("was versteht man unter", ""),
    ("qu est ce que", ""), ("qu est ce qu", ""), ("c est quoi", ""), ("que fait", ""), ("que font", ""),
    ("que signifie", ""), ("à quoi sert", ""), ("à quoi servent", ""),
    ("qué es", ""), ("qué son", ""), ("qué hace", ""), ("qué hacen", ""), ("qué significa", ""), ("para qué sirve", ""),
    ("para qué sirven", ""), ("para qué es", ""),
    ("che cos è", ""), ("cos è", ""), ("cosa è", ""), ("cosa fa", ""), ("che cosa fa", ""), ("a cosa serve", ""),
    ("o que é", ""), ("o que são", ""), ("o que faz", ""), ("o que significa", ""), ("para que serve", ""),
    ("wat is", ""), ("wat zijn", ""), ("wat doet", ""), ("wat betekent", ""), ("waarvoor dient", ""),
    ("что такое", ""), ("что делает", ""), ("что делают", ""), ("что значит", ""), ("что означает", ""),
    ("зачем нужен", ""), ("зачем нужна", ""), ("зачем нужно", ""), ("зачем нужны", ""), ("для чего нужен", ""),
    ("для чего нужна", ""), ("для чего нужно", ""), ("для чего нужны", ""), ("для чего служит", ""),
    ("welche sind", ""), ("quels sont", ""), ("quelles sont", ""), ("cuáles son", ""), ("quali sono", ""), ("quais são", ""),
    ("welke zijn", ""), ("co to jest", ""), ("czym jest", ""), ("czym są", ""), ("jakie są", ""), ("do czego służy", ""),
    ("do czego służą", ""), ("co oznacza", ""), ("co robi", ""), ("", "nedir"), ("", "nelerdir"), ("", "ne demek"),
    ("", "ne işe yarar"), ("", "ne anlama gelir"), ("τι είναι", ""), ("τι κάνει", ""), ("τι σημαίνει", ""), ("ما هو", ""), ("ما هي", ""),
    ("ماذا يعني", ""), ("ماذا تعني", ""), ("", "क्या है"), ("", "क्या हैं"), ("", "क्या होता है"), ("", "का मतलब क्या है"),
    ("", "と は 何 で す か"), ("", "と は"), ("", "は 何 で す か"), ("", "と は 何 を す る も の で す か"),
    ("什 么 是", ""), ("", "是 什 么"), ("", "是 什 么 意 思"), ("", "是 做 什 么 的"), ("", "是 干 什 么 的"),
    ("", "做 什 么"), ("", "有 什 么 用"), ("", "有 什 么 作 用"), ("", "的 作 用 是 什 么"), ("", "的 用 途 是 什 么"),
];

/// Words for kinds of things, in each language.
#[rustfmt::skip]
const KINDS: &[&[&str]] = &[
    &["directive", "directives", "direktive", "directiva", "direttiva", "директива", "指 令"],
    &["command", "commands", "befehl", "kommando", "commande", "comando", "команда", "命 令"],
    &["option", "options", "opción", "opção", "опция", "选 项"],
    &["setting", "settings", "einstellung", "réglage", "ajuste", "настройка", "设 置"],
    &["parameter", "parameters", "paramètre", "parámetro", "параметр", "参 数"],
    &["function", "functions", "funktion", "fonction", "función", "функция", "函 数"],
    &["method", "methode", "méthode", "método", "метод", "方 法"],
    &["class", "klasse", "classe", "clase", "класс"],
    &["module", "modul", "módulo", "модуль", "模 块"],
    &["keyword", "schlüsselwort", "mot clé", "palabra clave", "ключевое слово", "关 键 字"],
    &["flag", "switch", "schalter", "флаг"],
    &["field", "feld", "champ", "campo", "поле", "字 段"],
    &["property", "eigenschaft", "propriété", "propiedad", "свойство"],
    &["attribute", "attribut", "atributo", "атрибут", "属 性"],
    &["operator", "opérateur", "operador", "оператор", "运 算 符"],
    &["statement", "anweisung", "instruction", "sentencia", "инструкция", "语 句"],
    &["clause", "klausel", "cláusula"],
    &["type", "typ", "tipo", "тип", "类 型"],
    &["view", "sicht", "vue", "vista", "представление", "视 图"],
    &["table", "tabelle", "tabla", "таблица"],
    &["file", "datei", "fichier", "archivo", "файл", "文 件"],
    &["program", "programm", "programme", "programa", "программа", "程 序"],
    &["tool", "werkzeug", "outil", "herramienta", "инструмент", "工 具"],
    &["extension", "erweiterung", "extensión", "расширение", "扩 展"],
    &["variable", "переменная", "变 量"],
    &["strategy", "strategie", "stratégie", "estrategia", "стратегия", "策 略"],
    &["mode", "modus", "modo", "режим", "模 式"],
];

#[cfg(test)]
mod tests {
    use super::*;

    fn names(question: &str, heading: &str) -> bool {
        Definiendum::asked(question).is_some_and(|thing| thing.is_named_by(heading))
    }

    #[test]
    fn definitions_are_asked_for_in_many_languages() {
        for question in [
            "What does the encode directive do?",
            "What is encode?",
            "what's encode for",
            "What is the purpose of the `encode` directive?",
            "Define encode.",
            "Was macht die encode-Direktive?",
            "Wozu dient die Direktive encode?",
            "Wofür ist encode gut?",
            "À quoi sert la directive encode ?",
            "Qu’est-ce qu'encode ?",
            "¿Para qué sirve la directiva encode?",
            "¿Qué hace encode?",
            "Что делает директива encode?",
            "Для чего нужна директива encode?",
            "encode 指令有什么用？",
            "什么是encode？",
            "encode 是什么？",
            "A cosa serve encode?",
            "Para que serve encode?",
            "Wat doet encode?",
        ] {
            for heading in ["encode", "`encode`", "encode (Caddyfile directive)", "2.1 Encode {#e}"]
            {
                assert!(names(question, heading), "{question} {heading}");
            }
            assert!(!names(question, "Encode and decode"), "{question}");
            assert!(!names(question, ""), "{question}");
        }
    }

    #[test]
    fn a_heading_names_the_thing_and_nothing_else() {
        assert!(names("What is a pipeline?", "Pipelines"));
        assert!(names("What is a pipeline?", "What is a pipeline?"));
        assert!(names("Qu'est-ce que l'index ?", "L’index"));
        assert!(names("Was sind Berechtigungen?", "Die Berechtigung"));
        assert!(names("Was macht die Direktive encode?", "The encode directive"));
        assert!(names("数据管道是什么？", "数据管道"));
        assert!(names("What does rag_add_model() do?", "rag_add_model(name text, path text)"));
        assert!(names("What is a table?", "Table"));
        assert!(!names("What does the encode option do?", "The encode directive"));
        assert!(!names("What is a log?", "Logs of the server"));
        assert!(!names("What is encoding?", "encode"));
    }

    #[test]
    fn a_sentence_that_leads_to_something_else_defines_nothing() {
        let said_by =
            |sentence: &str| Definiendum::asked("What is late chunking?")?.said_by(sentence);
        for sentence in [
            "Late chunking embeds a document as a whole.",
            "A document is embedded as a whole, which is called late chunking.",
            "`Late chunking` is off by default.",
        ] {
            assert_eq!(said_by(sentence), Some(DefinitionWording::Named), "{sentence}");
        }
        for sentence in [
            "Embeds a document as a whole.",
            "It embeds a document as a whole.",
            "This method embeds a document as a whole.",
            "Die Methode bettet ein Dokument als Ganzes ein.",
            "Bettet ein Dokument als Ganzes ein.",
            "Es bettet ein Dokument als Ganzes ein.",
            "Sert à calculer les vecteurs.",
            "Se usa para calcular los vectores.",
            "Вычисляет векторы документа.",
            "Это способ вычислить векторы.",
            "用于计算向量。",
            "Without late chunking, a pronoun means nothing.",
        ] {
            assert_eq!(said_by(sentence), Some(DefinitionWording::Nameless), "{sentence}");
        }
        for sentence in [
            "",
            "…",
            "A chunk does not say which city.",
            "This page says how.",
            "Some questions are for no passage.",
            "Sometimes a pronoun means nothing.",
            "Before a document is cut, it is embedded.",
            "When a document is long, it is cut.",
            "Normally, a document is cut first.",
            "Der Text wird zerlegt.",
            "Wenn ein Text lang ist, wird er zerlegt.",
            "Manchmal fehlt ein Wort.",
            "Quand le texte est long, il est coupé.",
            "Cuando el texto es largo, se corta.",
            "Если текст длинный, он делится.",
            "当文档很长时，它会被切分。",
        ] {
            assert_eq!(said_by(sentence), None, "{sentence}");
        }
    }

    #[test]
    fn other_questions_ask_for_no_definition() {
        for question in [
            "How does encode work?",
            "Where is encode?",
            "What is",
            "",
            "Wann war das?",
            "什么",
            "What is?",
        ] {
            assert_eq!(Definiendum::asked(question), None, "{question}");
        }
        assert!(Definiendum::asked("what is the").is_some());
    }
}
