//! Sentences that say why, beside the one that has the words of the question.

use super::reader::{Knowing, found};
use super::*;
use crate::extract::reason::{follows_from_reason, gives_reason, holds_reason};

/// What is quoted of `content`, `most` sentences at most, where no other one is near the best by its score.
fn quoted(question: &str, content: &str, most: usize) -> String {
    let options = ExtractOptions {
        max_sentences: most,
        threshold: 0.0,
        margin: -1.0,
        close_margin: -1.0,
        ..Default::default()
    };
    answer(question, &[content], &options).answer
}

const WHY: &str = "Why must the pump be filled with water?";
const RULE: &str = "The pump must be filled with water.";

/// Asserts that of `content` all is quoted, and of one sentence alone `rule`.
fn check_both(question: &str, content: &str, rule: &str) {
    assert_eq!(quoted(question, content, 1), format!("{rule} [1]"));
    assert_eq!(quoted(question, content, 2), format!("{content} [1]"));
}

/// Questions for a reason with the sentence that has their words and the one behind it.
const REASONS_BEHIND: &[(&str, &str, &str)] = &[
    (WHY, RULE, "This is because a dry seal burns."),
    (WHY, RULE, "The reason is a seal that burns."),
    (WHY, RULE, "The reason for this is a seal that burns."),
    (
        "What is the reason for the filling of the pump?",
        "The filling of the pump is needed.",
        "That's because a dry seal burns.",
    ),
    (
        "Warum muss die Pumpe mit Wasser gefüllt werden?",
        "Die Pumpe muss mit Wasser gefüllt werden.",
        "Das liegt daran, dass die Dichtung verbrennt.",
    ),
    (
        "Pourquoi la pompe doit-elle être remplie ?",
        "La pompe doit être remplie.",
        "C'est parce que le joint brûle.",
    ),
    (
        "¿Por qué se llena la bomba de agua?",
        "La bomba se llena de agua.",
        "Esto se debe a que la junta se quema.",
    ),
    (
        "Perché la pompa va riempita di olio?",
        "La pompa va riempita di olio.",
        "Questo perché la guarnizione si brucia.",
    ),
    (
        "Por que a bomba deve ser enchida com água?",
        "A bomba deve ser enchida com água.",
        "Isto deve-se à vedação da bomba.",
    ),
    (
        "Waarom moet de pomp met water worden gevuld?",
        "De pomp moet met water worden gevuld.",
        "Dit komt doordat de afdichting verbrandt.",
    ),
    (
        "Dlaczego pompę trzeba napełnić wodą?",
        "Pompę trzeba napełnić wodą.",
        "Dzieje się tak, ponieważ uszczelka się spala.",
    ),
    (
        "Почему насос нужно заполнить водой?",
        "Насос нужно заполнить водой.",
        "Это связано с тем, что уплотнение сгорит.",
    ),
    (
        "Чому насос треба заповнити водою?",
        "Насос треба заповнити водою.",
        "Це пов’язано з тим, що ущільнення згорить.",
    ),
    (
        "Pompa neden suyla doldurulur?",
        "Pompa suyla doldurulur.",
        "Bunun nedeni, contanın yanmasıdır.",
    ),
    (
        "Γιατί η αντλία γεμίζει με νερό;",
        "Η αντλία γεμίζει με νερό.",
        "Αυτό συμβαίνει επειδή καίγεται η φλάντζα.",
    ),
    ("पंप में पानी क्यों भरा जाता है?", "पंप में पानी भरा जाता है।", "इसका कारण सील है।"),
    ("لماذا يجب ملء المضخة بالماء؟", "يجب ملء المضخة بالماء.", "وذلك لأن الماء يبرد الحشية."),
    (
        "Why is the pump due to be replaced in May?",
        "The pump is due to be replaced in May.",
        "This is because the seal burns.",
    ),
    ("펌프에 물을 왜 채웁니까?", "펌프에 물을 채웁니다.", "이는 씰이 타기 때문입니다."),
];

