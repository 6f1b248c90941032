//! # preset: how freely may the words of this answer be chosen?
//!
//! ```text
//! "When does the gate open?" → factual; "Why is it closed?" → balanced; "Write a poem about the gate." → creative
//! ```
//!
//! An explanation has many good wordings and a fact has one; and where something is to be invented, what is expected is
//! dull. What a question asks for is read from its words. In a language that has none here, and wherever they do not
//! tell, it is taken for a fact: a wrong date costs more than a stiff sentence.

use crate::extract::answer_type::{AnswerType, asked};
use crate::extract::asks_why;
use crate::prompt::sampling::SamplingPreset;
use crate::text::comparison::is_polite;
use crate::text::language::{NaturalLanguage, language};
use crate::text::phrase::Phrases;
use crate::text::words::{Word, each_word, word_places};
use crate::tree::whole::asks_for_whole;

/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// Characters of a question that are looked at: what a prompt puts behind them, such as a document, says nothing of what
/// is asked for.
const MOST_CHARACTERS: usize = 8000;

/// Words before a request that may only make it polite.
const MOST_POLITE: usize = 5;

/// Words behind those that may only make a request polite in which it turns out to be a question: "Write me how many came."
/// Further behind, words that ask say what is written about.
const MOST_OF_REQUEST: usize = 3;

/// `preset`, or the one that suits `question` where it leaves that open.
#[must_use]
pub fn settled(preset: SamplingPreset, question: &str) -> SamplingPreset {
    match preset {
        SamplingPreset::Auto => {
            let end = question.char_indices().nth(MOST_CHARACTERS);
            suiting(&question[..end.map_or(question.len(), |(at, _)| at)])
        }
        preset => preset,
    }
}

/// The preset for what `question` asks for: something to be written or invented; a reason, a way, a comparison or a
/// summary; anything else, such as a person, a time, an amount, a yes or a no.
fn suiting(question: &str) -> SamplingPreset {
    match asks_for_whole(question) {
        false if asks_to_write(question) => SamplingPreset::Creative,
        false if !asks_why(question) && !asks_how(question) => SamplingPreset::Factual,
        _ => SamplingPreset::Balanced,
    }
}

fn asks_to_write(question: &str) -> bool {
    if begins(question, &REQUESTS) {
        let behind = polite_words(question) + MOST_OF_REQUEST;
        let end = word_places(question).nth(behind).map_or(question.len(), |(at, _)| at);
        return !has_question(&question[..end]);
    }
    let is_at_end = || {
        begins(question, &BEFORE_REQUESTS_AT_END)
            && REQUESTS_AT_END.stand_at_end_of(question)
            && !TELLING.stand_in(question)
    };
    (REQUESTS_ANYWHERE.stand_in(question) || is_at_end()) && !has_question(question)
}

/// Whether `text` has words that ask for an amount, a time, a name or a way.
fn has_question(text: &str) -> bool {
    answer_type(text) != AnswerType::Anything || HOW.stand_in(text)
}

/// What `text` asks for. The Turkish "ile" is "with", and the Polish one "how many".
fn answer_type(text: &str) -> AnswerType {
    let is_turkish = language(text) == Some(NaturalLanguage::Turkish);
    let words = each_word(text).take(MOST_WORDS);
    asked(&words.filter(|it| !is_turkish || it.folded != "ile").collect::<Vec<Word>>())
}

/// Whether it asks for a way, and not for an amount or a name, which many languages ask for by the same word. Where the
/// language is not known, such a word may be another one: "wie" is "who" in Dutch.
fn asks_how(question: &str) -> bool {
    let is_way = match language(question) {
        None => false,
        // An English comment is none.
        Some(NaturalLanguage::French) => is_french_without_comment(question),
        Some(_) => true,
    };
    let is_first = || begins(question, &HOW) || begins(question, &HOW_AT_BEGINNING);
    let asks = || match answer_type(question) {
        AnswerType::Number => false,
        AnswerType::Time | AnswerType::Name => is_first(),
        AnswerType::Anything => HOW.stand_in(question) || is_first(),
    };
    let has = |phrases: &Phrases| phrases.stand_in(question);
    let asks_for_value = || has(&VALUES) && !has(&TO_DO);
    is_way && asks() && !has(&NAMES) && !has(&DEGREES) && !asks_for_value()
}

