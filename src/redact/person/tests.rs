use super::*;
use crate::redact::find::tests::check_rule;

fn all_names(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut found = persons(text, interrupt);
    found.extend(open_names(text, interrupt));
    found.sort_by_key(|range| range.start);
    found
}

fn check(text: &str, expected: &[&str]) {
    check_rule(all_names, text, expected);
}

#[test]
fn titles_announce_names() {
    check("Ask Mr. Smith or Mrs Anna van der Berg.", &["Smith", "Anna van der Berg"]);
    check(
        "Herr Müller, Frau Dr. Lena Groß-Weber; Prof. Dr. med. J. R. Abel",
        &["Müller", "Lena Groß-Weber", "J. R. Abel"],
    );
    check("M. Dupont et Mme Lefèvre", &["Dupont", "Lefèvre"]);
    check("la señora García Márquez y el Sr. Ruiz", &["García Márquez", "Ruiz"]);
    check("Dott.ssa Bianchi, signor Rossi", &["Bianchi", "Rossi"]);
    check("госпожа Иванова", &["Иванова"]);
    check("Mr. O'Neil's car", &["O'Neil"]);
    check("Dr.Who", &["Who"]);
    check("MRS. MILLER", &["MILLER"]);
    check("FRAU MÜLLER", &["MÜLLER"]);
    // In the normalization form NFD.
    check("Herr Mu\u{308}ller kam", &["Mu\u{308}ller"]);
}

#[test]
fn fields_announce_names() {
    check("Name: Anna Schmidt\nSurname: Miller", &["Anna Schmidt", "Miller"]);
    check("- **Name:** Anna Schmidt", &["Anna Schmidt"]);
    check(
        r#"{"id": 1, "first_name": "Anna", "name": "Anna Maria Roth"}"#,
        &["Anna", "Anna Maria Roth"],
    );
    check("Patient: Ng, Kunde: Jörg Weiß; ФИО: Иван Петров", &["Ng", "Jörg Weiß", "Иван Петров"]);
    check("Metadata: lang: en; author: Anna Schmidt", &["Anna Schmidt"]);
    check("Metadata: author: Anna Schmidt; lang: en", &["Anna Schmidt"]);
    check("Name: Müller, Anna", &["Müller, Anna"]);
    check("From: Schmidt, Anna <a@b.de>", &["Schmidt, Anna"]);
    check(r#"{"name": "Schmidt, Anna Maria"}"#, &["Schmidt, Anna Maria"]);
    check("Surname: Miller, City: Rome", &["Miller"]);
    check("姓名：王小明，性别", &["王小明"]);
    check("الاسم: أحمد علي", &["أحمد علي"]);
}

#[test]
fn letters_name_who_reads_and_writes_them() {
    check("Dear Anna,\nthanks.\n\nBest regards,\nTom B. Miller\n", &["Anna", "Tom B. Miller"]);
    check("Liebe Frau Groß,\nViele Grüße\nJan", &["Groß", "Jan"]);
    check("Hello, my name is Ann Lee and I live", &["Ann Lee"]);
    check("Me llamo Juan de la Cruz.", &["Juan de la Cruz"]);
    check("меня зовут Анна", &["Анна"]);
}

#[test]
fn letters_may_be_signed_in_the_line_of_their_closing() {
    check("Best regards, John Doe", &["John Doe"]);
    check("Sincerely, John Doe", &["John Doe"]);
    check("Thanks for your help. Kind regards, Anna van der Berg.", &["Anna van der Berg"]);
    check("With best regards, John Doe, CEO", &["John Doe"]);
    check("See you soon! Cheers, Ann\nPS: bring tea", &["Ann"]);
    check(r#"{"body": "Yours truly - Tom B. Miller"}"#, &["Tom B. Miller"]);
    check("Mit freundlichen Grüßen Anna Schmidt", &["Anna Schmidt"]);
    check("Bis bald. Liebe Grüße, Jan", &["Jan"]);
    check("Mit freundlichen Grüssen\u{a0}Urs Ammann", &["Urs Ammann"]);
    check("Cordialement, Jean Dupont", &["Jean Dupont"]);
    check("Bien à vous, Hélène de la Tour", &["Hélène de la Tour"]);
    check("Atentamente, Juan Pérez García", &["Juan Pérez García"]);
    check("Un saludo, Lucía", &["Lucía"]);
    for text in [
        "Kind regards, Support",
        "we send best regards, and PostgreSQL does so too",
        "with best regards, PostgreSQL",
        "Best regards, PostgreSQL is fast",
        "Sincerely, we are sorry",
        "Sincerely John",
        "Viele Grüße aus Berlin",
        "Viele Grüße an Anna und Jan",
        "all the best, as ever",
    ] {
        check(text, &[]);
    }
}

#[test]
fn titles_stand_behind_names_in_east_asia() {
    check("请联系王先生。", &["王先生"]);
    check("请联系王小明先生。", &["王小明"]);
    check("担当は田中さんです", &["田中"]);
    check("我叫李雷，", &["李雷"]);
}

#[test]
fn things_are_no_persons() {
    for text in [
        "Name: PostgreSQL",
        "Table name: Big Data",
        "File Name: Annual Report",
        "Dear All,",
        "Dear Sir or Madam,",
        "Dear customer,",
        "Cache Miss Rate",
        "takes 5 ms. Then",
        "MS Word",
        "CACHE MISS RATE",
        "DR SITE",
        "the DR Site",
        "John M. Smith",
        "Dr. and so on",
        "mr smith",
        "lord of the Rings",
        "Regards the Matter",
        "Best regards, and more",
        "my name is not important",
        "Hello World",
        "Dear Reader, welcome",
        "The name: it matters",
        "See Section 4.",
        "国王",
        "姓名",
        "学生",
        "",
        "Name:",
        "Mr.",
        "Mr. 5",
        "Dear",
        "Customer: ACME",
        "Name: X Y",
    ] {
        check(text, &[]);
    }
}

#[test]
fn a_name_stands_before_an_address() {
    let check = |text: &str, expected: Option<&str>| {
        let at = text.find('<').unwrap();
        assert_eq!(before_address(text, at).map(|range| &text[range]), expected, "{text}");
    };
    check("From: Anna Schmidt <a@b.de>", Some("Anna Schmidt"));
    check("x, \"Ann B. Lee\" <a@b.de>", Some("Ann B. Lee"));
    check("Support <a@b.de>", None);
    check("write to <a@b.de>", None);
    check("<a@b.de>", None);
}

#[test]
fn a_surname_may_stand_alone() {
    let check = |name, expected| assert_eq!(surname(name), expected);
    check("Anna van der Berg", Some("Berg"));
    check("Anna Schmidt", Some("Schmidt"));
    check("Schmidt", None);
    check("Schmidt, Anna Maria", Some("Schmidt"));
    check("Ann Ng", None);
}

#[test]
fn hostile_texts_take_no_longer() {
    for text in [
        "Mr. ",
        "Name: ",
        "Mr. A. ",
        "Dear ",
        "regards\n\n",
        "regards, ",
        "Regards, Ann ",
        "王",
        "王先生",
        "A ",
        "A.",
        "von ",
        "\"name\": \"",
    ] {
        persons(&text.repeat(20_000), &mut || {});
    }
    persons(&format!("Mr. {}", "A".repeat(200_000)), &mut || {});
}