#[test]
fn the_reason_behind_the_best_sentence_is_quoted_with_it() {
    for (question, rule, reason) in REASONS_BEHIND {
        check_both(question, &format!("{rule} {reason}"), rule);
    }
    for (question, rule, reason) in [
        ("为什么水泵必须加水？", "水泵必须加水。", "这是因为密封圈会烧坏。"),
        (
            "ログのファイルを消して作り直すのを避けるのはなぜですか。",
            "ログを空にするために、ファイルを消して作り直すのは避けてください。",
            "別の処理が古い方を使い続けるのがこの理由です。",
        ),
        (
            "ポンプに水を入れる理由は何ですか。",
            "ポンプに水を入れてください。",
            "シールが焼けるからです。",
        ),
    ] {
        check_both(question, &format!("{rule}{reason}"), rule);
    }
}

#[test]
fn what_the_best_sentence_follows_from_is_quoted_with_it() {
    for (question, reason, rule) in [
        (WHY, "A dry seal burns.", "For this reason the pump must be filled with water."),
        (
            "Warum muss die Pumpe mit Wasser gefüllt werden?",
            "Die Dichtung verbrennt leicht.",
            "Aus diesem Grund muss die Pumpe mit Wasser gefüllt werden.",
        ),
        (
            "Pourquoi la pompe doit-elle être remplie ?",
            "Le joint brûle vite.",
            "C'est pourquoi la pompe doit être remplie.",
        ),
        (
            "¿Por qué se llena la bomba de agua?",
            "La junta se quema.",
            "Por eso se llena la bomba de agua.",
        ),
    ] {
        check_both(question, &format!("{reason} {rule}"), rule);
    }
}

#[test]
fn a_reason_is_quoted_that_a_reader_takes_for_no_answer() {
    let content = format!("{RULE} This is because a dry seal burns.");
    let mut model = Knowing::sure_of("filled");
    let found = extract(WHY, &found(&[&content]), &mut model, &Default::default()).unwrap();
    assert_eq!(found.answer, format!("{content} [1]"));
    assert_eq!(found.evidence[0].score, found.evidence[1].score);
}

#[test]
fn the_reason_is_chosen_before_sentences_that_are_near_by_their_score() {
    let content = format!("The pump must be painted. {RULE} This is because a dry seal burns.");
    let options = ExtractOptions {
        max_sentences: 2,
        threshold: 0.0,
        margin: 99.0,
        close_margin: 99.0,
        ..Default::default()
    };
    let found = answer(WHY, &[&content], &options);
    assert_eq!(found.answer, format!("{RULE} This is because a dry seal burns. [1]"));
}

#[test]
fn nothing_is_added_where_no_reason_is_asked_for_or_said_or_one_is_given() {
    let reason = "This is because a dry seal burns.";
    assert_eq!(
        quoted("When must the pump be filled with water?", &format!("{RULE} {reason}"), 3),
        format!("{RULE} [1]")
    );
    for behind in [
        " Since 2009 it has been made in Oslo.",
        " For cold days there is oil.",
        " Because of this, it has a lid.",
        " Otherwise the seal burns.",
        "\n\nThis is because a dry seal burns.",
        " Who sells it? This is because a dry seal burns.",
        " It is red. This is because a dry seal burns.",
    ] {
        assert_eq!(quoted(WHY, &format!("{RULE}{behind}"), 3), format!("{RULE} [1]"), "{behind}");
    }
    let told = "The pump must be filled with water because the seal burns.";
    let content = format!("{told} This is because the lid melts.");
    assert_eq!(quoted(WHY, &content, 3), format!("{told} [1]"));
    let follows = "The seal burns, therefore the pump must be filled with water.";
    let content = format!("The motor is loud. {follows}");
    assert_eq!(quoted(WHY, &content, 3), format!("{follows} [1]"));
}