/// Whether the words of `question` beside "comment" are French.
fn is_french_without_comment(question: &str) -> bool {
    let words = word_places(question).take(MOST_WORDS).map(|(_, word)| word);
    let others: Vec<&str> = words.filter(|it| !it.eq_ignore_ascii_case("comment")).collect();
    language(&others.join(" ")) == Some(NaturalLanguage::French)
}

/// Whether `question` begins with one of `phrases`, but for words that only make it polite.
fn begins(question: &str, phrases: &Phrases) -> bool {
    let mut places = word_places(question).take(polite_words(question) + 1);
    places.any(|(at, _)| phrases.begin(&question[at..]))
}

/// How many of its first words may only make a request polite.
fn polite_words(question: &str) -> usize {
    let first = word_places(question).take(MOST_POLITE);
    first.take_while(|(_, word)| is_polite(&word.to_lowercase())).count()
}

/// What asks for a way, wherever it stands.
const HOW: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Arabic, "كيف."),
        (NaturalLanguage::Dutch, "hoe."),
        (NaturalLanguage::English, "how."),
        (NaturalLanguage::French, "comment."),
        (NaturalLanguage::Korean, "어떻게"),
        (NaturalLanguage::Spanish, "cómo."),
        (NaturalLanguage::Turkish, "nasıl."),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "怎么, 怎麼, 怎样, 怎樣, 如何"),
        (NaturalLanguage::Japanese, "どうやって, どのように, どうすれば, どうしたら"),
    ],
};

/// What asks for a way at the beginning alone: elsewhere it also says what something is like.
const HOW_AT_BEGINNING: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::German, "wie."),
        (NaturalLanguage::Italian, "come."),
        (NaturalLanguage::Polish, "jak."),
        (NaturalLanguage::Portuguese, "como."),
        (NaturalLanguage::Russian, "как."),
        (NaturalLanguage::Spanish, "como."),
        (NaturalLanguage::Ukrainian, "як."),
    ],
    unspaced: &[],
};

/// What asks by a word for a way what something is called.
const NAMES: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Dutch, "hoe. heet"),
        (NaturalLanguage::French, "comment. s'appell, comment. s’appell"),
        (NaturalLanguage::German, "wie. heiß, wie. laute"),
        (NaturalLanguage::Italian, "come. si. chiama"),
        (NaturalLanguage::Polish, "jak. się. nazywa, jak. nazywa"),
        (NaturalLanguage::Portuguese, "como. se. chama"),
        (NaturalLanguage::Russian, "как. называ, как. зовут"),
        (NaturalLanguage::Spanish, "cómo. se. llama"),
        (NaturalLanguage::Ukrainian, "як. назива, як. звати"),
    ],
    unspaced: &[],
};

/// What asks by a word for a way how much of something there is, beside what [`asked`] takes for an amount.
const DEGREES: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::Dutch,
            "hoe. breed., hoe. diep., hoe. dik., hoe. dun., hoe. goed., hoe. klein., hoe. kort., hoe. koud., hoe. sterk., \
             hoe. veilig., hoe. vroeg., hoe. warm.",
        ),
        (
            NaturalLanguage::English,
            "how. bad., how. bright., how. cheap., how. close., how. cold., how. early., how. expensive., how. good., \
             how. hot., how. large., how. late., how. likely., how. loud., how. narrow., how. near., how. new., how. safe., \
             how. short., how. small., how. strong., how. thick., how. thin., how. warm., how. young.",
        ),
        (
            NaturalLanguage::German,
            "wie. billig., wie. dick., wie. dünn., wie. früh., wie. gut., wie. günstig., wie. hell., wie. jung., wie. kalt., \
             wie. klein., wie. kurz., wie. laut., wie. nah., wie. nahe., wie. neu., wie. schlecht., wie. schmal., \
             wie. sicher., wie. stark., wie. wahrscheinlich., wie. warm.",
        ),
        (
            NaturalLanguage::Polish,
            "jak. ciężk, jak. duż, jak. dług, jak. gruby., jak. gruba., jak. grube., jak. późno., jak. stary., jak. stara., \
             jak. stare., jak. szerok, jak. wcześnie., jak. wysok",
        ),
        (NaturalLanguage::Russian, "как. дорого., как. поздно., как. рано."),
        (NaturalLanguage::Spanish, "cómo. de."),
        (NaturalLanguage::Turkish, "nasıl. bir."),
        (NaturalLanguage::Ukrainian, "як. пізно., як. рано."),
    ],
    unspaced: &[],
};

