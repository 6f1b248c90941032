//! Which language a text is in, and which texts do not tell.

mod latin;
mod other_scripts;

use super::*;

/// Short questions in a language, and two sentences of a text.
type TextsOfLanguage = (NaturalLanguage, [&'static str; 6], [&'static str; 2]);

#[test]
fn questions_tell_their_language() {
    for (question, expected) in [
        ("When does the library open?", Some(NaturalLanguage::English)),
        ("Who pays?", Some(NaturalLanguage::English)),
        ("How do I install it?", Some(NaturalLanguage::English)),
        ("Wie viele Urlaubstage habe ich?", Some(NaturalLanguage::German)),
        ("Was kostet der Team-Tarif?", Some(NaturalLanguage::German)),
        ("Quand ouvre le musée ?", Some(NaturalLanguage::French)),
        ("Qu'est-ce que la garantie couvre ?", Some(NaturalLanguage::French)),
        ("¿Cuándo abre el museo?", Some(NaturalLanguage::Spanish)),
        ("Quanto costa il biglietto?", Some(NaturalLanguage::Italian)),
        ("C'è un bagnino?", Some(NaturalLanguage::Italian)),
        ("Qual é o prazo de devolução?", Some(NaturalLanguage::Portuguese)),
        ("Hoeveel vakantiedagen heb ik?", Some(NaturalLanguage::Dutch)),
        ("Ile dni urlopu mam?", Some(NaturalLanguage::Polish)),
        ("Kaç gün izin hakkım var?", Some(NaturalLanguage::Turkish)),
        ("Hvad koster billetten?", Some(NaturalLanguage::Danish)),
        ("Hvornår åbner butikken?", Some(NaturalLanguage::Danish)),
        ("Hva koster billetten?", Some(NaturalLanguage::Norwegian)),
        ("Vad kostar biljetten?", Some(NaturalLanguage::Swedish)),
        ("Сколько стоит билет?", Some(NaturalLanguage::Russian)),
        ("Скільки коштує квиток і коли?", Some(NaturalLanguage::Ukrainian)),
        ("报销需要多少天？", Some(NaturalLanguage::Chinese)),
        ("図書館はいつ開きますか？", Some(NaturalLanguage::Japanese)),
        ("휴가는 며칠입니까?", Some(NaturalLanguage::Korean)),
        ("كم يوم إجازة لدي؟", Some(NaturalLanguage::Arabic)),
        ("मुझे कितने दिन की छुट्टी मिलती है?", Some(NaturalLanguage::Hindi)),
        ("Πόσες ημέρες άδεια έχω;", Some(NaturalLanguage::Greek)),
    ] {
        assert_eq!(language(question), expected, "{question}");
    }
}

#[test]
fn short_questions_tell_by_pairs_signs_and_letters() {
    for (expected, questions) in [
        (NaturalLanguage::French, &["Y a-t-il un restaurant ?", "Y a-t-il un parking ?"][..]),
        (
            NaturalLanguage::Spanish,
            &[
                "¿Tenéis tienda en Bilbao?",
                "¿Enviáis a Melilla?",
                "¿Y a Canarias?",
                "¿Eres humano?",
            ],
        ),
        (
            NaturalLanguage::Polish,
            &["Ile kosztuje bilet?", "Macie parking?", "Wysyłacie paczki?", "Gdzie jest Łódź?"],
        ),
        (
            NaturalLanguage::Portuguese,
            &["Qual o telefone da portaria?", "Qual a multa?", "A piscina abre na segunda?"],
        ),
        (NaturalLanguage::Italian, &["Quanto costa spedizione?", "Qual è prezzo?"]),
        (NaturalLanguage::Turkish, &["Ücretsiz mi?", "Kargo ücretli mi?", "Açık mısınız?"]),
        (
            NaturalLanguage::Swedish,
            &["Får man ha hund?", "Var ligger kontoret?", "Kan jag betala med kort?"],
        ),
        (NaturalLanguage::Dutch, &["Kan ik betalen met pin?", "Wat kost verzending?"]),
        (NaturalLanguage::German, &["Darf man hier rauchen?", "Kann man das umtauschen?"]),
        (
            NaturalLanguage::English,
            &["What does ¿ mean in Spanish?", "Who is Lech Wałęsa?", "Where is São Paulo?"],
        ),
    ] {
        for question in questions {
            assert_eq!(language(question), Some(expected), "{question}");
        }
    }
}