#[test]
fn what_has_nothing_to_do_with_the_question_is_not_quoted_for_its_first_words() {
    for (question, content, best) in [
        (
            "Why did the museum close?",
            "The museum has forty rooms. As a result of a fire, the museum closed in 1990.",
            "As a result of a fire, the museum closed in 1990.",
        ),
        (
            "Why is the museum closed on Mondays?",
            "The museum is closed on Mondays. Because parking is scarce, visitors should take the bus.",
            "The museum is closed on Mondays.",
        ),
        (
            "Why does the server restart if auto is on?",
            "The server restarts if auto is on. Otherwise it waits.",
            "The server restarts if auto is on.",
        ),
        (
            "Why is the disk full of old logs?",
            "The disk is full of old logs. This prevents the server from starting.",
            "The disk is full of old logs.",
        ),
    ] {
        assert_eq!(quoted(question, content, 3), format!("{best} [1]"), "{question}");
    }
}

#[test]
fn the_reason_stays_where_the_best_sentence_takes_up_the_one_before() {
    let (before, reason) = ("The motor drives a red pump.", "The reason is a seal that burns.");
    let rule = "This pump must be filled with water.";
    let content = format!("{before} {rule} {reason}");
    assert_eq!(quoted(WHY, &content, 2), format!("{rule} {reason} [1]"));
    assert_eq!(quoted(WHY, &content, 3), format!("{content} [1]"));
}

#[test]
fn the_sentence_behind_says_why_where_the_one_before_only_announces() {
    let both = "Therefore the pump must be filled with water. This is because a dry seal burns.";
    let content = format!("Let's look at the pump. {both}");
    assert_eq!(quoted(WHY, &content, 2), format!("{both} [1]"));
}

#[test]
fn signs_of_a_reason_are_told_in_many_languages() {
    for sentence in [
        "It's because the seal burns.",
        "The reason being that the seal burns.",
        "Der Grund dafür ist die Dichtung.",
        "C’est parce que l’eau refroidit le joint.",
        "La razón es el precio de la luz.",
        "Isto deve-se à vedação da bomba.",
        "De reden is dat het water de afdichting koelt.",
        "Причина в том, что вода охлаждает уплотнение.",
        "Bunun sebebi contanın yanmasıdır.",
        "इसका कारण सील है।",
        "وذلك لأن الماء يبرد الحشية.",
        "這是因為水可以冷卻密封圈。",
        "原因在于水可以冷却密封圈。",
        "これはシールが高温になるためです。",
        "なぜなら、シールが焼けるからです。",
        "そのままでは危険だからです。",
        "水が少ないからです。",
        "그 이유는 씰이 타기 때문입니다.",
    ] {
        assert!(gives_reason(sentence), "{sentence}");
    }
}

#[test]
fn words_that_stand_for_something_else_are_no_signs_of_a_reason() {
    for sentence in [
        "",
        "Since 2009 it has been made in Oslo.",
        "For cold water there is another pump.",
        "Because of this, the pump is filled first.",
        "Because parking is scarce, visitors should take the bus.",
        "Otherwise it waits.",
        "This prevents the server from starting.",
        "The main reason for visits is the garden.",
        "The reason code is shown on the lid.",
        "This is the reason the pump is filled.",
        "Weil der Keller feucht ist, steht die Pumpe oben.",
        "Sonst ist der Keller leer.",
        "Es gibt zwei Pumpen, nämlich rote und blaue.",
        "Parce que le parking est petit, prenez le bus.",
        "Sinon, la pompe attend.",
        "Porque el garaje es pequeño, hay un autobús.",
        "Bo pompa jest pełna.",
        "Ponieważ parking jest mały, jedź autobusem.",
        "Иначе насос ждёт.",
        "По этой причине насос полон.",
        "Bu nedenle pompa doldurulur.",
        "لأنواع المضخات ألوان كثيرة.",
        "因为停车位很少，请坐公交车。",
        "故障原因是密封圈烧坏。",
        "受付は9時からです。",
        "受付はここからです。",
        "バスが出るのは駅の近くからです。",
        "バスが出ないのは雪が降るからです。",
        "安全のためです。",
        "これが理由です。",
        "이 때문에 펌프를 채웁니다.",
    ] {
        assert!(!gives_reason(sentence), "{sentence}");
    }
}

