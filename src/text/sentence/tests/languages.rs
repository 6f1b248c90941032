//! Abbreviations, dates, quotes and spaces, language by language.

use super::super::sentences;

/// `marked` has its sentences between bars.
fn check(marked: &str) {
    let text = marked.replace('|', "");
    let found: Vec<&str> = sentences(&text).into_iter().map(|range| &text[range]).collect();
    let expected: Vec<&str> = marked.split('|').map(str::trim).collect();
    assert_eq!(found, expected, "sentences of {text:?}");
}

/// Sentences of each language with what it shortens, parted by bars.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("German", "Frau Dr. Köhler (Abt. Personal) kommt. |Die Fa. Müller u. Co. KG liefert. |Gut."),
    (
        "German",
        "Siehe Abs. 2 S. 1 Nr. 3, zzgl. Porto u. a. Montags, d. h. Kinder zahlen nichts. |Gut.",
    ),
    (
        "German",
        "Er kam am 15. Jan. 2024 zu Hrn. Maier. |Heizung und Lüftung bzw. Klima u. Strom fehlen. |Gut.",
    ),
    (
        "Dutch",
        "Bel dhr. De Vries of fam. De Wit, afd. Inkoop, bijv. via tel. 5. |Zie blz. 3 en art. 5 lid 2 jo. 3. |Dat is goed.",
    ),
    (
        "French",
        "Voir l'art. 5 al. 2 et l'ann. 3, p. ex. Paris. |Le bureau est au 12, av. Foch, bât. B, tél. 01 23. |Bien.",
    ),
    ("French", "Le 15 janv. 2024 et le 3 févr. 2025. |Voir chap. IV. |Bien."),
    (
        "Spanish",
        "Véase pág. 3, núm. 5 y cap. II de la Sra. Ibáñez, p. ej. Madrid. |Son EE. UU. grandes. |La avda. América y la pza. Mayor. |Bien.",
    ),
    (
        "Portuguese",
        "Ver pág. 3 da Profa. Ana, na Av. Liberdade, apto. 12, em 5 set. 2024. |A trav. Nova fica perto, p.ex. aqui. |Fim.",
    ),
    (
        "Italian",
        "Chiedere all'ing. Neri, all'arch. Bianchi, alla sig.ra Verdi o all'avv. Rosa. |Vedi pag. 3 e art. 5 co. 2 del 12 ott. 2024. |Fine.",
    ),
    ("Italian", "L'ing. Neri è in P.zza Dante, n. 5, int. 2. |Bene."),
    (
        "Romanian",
        "Dl. Popescu stă pe str. Lungă nr. 5, bl. 3, sc. 2, et. 4, ap. 12. |Vezi art. 5 alin. 2. |Gata.",
    ),
    (
        "Polish",
        "Wniosek składa się u p. Wójcik z kadr. |Zob. art. 5 ust. 2 pkt. 3 oraz rozdz. II. |Dr hab. inż. Nowak mieszka przy al. Róż 5, im. Kopernika. |Tak.",
    ),
    (
        "Czech",
        "Viz čl. 3 odst. 2 a obr. 5, např. Praha. |Bydlí na nám. Míru u p. Nováka, č. 5. |Od r. 1990 to ví Mgr. Jan a dr. Malý. |Ano.",
    ),
    ("Slovak", "Pozri ods. 2 a príl. 3, napr. Bratislava. |Áno."),
    ("Slovenian", "Npr. Ljubljana. |Glej čl. 5, št. 2, pri g. Novaku. |Potem."),
    ("Croatian", "Ulica br. 5 kod gđa. Horvat, npr. Split. |Zatim."),
    (
        "Hungarian",
        "Kérje Kovácsné dr. Szűcs Ágnestől. |Ld. 5. old., kb. 20 nap, márc. 15. után. |Özv. Nagy és ifj. Kovács, pl. Budapest. |Jó.",
    ),
    ("Swedish", "Enl. bil. 5, ca. 3 dagar, t. ex. Malmö, kl. 9. |Se s. 7. |Bra."),
    ("Danish", "Hos hr. Jensen på Gl. Kongevej 5, jf. stk. 2 og f. eks. Aarhus. |Det er godt."),
    ("Norwegian", "Jf. kap. 3, f.eks. Oslo, tlf. 22 33. |Det er bra."),
    ("Finnish", "Ilmoita viim. 15. maaliskuuta, esim. Prisma, puh. 12. |Ks. Liite 3. |Hyvä."),
    ("Estonian", "Tartu mnt. 5, lk. 7, nt. Tallinn. |See on hea."),
    ("Latvian", "Brīvības iel. 5, plkst. 10, piem. Rīga. |Labi."),
    ("Lithuanian", "Gedimino pr. 5, pvz. Vilnius. |Gerai."),
    ("Turkish", "Bkz. Ek 3, md. 5, s. 7, Sn. Yılmaz ve Doç. Can. |Bu iyi."),
    ("Vietnamese", "TP. Hồ Chí Minh có TS. Nguyễn. |Xem tr. 5. |Hết."),
    ("Indonesian", "Jl. Sudirman No. 5, Kec. Menteng, hlm. 7. |Bpk. Joko datang. |Selesai."),
    (
        "Greek",
        "Δώστε το στην κ. Παπαδοπούλου και στον δρ. Νίκο, οδ. Ερμού 5, τηλ. 210. |Βλ. σελ. 5, π.χ. Αθήνα. |Ναι.",
    ),
    (
        "Russian",
        "См. стр. 7 и рис. 5, п. 3 ч. 2, т. е. Москва. |Живёт в г. Омске на ул. Ленина, д. 5, корп. 2. |Закон от 27 июля 2006 г. № 152-ФЗ. |Да.",
    ),
    ("Ukrainian", "Див. Додаток 3 у м. Київ, вул. Шевченка, буд. 5. |Напр. Львів. |Так."),
    (
        "Bulgarian",
        "Живее в гр. София, бул. Витоша 5, ет. 3, ап. 7, при инж. Петров. |Вж. чл. 5, ал. 2. |Да.",
    ),
    ("Hindi", "डॉ. शर्मा आए. |फिर श्री. वर्मा पृ. ७ पर गए. |ए. पी. जे. अब्दुल कलाम आए।"),
];