/// What asks by a word for a way what something is: "Wie ist die Telefonnummer?"
const VALUES: Phrases = Phrases {
    spaced: &[(
        NaturalLanguage::German,
        "wie. ist. d, wie. ist. ein, wie. ist. ihr, wie. ist. eu, wie. ist. unser, wie. sind. d, wie. sind. ihr, \
         wie. sind. eu, wie. sind. unser, wie. war. d, wie. waren. d",
    )],
    unspaced: &[],
};

/// What makes a way of it again: "Wie ist die Pumpe zu reinigen?"
const TO_DO: Phrases =
    Phrases { spaced: &[(NaturalLanguage::German, "zu., geregelt., aufgebaut.")], unspaced: &[] };

/// Requests to write or invent something, at the beginning of a question. Each has a first word of what is wanted where its
/// verb alone also begins a statement or a question.
const REQUESTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Arabic, "اكتب., اكتبي., اخترع., اخترعي."),
        (
            NaturalLanguage::Dutch,
            "schrijf. een., schrijf. me., schrijf. mij., schrijf. ons., verzin., bedenk.",
        ),
        (
            NaturalLanguage::English,
            "write. a., write. an., write. me., write. us., write. some., draft. a. letter., draft. a. mail., draft. a. message., \
             draft. a. note., draft. a. notice., draft. a. post., draft. a. reply., draft. a. response., draft. a. speech., \
             draft. a. text., draft. an., draft. me., draft. us., draft. some., compose. a., compose. an., invent., \
             brainstorm., make. up. a. name., make. up. a. poem., make. up. a. story., come. up. with., think. up., \
             think. of. a., think. of. some., suggest. a. name., suggest. some. names., suggest. names.",
        ),
        (
            NaturalLanguage::French,
            "écris. un, écris. moi., écris. nous., écrivez. un, écrivez. moi., écrivez. nous., écrire. un, rédige. un, \
             rédige. moi., rédigez. un, rédigez. moi., rédiger. un, invente., inventez., inventer. un, imagine. un, \
             imaginez. un, compose. un, composez. un",
        ),
        (
            NaturalLanguage::German,
            "schreib. ein, schreib. mir., schreib. uns., schreibe. ein, schreibe. mir., schreibe. uns., \
             schreiben. sie. ein, schreiben. sie. mir., schreiben. sie. uns., verfasse. ein, verfassen. sie., erfinde. ein, \
             erfinden. sie., entwirf., entwerfen. sie., formuliere. ein, formulieren. sie., denk. dir., denke. dir.",
        ),
        (
            NaturalLanguage::Italian,
            "scrivi. un, scrivimi., scrivici., scriva. un, scrivere. un, inventa. un, inventi. un, inventare. un, \
             componi. un, redigi. un, immagina. un",
        ),
        (NaturalLanguage::Polish, "napisz., napisać., zredaguj., wymyśl., wymyślić., ułóż."),
        (
            NaturalLanguage::Portuguese,
            "escreve. um, escreve. me., escreva. um, escreva. me., escrever. um, redige. um, redija. um, redigir. um, \
             inventa. um, invente. um, inventar. um",
        ),
        (
            NaturalLanguage::Russian,
            "напиши., напишите., написать., придумай., придумайте., придумать., сочини., сочините., сочинить.",
        ),
        (
            NaturalLanguage::Spanish,
            "escribe. un, escríbeme., escríbenos., escriba. un, escríbame., escribir. un, redacta. un, redacte. un, \
             redáctame., redactar. un, inventa. un, invente. un, inventar. un, imagina. un",
        ),
        (
            NaturalLanguage::Ukrainian,
            "напиши., напишіть., написати., придумай., придумайте., придумати., вигадай., вигадайте., вигадати.",
        ),
    ],
    unspaced: &[],
};

