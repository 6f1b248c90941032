use super::*;

fn asks_for(question: &str, kind: &AskedKind) -> bool {
    asked_kinds(&ParsedQuestion::read(question)).iter().any(|it| std::ptr::eq(*it, kind))
}

fn share(question: &str, content: &str) -> f32 {
    share_of_last(None, question, content)
}

#[test]
fn who_asks_for_a_kind_says_so_in_many_languages() {
    let phone = [
        "What is the phone number of the archive?",
        "WHAT'S THE PHONE NUMBER OF THE ARCHIVE?",
        "Wie lautet die Telefonnummer des Archivs?",
        "Quel est le numéro de téléphone des archives ?",
        "¿Cuál es el número de teléfono del archivo?",
        "Jaki jest numer telefonu do archiwum?",
        "Какой номер телефона у архива?",
        "档案馆的电话是多少？",
        "資料館の電話番号は何番ですか？",
    ];
    let net = [
        "What is the e-mail address of the archive?",
        "What is the website of the archive?",
        "Wie lautet die E-Mail-Adresse des Archivs?",
        "Quelle est l'adresse e-mail des archives ?",
        "Jaki jest adres e-mail sekretariatu?",
        "Какой адрес электронной почты у архива?",
        "資料館のメールアドレスは何ですか？",
    ];
    let time = [
        "What time does the museum open?",
        "When does the museum open?",
        "Until when is the museum open?",
        "How long does the ride take?",
        "How long does a first consultation last?",
        "Wann öffnet das Museum?",
        "Wie lange dauert die Fahrt?",
        "À quelle heure ouvre le musée ?",
        "Combien de temps dure la visite ?",
        "¿A qué hora abre el museo?",
        "A che ora apre il museo?",
        "Hoe lang duurt de rit?",
        "O której godzinie otwiera się muzeum?",
        "Сколько времени занимает ремонт?",
        "Müze saat kaçta açılıyor?",
        "博物馆几点开门？",
        "美術館は何時に開きますか？",
    ];
    let length = [
        "How far is it to the beach?",
        "Wie weit kommt das E-Bike?",
        "À quelle distance est la plage ?",
        "Hoe ver kom ik met een volle accu?",
        "海滩离这里多远？",
    ];
    let weight = [
        "How heavy is the DH-12?",
        "How much does the DH-12 weigh?",
        "Was wiegt die DH-12?",
        "Combien pèse la perceuse ?",
        "¿Cuánto pesa el taladro?",
        "Сколько весит дрель?",
        "电钻有多重？",
    ];
    for (kind, questions) in [
        (&PHONE, &phone[..]),
        (&NET, &net[..]),
        (&TIME, &time[..]),
        (&LENGTH, &length[..]),
        (&WEIGHT, &weight[..]),
    ] {
        for question in questions {
            assert!(asks_for(question, kind), "{question}");
        }
    }
}

#[test]
fn what_else_is_asked_is_of_no_kind() {
    for question in [
        "",
        "Who has the phone number of the archive?",
        "Where is the phone number of the archive?",
        "How do I change my phone number?",
        "Do I need an e-mail address?",
        "When can I cancel the contract?",
        "What happens when the door is open?",
        "When the door is open, what does the lamp show?",
        "How long is the cable?",
        "How long was the last race?",
        "How long does ef_search take?",
        "How many seats does the bus have?",
        "如何开启多重验证？",
        "What time zone is used?",
        "In what time period was it built?",
        "How far along is the project?",
        "What does the DH-12 cost?",
        "Во сколько обойдётся ремонт?",
        "費用はどのくらいかかりますか？",
    ] {
        assert!(asked_kinds(&ParsedQuestion::read(question)).is_empty(), "{question}");
    }
}

#[test]
fn a_row_without_the_kind_is_no_answer() {
    for (question, content) in [
        (
            "What is the phone number of the archive?",
            "| Office | Room | Phone |\n|---|---|---|\n| Registry | 2A | 555 41 20 |\n| Archive | 4B | – |",
        ),
        (
            "What is the phone number of the archive?",
            "- Archive: Main Street 12, 10115 Berlin, room 204B",
        ),
        (
            "What is the e-mail address of the registry?",
            "| Office | Name | Ext. |\n|---|---|---|\n| Registry | Ada Brook | 100 |",
        ),
        ("What is the website of the archive?", "- Archive: Main Street 12, Mon-Fri 10-17"),
        (
            "When does the museum open?",
            "| House | Adults | Children |\n|---|---|---|\n| Museum of glass | £6.40 | £3.20 |",
        ),
        ("How long does the ride to Inch take?", "- Ride to Inch: single £6.80, return £11.90"),
        (
            "Wie lange dauert die Fahrt nach Oberhagen?",
            "| Ziel | Erwachsene | Kinder |\n|---|---|---|\n| Oberhagen | 4,80 € | 2,40 € |",
        ),
        (
            "Сколько времени занимает правка диска?",
            "Прейскурант (руб.)\n\n- Снятие диска: 250\n- Правка диска: 1500",
        ),
        (
            "Hoe ver kom ik met een volle accu van de e-bike?",
            "| Fiets | 2 uur | dag |\n|---|---|---|\n| E-bike | € 16,00 | € 28,00 |",
        ),
        ("How much does the DH-12 weigh?", "| Model | Price |\n|---|---|\n| DH-12 | £59 |"),
        ("How much does the DH-12 weigh?", "- DH-12: 18 V, 9:00-17:00"),
        ("Was wiegt die Bohrmaschine?", "- Bohrmaschine: 59 € je Stück"),
    ] {
        assert_eq!(share(question, content), UNTOLD, "{question} {content}");
    }
}