#[test]
fn abbreviations_stay_inside() {
    ABBREVIATIONS.iter().for_each(|(_, marked)| check(marked));
}

#[test]
fn what_looks_like_an_abbreviation_ends_a_sentence() {
    for marked in [
        "Суточные — 700 руб. |Парковка бесплатна.",
        "Стол, стул и др. |Доставка платная. |Мел и пр. |Потом урок.",
        "Площадь 50 кв. м. |Квартира тёплая.",
        "Заявление подаётся Смирновой А. П. |Отпуск делится на части.",
        "Офис работает с 2012 г. |Парковка бесплатна.",
        "Pen, papier enz. |Daarna stoppen we. |Wij helpen u. |Daarna niet.",
        "Pane, acqua ecc. |Poi basta.",
        "Det är 3 st. |Sedan slut.",
        "Kaffee, Tee usw. |Kuchen gibt es auch.",
        "Chleb, mleko itd. |Masło jest drogie.",
        "Stojí 5 tis. Kč. |Konec.",
        "It is in San Jose, CA. |The weather is fine.",
        "It weighs 12 oz. |Visitors carry it.",
        "All is set. |Five people came. |My red. |Nobody came.",
        "Le code de l'appli. |L'entrée est libre.",
        "It is in the U.S. |L'entrée est libre.",
        "Er lebt in den U.S. |Außerdem malt er.",
    ] {
        check(marked);
    }
}

#[test]
fn a_year_may_stand_at_the_beginning() {
    check("В 2024 г. Россия выиграла. |Он ушёл в 2024 г. |Она осталась.");
    check("5 мая 2024 г. Иванов ушёл.");
    check("W 2024 r. Polska wygrała. |Firma działa od 2024 r. |Parking jest darmowy.");
    check("У 2024 р. Україна виграла.");
}

#[test]
fn names_with_initials() {
    check("Поэт А. П. Чехов писал. |Иван С. Тургенев и Джон Ф. Кеннеди тоже.");
    check("Франклин Д. Рузвельт был президентом.");
    check("In Brown v. Board of Education it was so. |In 2 v. 3 as well.");
    check("L'ing. Neri et M. L'Hôpital sont là. |Bien.");
}

#[test]
fn dates_are_whole() {
    for marked in [
        "신청 마감은 2024. 3. 31. 입니다. |결과는 2024. 4. 15. 에 발표됩니다. |문의하십시오.",
        "2024. 3. 31.까지 내십시오. |결과는 2024. 4. 에 나옵니다. |기간은 2024. 3. 1. ~ 2024. 3. 31. 입니다.",
        "Termín je 15. 3. 2024. |Potom končíme. |Dne 5. 12. 2023 a 6. 1. 2024.",
        "Am 15. 3. 2024 kam er. |Vom 1. 2. bis 3. 4. 2024. |Er kam am 5. |Dann ging er.",
        "A határidő 2024. 3. 15. |A díj 5 euró.",
        "A határidő 2024. március 15. |A díj 5 euró.",
        "It was 2017. |Then 2018. |In 1940. |3.7-inch guns were used.",
        "The order is B2. |3. 2024 is a year.",
    ] {
        check(marked);
    }
}

