//! Texts of scripts without spaces or capitals, and lines that end as they did on old machines.

use crate::extract::units::units;

/// What the pieces of `content` say.
fn check(content: &str, expected: &[&str]) {
    let shown: Vec<String> = units(content).iter().map(|it| it.shown(content)).collect();
    assert_eq!(shown, expected, "{content:?}");
}

#[test]
fn wrapped_lines_of_chinese_and_japanese_are_joined() {
    check(
        "图书馆周一休馆。借书\n期限为两周，逾期每日\n罚款5元。影印每张\n2元。",
        &["图书馆周一休馆。", "借书期限为两周，逾期每日罚款5元。", "影印每张2元。"],
    );
    check(
        "フィルターは月に一度、\n水で洗ってくだ\nさい。保証期間は\n二年です。",
        &["フィルターは月に一度、水で洗ってください。", "保証期間は二年です。"],
    );
    check(
        "도서관은 월요일에 문을 닫습니다. 대출\n기간은 모두에게 2주일입니다.",
        &["도서관은 월요일에 문을 닫습니다.", "대출 기간은 모두에게 2주일입니다."],
    );
}

#[test]
fn lines_of_chinese_that_were_not_wrapped_are_a_list() {
    check("周一至周五 9:00-18:00\n周六 10:00-14:00", &["周一至周五 9:00-18:00，周六 10:00-14:00"]);
}

#[test]
fn phrases_of_thai_are_pieces() {
    check(
        "ร้านอาหารเปิดเวลา 11 นาฬิกา ที่จอดรถอยู่ชั้นใต้ดิน ค่าจอดรถเดือนละ 500 บาท ห้ามสูบบุหรี่ในอาคาร",
        &["ร้านอาหารเปิดเวลา 11 นาฬิกา", "ที่จอดรถอยู่ชั้นใต้ดิน", "ค่าจอดรถเดือนละ 500 บาท", "ห้ามสูบบุหรี่ในอาคาร"],
    );
}

#[test]
fn a_question_of_greek_is_no_piece() {
    check(
        "Πόσο κοστίζει η κάρτα; Η κάρτα κοστίζει 5 ευρώ. Πού είναι το γραφείο; Το γραφείο είναι στον τρίτο όροφο.",
        &["Η κάρτα κοστίζει 5 ευρώ.", "Το γραφείο είναι στον τρίτο όροφο."],
    );
}

#[test]
fn a_title_is_a_piece_of_its_own() {
    check(
        "扫地机器人S8使用说明\n红灯闪烁表示尘盒已满。",
        &["扫地机器人S8使用说明", "红灯闪烁表示尘盒已满。"],
    );
    check(
        "Manual de la caldera TermoPlus 24\nLa presión es de 1,5 bar.",
        &["Manual de la caldera TermoPlus 24", "La presión es de 1,5 bar."],
    );
}

#[test]
fn lines_may_end_with_carriage_returns() {
    check(
        "# Post\r\rDie Post kommt um 10 Uhr.\rPakete holt man am Nachmittag ab.\r\r- Briefe kosten 1 Euro.\r- Pakete kosten 5 Euro.\r",
        &[
            "Die Post kommt um 10 Uhr.",
            "Pakete holt man am Nachmittag ab.",
            "Briefe kosten 1 Euro.",
            "Pakete kosten 5 Euro.",
        ],
    );
}