/// Beginnings of requests whose verb stands at the end.
const BEFORE_REQUESTS_AT_END: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::Dutch,
            "kun. je. me., kun. je. mij., kun. je. ons., kun. je. een., kunt. u. me., kunt. u. mij., kunt. u. ons., \
             kunt. u. een., wil. je. me., wil. je. een., wilt. u. me., wilt. u. een.",
        ),
        (
            NaturalLanguage::German,
            "kannst. du. mir., kannst. du. uns., kannst. du. bitte., könntest. du. mir., könntest. du. uns., \
             könntest. du. bitte., können. sie. mir., können. sie. uns., können. sie. bitte., könnten. sie. mir., \
             könnten. sie. uns., könnten. sie. bitte., würdest. du. mir., würden. sie. mir.",
        ),
        (NaturalLanguage::Turkish, "bana., bize., lütfen."),
    ],
    unspaced: &[],
};

/// What such a request asks for where its last verb belongs to what is to be told: "Kannst du mir sagen, ob sie schreiben?"
const TELLING: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Dutch, "zeggen., vertellen., uitleggen., laten. zien."),
        (NaturalLanguage::German, "sagen., erklären., zeigen., verraten., erzählen."),
        (NaturalLanguage::Turkish, "söyle., söyler."),
    ],
    unspaced: &[],
};

/// Verbs for writing and inventing at the end of a request: "Kannst du mir ein Gedicht schreiben?" Alone they tell nothing:
/// the Turkish "yaz" is "summer", too.
const REQUESTS_AT_END: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Dutch, "schrijven., verzinnen., bedenken."),
        (
            NaturalLanguage::German,
            "schreiben., verfassen., erfinden., entwerfen., formulieren., ausdenken., dichten.",
        ),
        (NaturalLanguage::Turkish, "yaz., yazın., yazar mısın., yazar mısınız., uydur."),
    ],
    unspaced: &[],
};