#[test]
fn brackets_within_a_sentence_end_none() {
    check("Call us (Mon. Only in May! Or not?) or write. |Then wait.");
    check("これは（注意。）です。|次。");
    // What stands in brackets as a whole has sentences of its own, and so has what is long.
    check("He left. |(He was tired. |It was late.) |She stayed.");
    let long = format!("He left (he was {} tired. |It was late.) |She stayed.", "very ".repeat(20));
    check(&long);
    check("He left (he was tired. |It was late. |She stayed.");
    check("Items are a) red. |And b) blue.");
}

#[test]
fn quotes_with_spaces() {
    for marked in [
        "Il a dit : « Rien de plus. » |La cotisation est due.",
        "Il a dit : «\u{a0}Rien de plus.\u{202f}» |La cotisation est due.",
        "« Vraiment ? » dit-il. |« Oui ! », répond-elle. |Fin.",
        "« A. B. » et « C. D. » |Voilà.",
        // German opens with the other sign, and a page parts links with it.
        "Er kam. |»Komm!« |Sie ging. |»Nein.« |Gut.",
        "Weiter. |» Mehr. |» Ende.",
    ] {
        check(marked);
    }
}

#[test]
fn quotes_that_a_sentence_goes_on_behind() {
    for marked in [
        "「お待ちください。」と案内します。|次です。",
        "「はい。」という答え。|「いいえ。」って言う。|『本。』を読む。",
        "「終わり。」|次です。|「はい。」|ところで雨です。",
        "\"오세요.\"라고 했다. |\"갑니다.\" |그는 갔다.",
        "네. |2024. 3. 31. 까지 하십시오.",
        "他说：“你好。”|然后走了。",
    ] {
        check(marked);
    }
}

#[test]
fn greek_questions() {
    check("Πόσο κοστίζει η κάρτα; |Κοστίζει 5 ευρώ. |Πού είναι το γραφείο\u{37e} |Στον 3ο όροφο.");
    check("Ρώτησε «Πού είναι;» |Κανείς δεν ξέρει.");
    // A list, and words of Greek in another language.
    check("Είναι μία; δύο; τρεις.");
    check("Apollo (Ἀπόλλων; Doric) is a god; Ζεύς; He is, too.");
}

#[test]
fn dutch_sentences_may_begin_with_a_small_letter() {
    check("Daarna stop. |'s Avonds is het dicht. |’t Is goed.");
    check("See fig. 's' there.");
}

#[test]
fn spaces_end_sentences_of_thai_and_lao() {
    for marked in [
        "ร้านอาหารเปิดเวลา 11 นาฬิกา |ที่จอดรถอยู่ชั้นใต้ดิน |ค่าจอดรถเดือนละ 500 บาท |ห้ามสูบบุหรี่ในอาคาร",
        "ถ้ากระดาษติด ให้เปิดฝาด้านข้างแล้วค่อย ๆ ดึงกระดาษออก |ไฟสีแดงกะพริบหมายความว่าผงหมึกหมด",
        "ได้ สัปดาห์ละสองวัน แต่วันพุธต้องเข้าสำนักงาน",
        "ติดต่อคุณสมชาย ใจดี ในเวลาราชการเท่านั้น",
        "เขาเกิดเมื่อวันที่ 21 มีนาคม พ.ศ. 2497 ที่จังหวัดนครราชสีมา",
        "ร้านเปิดเวลา 10.00 น. |ที่จอดรถอยู่ชั้นใต้ดิน",
        "เป็นศูนย์กลางการปกครอง การศึกษา การคมนาคมขนส่ง การเงินการธนาคาร และความเจริญ",
        "ห้ามสูบบุหรี่ใน\nอาคารทุกชั้นของเรา",
        "ຫ້ອງສະໝຸດເປີດເວລາ 8 ໂມງ |ປິດວັນເສົາແລະວັນອາທິດ |ຄ່າປັບໃໝມື້ລະ 500 ກີບ",
        "បណ្ណាល័យបើកនៅម៉ោង ៨ ព្រឹក |សៀវភៅអាចខ្ចីបានពីរសប្តាហ៍",
        "បណ្ណាល័យបើកនៅម៉ោង ៨ ព្រឹក។ |សៀវភៅអាចខ្ចីបាន ពីរសប្តាហ៍ប៉ុណ្ណោះណា។",
        "စာကြည့်တိုက်ကို ၈ နာရီတွင် ဖွင့်သည်။ |စာအုပ်များကို နှစ်ပတ် ငှားနိုင်သည်။",
    ] {
        check(marked);
    }
}