#[test]
fn what_does_not_tell_is_not_guessed() {
    for question in [
        "Hvor ligger kontoret?",
        "",
        " ",
        "ef_search",
        "HNSW recall",
        "12345?",
        "مدت گارانتی چقدر است؟",
        "सुट्टी किती दिवस आहे?",
        "😀",
    ] {
        assert_eq!(language(question), None, "{question}");
    }
}

#[test]
fn a_name_in_another_script_does_not_decide() {
    assert_eq!(language("What does 图书馆 mean in this handbook?"), Some(NaturalLanguage::English));
    assert_eq!(language("PostgreSQL 的默认端口是多少？"), Some(NaturalLanguage::Chinese));
}

#[test]
fn each_language_is_told_by_short_questions_and_by_sentences() {
    for (expected, questions, sentences) in latin::TEXTS.iter().chain(other_scripts::TEXTS) {
        for text in questions.iter().chain(sentences) {
            assert_eq!(language(text), Some(*expected), "{text}");
        }
        let decomposed: String = sentences[0].nfd().collect();
        assert_eq!(language(&decomposed), Some(*expected), "{decomposed}");
    }
}

#[test]
fn each_language_has_one_code() {
    for (language, ..) in latin::TEXTS.iter().chain(other_scripts::TEXTS) {
        let codes = LANGUAGE_CODES.iter().filter(|(_, it)| it == language).count();
        assert_eq!(codes, 1, "{language:?}");
    }
    assert!(LANGUAGE_CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn a_foreign_letter_counts_against_a_shared_word() {
    for (text, expected) in [
        ("Wo ist die Łódź-Filiale?", Some(NaturalLanguage::German)),
        ("Is there a café near the office?", Some(NaturalLanguage::English)),
        ("mit tegyek, ha megsérült", Some(NaturalLanguage::Hungarian)),
        ("mit čaj", None),
        ("de ək", None),
    ] {
        assert_eq!(language(text), expected, "{text}");
    }
    // A long text may have a foreign word.
    let long = "Der Antrag wird im Portal gestellt und von der Leitung geprüft, auch für mich, und dann als déjà ";
    assert_eq!(language(&(long.to_owned() + "vu abgelegt.")), Some(NaturalLanguage::German));
}

#[test]
fn a_word_that_a_common_language_has_too_is_of_that() {
    for (text, expected) in [
        ("Mit Milch?", Some(NaturalLanguage::German)),
        ("See below.", Some(NaturalLanguage::English)),
        ("macbook pro price", Some(NaturalLanguage::English)),
    ] {
        assert_eq!(language(text), expected, "{text}");
    }
}

#[test]
fn languages_of_a_script_are_told_apart_or_not_at_all() {
    for (text, expected) in [
        ("Склад закрыт.", Some(NaturalLanguage::Russian)),
        ("Директор", Some(NaturalLanguage::Russian)),
        ("У 2024 році Україна виграла.", Some(NaturalLanguage::Ukrainian)),
        ("Україна виграла", Some(NaturalLanguage::Ukrainian)),
        ("Дзе дырэктар? Ці ён тут, ў офісе?", None),
        ("Кітапхана қашан ашылады?", None),
    ] {
        assert_eq!(language(text), expected, "{text}");
    }
}

#[test]
fn what_is_endless_takes_no_time() {
    for endless in ["der die das ", "é", "ő ", "і ", "ล", "א "] {
        let text = endless.repeat(1_000_000);
        assert_eq!(language(&text), language(&text[..text.floor_char_boundary(100_000)]));
    }
}