/// Requests to write or invent something in languages in which the verb stands last, with what makes a request of it.
const REQUESTS_ANYWHERE: Phrases = Phrases {
    spaced: &[(
        NaturalLanguage::Korean,
        "써. 줘, 써. 주세요, 써줘, 써주세요, 지어. 줘, 지어. 주세요, 지어줘, 지어주세요, 작성해. 줘, 작성해. 주세요, \
         작성해줘, 작성해주세요",
    )],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "写一首, 写一篇, 写一封, 写一个, 写一段, 帮我写, 编一个, 寫一首, 寫一篇, 寫一封, 寫一個, 寫一段, 幫我寫, 編一個",
        ),
        (
            NaturalLanguage::Japanese,
            "を書いてください, を書いて下さい, を書いてくれ, を書いてほしい, を考案して, 案を出して",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: SamplingPreset, questions: &[&str]) {
        for question in questions {
            assert_eq!(settled(SamplingPreset::Auto, question), expected, "{question}");
        }
    }

    #[test]
    fn a_fact_has_one_wording() {
        check(
            SamplingPreset::Factual,
            &[
                "",
                "opening hours",
                "When does the library open?",
                "Who pays?",
                "How many days of leave do I have?",
                "How much is the difference between A and B?",
                "Does the gate close at ten?",
                "Can I write a letter to the council?",
                "What is the capital?",
                "Who wrote the poem?",
                "Wie heißt der Direktor?",
                "Wie lange gilt die Garantie?",
                "Gibt es Geräte wie die Pumpe?",
                "Wer hat das Gedicht geschrieben?",
                "Сколько стоит билет?",
                "多少钱？",
                "Kannst du mir sagen, wie viele Berichte Azubis schreiben?",
                "Kannst du mir sagen, ob Azubis Berichte schreiben?",
                "Schreib mir, wie viele Berichte es gibt.",
                "Können Azubis die Prüfung am Laptop schreiben?",
                "Kan ik zelf een klacht schrijven?",
                "Can you make up a missed exam?",
                "Draft A: when is it due?",
                "Müze hangi mevsimde açık, kış mı yaz?",
                "Wie betaalt?",
                "Comment deadline?",
                "Wie ist die Telefonnummer?",
                "How thick is the pipe?",
                "How late is it open?",
                "Wie dick ist das Rohr?",
            ],
        );
    }

    #[test]
    fn an_explanation_has_several() {
        check(
            SamplingPreset::Balanced,
            &[
                "How do I reset a password?",
                "How do I write a file?",
                "How is the date changed?",
                "Can you tell me how the pump works?",
                "Why was the gate closed when it rained?",
                "What is the difference between A and B?",
                "Summarise the employee handbook.",
                "Write a summary of the handbook.",
                "Wie ändere ich das Passwort?",
                "Pourquoi faut-il remplir la pompe ?",
                "¿Cómo se cambia la contraseña?",
                "Come si monta il kit?",
                "Hoe wijzig ik het wachtwoord?",
                "Jak zmienić hasło?",
                "Как изменить пароль?",
                "Şifremi nasıl değiştiririm?",
                "كيف أغير كلمة المرور؟",
                "怎么修改密码？",
                "为什么水泵要加水？",
                "パスワードはどうやって変更しますか？",
                "비밀번호를 어떻게 바꾸나요?",
                "如何写一封投诉信？",
                "怎么写一个触发器？",
                "Kredi kartı ile nasıl ödeme yaparım?",
                "Comment est-ce que je change le mot de passe ?",
                "Wie ist die Pumpe zu reinigen?",
                "Write me how to reset the password.",
            ],
        );
    }

    #[test]
    fn what_is_to_be_invented_has_none_yet() {
        check(
            SamplingPreset::Creative,
            &[
                "Write a poem about the old mill.",
                "Please write me a slogan for the mill.",
                "Could you draft a reply to this customer?",
                "Come up with three names for the mill.",
                "Write a poem about a year in the mill.",
                "Make up a story about a miller who sings.",
                "Schreib mir ein Gedicht über die Mühle.",
                "Kannst du mir ein Gedicht über die Mühle schreiben?",
                "Écris un poème sur le moulin.",
                "Escribe un poema sobre el molino.",
                "Scrivimi una poesia su questo mulino.",
                "Escreva um poema sobre o moinho.",
                "Schrijf een gedicht over de molen.",
                "Kun je een gedicht over de molen schrijven?",
                "Napisz wiersz o młynie.",
                "Напиши стихотворение о мельнице.",
                "Bana değirmen hakkında bir şiir yaz.",
                "اكتب قصيدة عن الطاحونة.",
                "写一首关于磨坊的诗。",
                "水車についての詩を書いてください。",
                "물레방아에 대한 시를 써 주세요.",
            ],
        );
    }

    #[test]
    fn the_beginning_of_a_long_prompt_tells() {
        let document = "word ".repeat(MOST_CHARACTERS);
        check(SamplingPreset::Factual, &[&format!("{document}为什么")]);
        check(SamplingPreset::Balanced, &[&format!("Why is the gate closed? {document}")]);
        check(SamplingPreset::Creative, &[&format!("Write a poem about the mill. {document}")]);
    }

    #[test]
    fn what_is_said_is_not_changed() {
        for preset in [SamplingPreset::Factual, SamplingPreset::Balanced, SamplingPreset::Creative]
        {
            assert_eq!(settled(preset, "Why is the gate closed?"), preset);
        }
    }
}