#[test]
fn what_may_be_of_the_kind_is_left_to_the_reader() {
    let (phone, mail) =
        ("What is the phone number of the archive?", "What is the e-mail address of the archive?");
    let (opens, lasts) = ("When does the museum open?", "How long does the ride take?");
    let (far, heavy) = ("How far is it to the beach?", "How much does the DH-12 weigh?");
    for (question, content) in [
        (phone, "| Office | Phone |\n|---|---|\n| Archive | ask at the desk |"),
        (phone, "- Archive: 03 44 55 66 77"),
        (phone, "- Archive: (01632) 550-100"),
        (phone, "- Archive: 5554120 Ada Brook"),
        (phone, "- Archive: dial 12"),
        (phone, "- Archive: 112"),
        (mail, "- Archive: archive@example.org"),
        (mail, "- Archive: by mail"),
        ("What is the website of the archive?", "- Archive: archive.example.org"),
        (opens, "- Museum: 10-17, £5"),
        (opens, "- Museum: 0900-1700, £5"),
        (opens, "- Museum: closed"),
        (opens, "- Museum: after the repairs"),
        (opens, "- Museum: summer only, £4"),
        (opens, "- Museum: by arrangement"),
        ("How long does the warranty last?", "- Warranty: none"),
        ("How long does the warranty last?", "- Warranty: for life"),
        (
            "When did the museum open?",
            "| House | Founded | Adults |\n|---|---|---|\n| Museum of glass | 1902 | £6.40 |",
        ),
        (
            "What time does the tram stop at Inch?",
            "| Stop | A | B |\n|---|---|---|\n| Inch | 7.05 | 13.45 |",
        ),
        (lasts, "- Ride: 45 min, £5"),
        (lasts, "- Ride: 10m"),
        (lasts, "- Ride: two laps"),
        ("Wie lange dauert die Fahrt?", "- Fahrt: eine halbe Stunde"),
        (far, "- Beach: 5 minutes by bike"),
        (far, "- Beach: 300"),
        (heavy, "| Model | kg | Price |\n|---|---|---|\n| DH-12 | 2.3 | £59 |"),
        (heavy, "- DH-12: 6lb, £59"),
        // A row that answers one of two questions is better than nothing.
        ("How long does it take, and what does it cost?", "- Ride: £6.80"),
        ("How long does it take, and what does it cost?", "- Ride: 45 min"),
        // Running text says it in words of its own.
        (opens, "The museum is a gift of the town, and adults pay £5."),
        (opens, "- The museum is a gift of the town, and adults pay £5."),
        // Words of this language are in none of the lists.
        (opens, "- Музей: за домовленістю"),
        ("What is the museum called?", "- Museum: £5"),
    ] {
        assert_eq!(share(question, content), 1.0, "{question} {content}");
    }
}

#[test]
fn a_heading_may_tell_what_a_row_does_not() {
    let opens = |heading: Option<&str>| {
        share_of_last(heading, "When does the museum open?", "- Museum: ask at the desk")
    };
    assert_eq!(opens(None), UNTOLD);
    assert_eq!(opens(Some("Town > Opening hours")), 1.0);
    let phone = |content: &str| {
        share_of_last(Some("Phone list"), "What is the phone number of the archive?", content)
    };
    assert_eq!(phone("| Office | Room |\n|---|---|\n| Archive | 4B |"), 1.0);
    assert_eq!(phone("| Office | Phone |\n|---|---|\n| Archive | -- |"), UNTOLD);
    assert_eq!(phone("| Office | Phone | Mobile |\n|---|---|---|\n| Archive | | 555 41 |"), 1.0);
}

#[test]
fn the_value_may_be_quoted_beside_the_row() {
    let passages = [
        ExtractPassage::of(1, "- Archive: room 4B"),
        ExtractPassage::of(2, "- Archive: 555 41 20"),
    ];
    let question = ParsedQuestion::read("What is the phone number of the archive?");
    let candidates = Candidates::read(&question, &passages);
    let [row, number] = [0, 1].map(|index| ChosenUnit::of(&candidates, index));
    let told = |chosen: &[ChosenUnit]| told_share(&candidates, 0, chosen, &passages);
    assert_eq!(told(std::slice::from_ref(&row)), UNTOLD);
    assert_eq!(told(&[row, number]), 1.0);
}

#[test]
fn digits_without_an_end_take_no_time() {
    let digits = "1,".repeat(20_000);
    let quoted = QuotedText { said: digits.clone(), values: digits, ..QuotedText::default() };
    let question = ParsedQuestion::read("How long does the ride take?");
    assert!(TIME.may_be_told(&quoted, &question));
    assert!(!TIME.may_be_told(&QuotedText::default(), &question));
}
