use super::*;

fn asks(question: &str) -> bool {
    asks_for_price(&ParsedQuestion::read(question))
}

/// The part of a confidence that is left where the last piece of `content` is the best, and quoted alone.
fn share_below(heading: Option<&str>, question: &str, content: &str) -> f32 {
    let passages = [ExtractPassage { heading, ..ExtractPassage::of(1, content) }];
    let question = ParsedQuestion::read(question);
    let candidates = Candidates::read(&question, &passages);
    let best = candidates.all.len() - 1;
    told_share(&candidates, best, &[ChosenUnit::of(&candidates, best)], &passages)
}

fn share(question: &str, content: &str) -> f32 {
    share_below(None, question, content)
}

#[test]
fn who_asks_for_a_price_says_so_in_many_languages() {
    for question in [
        "What does the DH-12 cost?",
        "HOW MUCH DOES THE DH-12 DRILL COST?",
        "What's the price of a day ticket?",
        "Was kostet die DH-12?",
        "Wie teuer ist die Bohrmaschine?",
        "Combien coûte la perceuse DH-12 ?",
        "Quel est le prix d'un aller simple ?",
        "¿Cuánto cuesta el taladro DH-12?",
        "¿Cuánto vale alquilar una pista de pádel?",
        "Quanto costa il trapano DH-12?",
        "Quanto custa a furadeira DH-12?",
        "Wat kost de cursus Keramiek?",
        "Hvad koster boremaskinen?",
        "Hva koster boremaskinen?",
        "Vad kostar borrmaskinen?",
        "Paljonko porakone maksaa?",
        "Mikä on lipun hinta?",
        "Ile kosztuje wiertarka DH-12?",
        "Kolik stojí vrtačka DH-12?",
        "Mennyi a jegy ára?",
        "Cât costă bormașina DH-12?",
        "Koliko košta bušilica DH-12?",
        "Kui palju see maksab?",
        "Сколько стоит дрель DH-12?",
        "Скільки коштує дриль DH-12?",
        "Колко струва билетът?",
        "DH-12 matkabın fiyatı nedir?",
        "Πόσο κοστίζει το δράπανο;",
        "Máy khoan DH-12 giá bao nhiêu?",
        "Berapa harga bor DH-12?",
        "DH-12 ड्रिल की कीमत क्या है?",
        "كم سعر المثقاب؟",
        "כמה עולה המקדחה?",
        "전동 드릴 가격이 얼마예요?",
        "电钻DH-12多少钱？",
        "ドリルの値段はいくらですか？",
        "สว่านราคาเท่าไหร่",
    ] {
        assert!(asks(question), "{question}");
    }
}

#[test]
fn what_else_is_asked_is_no_price() {
    for question in [
        "",
        "How much does the DH-12 weigh?",
        "What did the war cost the empire?",
        "At what cost was the bridge built?",
        "What does ef_search cost?",
        "How much time does a full scan cost?",
        "Who sells the tickets, and what do they cost?",
        "When does the ticket cost more?",
        "How is the price calculated?",
        "Wie viel Zeit kostet der Umbau?",
        "Combien pèse la perceuse ?",
        "¿Cuánto pesa el taladro?",
        "Quanto pesa il trapano?",
        "Ile waży wiertarka?",
        "Сколько весит дрель?",
        "Kuka maksaa?",
        "كم سعرة حرارية في الموز؟",
        "电钻有多重？",
        "ドリルの重さはどのくらいですか？",
        "드릴 무게가 얼마예요?",
    ] {
        assert!(!asks(question), "{question}");
    }
}

#[test]
fn a_row_without_money_tells_no_price() {
    for (question, content) in [
        (
            "What does the DH-12 cost?",
            "| Model | Weight | Voltage |\n|---|---|---|\n| DH-12 | 2.3 kg | 18 V |",
        ),
        ("What does the DH-12 cost?", "- DH-12: 2.3 kg, 18 V, case 40 × 30 cm"),
        ("What does the Model 300 cost?", "- Model 300: 20–25 kg"),
        (
            "Was kostet die Fahrt nach Oberhagen?",
            "| Halt | Mo-Fr | Sa |\n|---|---|---|\n| Oberhagen | 6.31 | 8.24 |",
        ),
        (
            "Quel est le prix d'un aller simple pour Saint-Amelin ?",
            "| Escale | Samedi |\n|---|---|\n| Saint-Amelin | 10 h 05 |",
        ),
        (
            "¿Cuánto vale alquilar una pista de pádel?",
            "| Instalación | Sábados |\n|---|---|\n| Pádel (4 pistas) | 8:00-22:00 |",
        ),
        ("Quanto costa il corso di ceramica?", "- Corso di ceramica: martedì 13:30-16:00, sala 4B"),
        (
            "Wat kost de cursus Keramiek?",
            "| Cursus | Tijd | Lessen |\n|---|---|---|\n| Keramiek | 13.30-16.00 | 8 |",
        ),
        ("Ile kosztuje wiertarka DH-12?", "- Wiertarka DH-12: 2,3 kg, 18 V"),
        ("Сколько стоит дрель DH-12?", "- Дрель DH-12: 2,3 кг, 18 В"),
        ("Matkap kaç lira?", "- Matkap DH-12: 2,3 kg, 18 V"),
        ("滤芯多少钱一个？", "- 滤芯寿命：6~12个月，型号 SY-F5"),
        ("ドリルの値段はいくらですか？", "- ドリル DH-12：2.3kg、18V"),
        ("드릴 가격이 얼마예요?", "- 드릴 DH-12: 2.3kg, 18V"),
        ("كم سعر المثقاب؟", "- المثقاب DH-12: ٢٫٣ kg, ١٨ V"),
    ] {
        assert_eq!(share(question, content), PRICELESS, "{question} {content}");
    }
}