#[test]
fn what_is_due_or_done_so_has_no_cause() {
    for text in [
        "The pump stops due to bearing wear.",
        "The pump stops because it is due to be replaced.",
        "Насос нужно заполнить, так как вода охлаждает уплотнение.",
    ] {
        assert!(holds_reason(text), "{text}");
    }
    for text in [
        "The pump is due to be replaced in May.",
        "Насос нужно заполнить так, как показано на крышке.",
    ] {
        assert!(!holds_reason(text), "{text}");
    }
}

#[test]
fn signs_of_what_follows_are_told_in_many_languages() {
    for sentence in [
        "That's why the pump is filled.",
        "Deshalb wird die Pumpe gefüllt.",
        "Pour cette raison, la pompe est remplie.",
        "Daarom wordt de pomp gevuld.",
        "Dlatego pompa jest pełna.",
        "Поэтому насос заполняют водой.",
        "Bu nedenle pompa doldurulur.",
        "इसलिए पंप भरा जाता है।",
        "لذلك تُملأ المضخة.",
        "因此水泵要加水。",
        "そのため、ポンプに水を入れます。",
        "그래서 펌프를 채웁니다.",
    ] {
        assert!(follows_from_reason(sentence), "{sentence}");
    }
    for sentence in [
        "As a result of a fire, the museum closed in 1990.",
        "Due to this fire the museum closed.",
        "The pump must therefore be filled.",
        "The seal burns, therefore the pump is filled.",
        "Die Pumpe wird deshalb gefüllt, weil die Dichtung verbrennt.",
        "Das kommt daher, dass die Dichtung verbrennt.",
        "Тому що вода охолоджує ущільнення.",
        "そのための水は冷たいです。",
        "Die Pumpe wird gefüllt.",
    ] {
        assert!(!follows_from_reason(sentence), "{sentence}");
    }
}

#[test]
fn who_asks_for_a_reason_is_known_by_what_is_asked() {
    let asks_why = |question: &str| ParsedQuestion::read(question).asks_why;
    for question in [
        WHY,
        "Do you know why the pump stops?",
        "What's the reason for the noise?",
        "How come the pump stops?",
        "Woran liegt es, dass die Pumpe stoppt?",
        "Pour quelle raison faut-il remplir la pompe ?",
        "por que no arranca la bomba",
        "Z jakiego powodu pompa jest pełna?",
        "Чому насос заповнюють водою?",
        "Pompa niye doldurulur?",
        "ما سبب الضجيج؟",
        "为什么水泵要加水？",
        "펌프를 채우는 이유는 무엇인가요?",
        "水泵损坏的原因是什么？",
        "ポンプはどうして止まりますか。",
    ] {
        assert!(asks_why(question), "{question}");
    }
    for question in [
        "",
        "What should I do if I don't know why the pump stops?",
        "What is the reason code?",
        "When was it built?",
        "¿Qué bomba se llena?",
        "Wozu dient die Pumpe?",
        "如何给水泵加水？",
        "ポンプに水を入れますか。",
        "これはなんですか。",
        "どうしても止める方法は何ですか。",
        "理由は画面のどこに出ますか。",
        "Чому дорівнює площа круга?",
        "Czemu służy pompa?",
        "Where is it shown for what reason the pump stops?",
        "A bomba parou porque aqueceu?",
    ] {
        assert!(!asks_why(question), "{question}");
    }
}