#[test]
fn what_may_be_a_price_is_left_to_the_reader() {
    for (question, content) in [
        ("What does the DH-12 cost?", "| Model | Price |\n|---|---|\n| DH-12 | 59 |"),
        ("What does the DH-12 cost?", "| Model | Price |\n|---|---|\n| DH-12 | ask us |"),
        (
            "What does a large latte cost?",
            "| | Small | Large |\n|---|---|---|\n| Latte | 3.2 | 4 |",
        ),
        ("What does the pie cost?", "- Pie with mash — 14"),
        ("What does the pie cost?", "- Pie with mash 14 per person"),
        ("What does the pie cost?", "- Pie with mash: fourteen dollars, ten for children"),
        ("What does the deposit box cost?", "- Deposit box: 2 % of the sum"),
        ("What does a tent cost?", "- Tent: costs nothing"),
        ("What does a towel cost?", "- Towel: 40p"),
        ("What does a towel cost?", "| Item | Adult |\n|---|---|\n| Towel | 40p |"),
        ("What does the mug cost?", "- Mug: 300 points"),
        (
            "What is the fee for late returns?",
            "| Item | Fine per day |\n|---|---|\n| Late return of a book | 2 |",
        ),
        ("What does a tent cost?", "- Tent: on 5/11, two nights for 30-40"),
        ("What does parking cost?", "- Parking: 2.50 - 4.50"),
        ("Was kostet ein Zelt?", "- Zelt: kostenlos"),
        ("Was kostet die DH-12?", "- DH-12: 59,- bei Abholung"),
        ("Was kostet die DH-12?", "| Maschine | Tag |\n|---|---|\n| DH-12 | ab 20,- |"),
        ("Was kostet die DH-12?", "| Maschine | Tag |\n|---|---|\n| DH-12 | 20.– |"),
        ("Combien coûte la tente ?", "- Tente : 1 250,00"),
        ("Quel est le prix de la visite ?", "- Visite : entrée libre"),
        ("¿Cuánto cuesta el taladro?", "- Taladro: incluido en la cuota"),
        ("Quanto costa la tenda?", "- Tenda: gratuita"),
        ("Wat kost de cursus Keramiek?", "- Keramiek: di, 60 euro"),
        ("Quanto custa a tenda?", "| Artigo | Custo |\n|---|---|\n| Tenda | 59 |"),
        ("Ile kosztuje namiot?", "| Rzecz | Doba |\n|---|---|\n| Namiot | 59 zł |"),
        ("Kiek kainuoja palapinė?", "| Prekė | Kaina |\n|---|---|\n| Palapinė | 59 |"),
        ("Berapa harga tenda?", "| Barang | Sehari |\n|---|---|\n| Tenda | RM59 |"),
        ("Сколько стоит палатка?", "- Палатка: бесплатно"),
        ("Matkap kaç lira?", "- Matkap: ücretsiz"),
        ("电钻多少钱？", "- 电钻：免费"),
        ("ドリルの値段はいくらですか？", "- ドリル：5千"),
        ("드릴 가격이 얼마예요?", "- 드릴: 무료"),
        ("كم سعر المثقاب؟", "- المثقاب: ٥٩"),
        // What stands elsewhere in the passage may be meant for the row.
        ("What does the DH-12 cost?", "All prices with tax.\n\n- DH-12: 2.3 kg"),
        // Running text says it in words of its own.
        ("What does the DH-12 cost?", "The DH-12 is lent to members for the asking."),
        ("What does the DH-12 cost?", "- The DH-12 is lent to members for the asking."),
        ("How much does the DH-12 weigh?", "- DH-12: 2.3 kg, 18 V"),
    ] {
        assert_eq!(share(question, content), 1.0, "{question} {content}");
    }
    let question = "What does the DH-12 cost?";
    assert_eq!(share_below(Some("Tools > Rental fees"), question, "- DH-12: 2.3 kg"), 1.0);
}

#[test]
fn a_price_may_be_quoted_beside_the_row() {
    let passages =
        [ExtractPassage::of(1, "- DH-12: 2.3 kg"), ExtractPassage::of(2, "- DH-12: 59 EUR")];
    let question = ParsedQuestion::read("What does the DH-12 cost?");
    let candidates = Candidates::read(&question, &passages);
    let [row, price] = [0, 1].map(|index| ChosenUnit::of(&candidates, index));
    let told = |chosen: &[ChosenUnit]| told_share(&candidates, 0, chosen, &passages);
    assert_eq!(told(std::slice::from_ref(&row)), PRICELESS);
    assert_eq!(told(&[row, price]), 1.0);
}
