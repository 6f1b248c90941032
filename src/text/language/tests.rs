use super::*;

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
    for (expected, questions, sentences) in IN_EACH_LANGUAGE {
        for text in questions.iter().chain(sentences) {
            assert_eq!(language(text), Some(*expected), "{text}");
        }
        let decomposed: String = sentences[0].nfd().collect();
        assert_eq!(language(&decomposed), Some(*expected), "{decomposed}");
    }
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

/// Short questions in each language, and two sentences of a text.
const IN_EACH_LANGUAGE: &[(NaturalLanguage, [&str; 6], [&str; 2])] = &[
    (
        NaturalLanguage::Hungarian,
        [
            "Mit tegyek, ha megsérült a csomag?",
            "Ki a cég igazgatója?",
            "Van parkoló?",
            "Hol van az iroda?",
            "Mennyibe kerül a szállítás?",
            "Hány nap szabadság jár?",
        ],
        [
            "A csomagot tizennégy napon belül lehet visszaküldeni, ha nem használták.",
            "A munkáltató a kérelemről öt munkanapon belül dönt, és erről írásban értesíti a dolgozót.",
        ],
    ),
    (
        NaturalLanguage::Finnish,
        [
            "Mikä se on?",
            "Missä toimisto sijaitsee?",
            "Paljonko toimitus maksaa?",
            "Kuka on johtaja?",
            "Milloin kirjasto aukeaa?",
            "Voinko perua tilauksen?",
        ],
        [
            "Tilauksen voi palauttaa neljäntoista päivän kuluessa, jos sitä ei ole käytetty.",
            "Työntekijällä on oikeus kolmeenkymmeneen lomapäivään, ja loma haetaan esimieheltä.",
        ],
    ),
    (
        NaturalLanguage::Czech,
        [
            "Kde je kancelář?",
            "Jak se přihlásím?",
            "Kolik stojí doprava?",
            "Kdo je ředitel?",
            "Můžu platit kartou?",
            "Kdy otevírá knihovna?",
        ],
        [
            "Zboží můžete vrátit do čtrnácti dnů, pokud nebylo použito.",
            "Žádost o dovolenou se podává v portálu a schvaluje ji vedoucí.",
        ],
    ),
    (
        NaturalLanguage::Romanian,
        [
            "Unde este biroul?",
            "Cât costă livrarea?",
            "Cine este directorul?",
            "Când se deschide biblioteca?",
            "Pot plăti cu cardul?",
            "Câte zile de concediu am?",
        ],
        [
            "Produsul poate fi returnat în paisprezece zile dacă nu a fost folosit.",
            "Cererea de concediu se depune în portal și este aprobată de conducere.",
        ],
    ),
    (
        NaturalLanguage::Vietnamese,
        [
            "Giám đốc là ai?",
            "Văn phòng ở đâu?",
            "Phí giao hàng là bao nhiêu?",
            "Mấy giờ có bão?",
            "Tôi có thể trả hàng không?",
            "Khi nào thư viện mở cửa?",
        ],
        [
            "Hàng có thể được trả lại trong mười bốn ngày nếu chưa sử dụng.",
            "Đơn xin nghỉ phép được nộp trên cổng thông tin và do trưởng phòng duyệt.",
        ],
    ),
    (
        NaturalLanguage::Croatian,
        [
            "Gdje je ured?",
            "Tko je direktor?",
            "Koliko košta dostava?",
            "Gde je kancelarija?",
            "Šta da radim ako je paket oštećen?",
            "Mogu li platiti karticom?",
        ],
        [
            "Proizvod se može vratiti u roku od četrnaest dana ako nije korišten.",
            "Zahtjev za godišnji odmor predaje se na portalu, a odobrava ga voditelj.",
        ],
    ),
    (
        NaturalLanguage::Indonesian,
        [
            "Di mana kantornya?",
            "Siapa direkturnya?",
            "Berapa biaya pengiriman?",
            "Apakah ada tempat parkir?",
            "Jam berapa perpustakaan buka?",
            "Bagaimana cara mengganti kata sandi?",
        ],
        [
            "Barang dapat dikembalikan dalam empat belas hari jika belum dipakai.",
            "Permohonan cuti diajukan di portal dan disetujui oleh atasan.",
        ],
    ),
    (
        NaturalLanguage::Catalan,
        [
            "On és l'oficina?",
            "Qui és el director?",
            "Quant costa l'enviament?",
            "Quan obre la biblioteca?",
            "Puc pagar amb targeta?",
            "Què faig si el paquet està malmès?",
        ],
        [
            "El producte es pot retornar en catorze dies si no s'ha fet servir.",
            "La sol·licitud de vacances es presenta al portal i l'aprova la direcció.",
        ],
    ),
    (
        NaturalLanguage::Estonian,
        [
            "Kus on kontor?",
            "Kes on direktor?",
            "Kui palju maksab saatmine?",
            "Millal raamatukogu avatakse?",
            "Kas ma saan kaardiga maksta?",
            "Mitu puhkusepäeva mul on?",
        ],
        [
            "Kauba võib tagastada neljateistkümne päeva jooksul, kui seda ei ole kasutatud.",
            "Puhkuseavaldus esitatakse portaalis ja selle kinnitab juht.",
        ],
    ),
    (
        NaturalLanguage::Lithuanian,
        [
            "Kur yra biuras?",
            "Kas yra direktorius?",
            "Kiek kainuoja pristatymas?",
            "Kada atidaroma biblioteka?",
            "Ar galiu mokėti kortele?",
            "Kaip pakeisti slaptažodį?",
        ],
        [
            "Prekę galima grąžinti per keturiolika dienų, jei ji nebuvo naudota.",
            "Prašymas dėl atostogų pateikiamas portale, ir jį tvirtina vadovas.",
        ],
    ),
    (
        NaturalLanguage::Turkish,
        [
            "Genel müdür kim?",
            "Patron kim?",
            "Ofis nerede?",
            "Kargo ücreti ne kadar?",
            "Kütüphane ne zaman açılıyor?",
            "Kaç gün iznim var?",
        ],
        [
            "Ürün kullanılmamışsa on dört gün içinde iade edilebilir.",
            "İzin talebi portaldan yapılır ve yönetici tarafından onaylanır.",
        ],
    ),
    (
        NaturalLanguage::Portuguese,
        [
            "O papel ficou preso, o que faço?",
            "Que horas abre?",
            "Onde fica o escritório?",
            "Quem é o diretor?",
            "Quanto custa o envio?",
            "Posso pagar com cartão?",
        ],
        [
            "O produto pode ser devolvido em catorze dias se não tiver sido usado.",
            "O pedido de férias é feito no portal e aprovado pela chefia.",
        ],
    ),
    (
        NaturalLanguage::Polish,
        [
            "Gdzie jest biuro?",
            "Kto jest dyrektorem?",
            "Ile kosztuje wysyłka?",
            "Jak zmienić hasło?",
            "Czy mogę zapłacić kartą?",
            "Kim jest prezes?",
        ],
        [
            "Towar można zwrócić w ciągu czternastu dni, jeśli nie był używany.",
            "Wniosek o urlop składa się w portalu, a zatwierdza go kierownik.",
        ],
    ),
    (
        NaturalLanguage::English,
        [
            "Where is the office?",
            "Who is the director?",
            "How much is shipping?",
            "Is the café open?",
            "Do you sell jalapeño sauce?",
            "What if my parcel is damaged?",
        ],
        [
            "The product can be returned within fourteen days if it has not been used.",
            "A request for leave is made in the portal and approved by the manager.",
        ],
    ),
    (
        NaturalLanguage::German,
        [
            "Wo ist das Büro?",
            "Wer ist der Geschäftsführer?",
            "Was kostet der Versand?",
            "Wann öffnet die Bibliothek?",
            "Gibt es einen Parkplatz?",
            "Mit wem muss ich sprechen?",
        ],
        [
            "Die Ware kann innerhalb von vierzehn Tagen zurückgegeben werden.",
            "Der Urlaubsantrag wird im Portal gestellt und von der Leitung genehmigt.",
        ],
    ),
    (
        NaturalLanguage::French,
        [
            "Où est le bureau ?",
            "Qui est le directeur ?",
            "Combien coûte la livraison ?",
            "Quand ouvre la bibliothèque ?",
            "Est-ce que je peux payer par carte ?",
            "Que faire si le colis est abîmé ?",
        ],
        [
            "Le produit peut être retourné sous quatorze jours s'il n'a pas été utilisé.",
            "La demande de congé est faite sur le portail et validée par la direction.",
        ],
    ),
    (
        NaturalLanguage::Spanish,
        [
            "¿Dónde está la oficina?",
            "¿Quién es el director?",
            "¿Cuánto cuesta el envío?",
            "Cuando abre la biblioteca?",
            "Puedo pagar con tarjeta?",
            "¿Qué hago si el paquete está dañado?",
        ],
        [
            "El producto se puede devolver en catorce días si no se ha usado.",
            "La solicitud de vacaciones se hace en el portal y la aprueba la dirección.",
        ],
    ),
    (
        NaturalLanguage::Italian,
        [
            "Dov'è l'ufficio?",
            "Chi è il direttore?",
            "Quanto costa la spedizione?",
            "Quando apre la biblioteca?",
            "Posso pagare con la carta?",
            "Cosa faccio se il pacco è danneggiato?",
        ],
        [
            "Il prodotto può essere restituito entro quattordici giorni se non è stato usato.",
            "La richiesta di ferie si fa nel portale ed è approvata dalla direzione.",
        ],
    ),
    (
        NaturalLanguage::Dutch,
        [
            "Waar is het kantoor?",
            "Wie is de directeur?",
            "Hoeveel kost de verzending?",
            "Wanneer gaat de bibliotheek open?",
            "Kan ik met pin betalen?",
            "Moet ik dat vóór vertrek doen?",
        ],
        [
            "Het product kan binnen veertien dagen worden teruggestuurd als het niet gebruikt is.",
            "De aanvraag voor verlof wordt in het portaal gedaan en door de leiding goedgekeurd.",
        ],
    ),
    (
        NaturalLanguage::Swedish,
        [
            "Var ligger kontoret?",
            "Vem är chef?",
            "Vad kostar frakten?",
            "När öppnar biblioteket?",
            "Kan jag betala med kort?",
            "Hur många semesterdagar har jag?",
        ],
        [
            "Varan kan lämnas tillbaka inom fjorton dagar om den inte har använts.",
            "Ansökan om semester görs i portalen och godkänns av chefen.",
        ],
    ),
    (
        NaturalLanguage::Danish,
        [
            "Hvad koster fragten?",
            "Hvornår åbner biblioteket?",
            "Hvad gør jeg, hvis pakken er beskadiget?",
            "Hvad hedder direktøren?",
            "Hvor meget koster det?",
            "Hvornår kommer pakken?",
        ],
        [
            "Varen kan sendes retur inden for fjorten dage, hvis den ikke er blevet brugt.",
            "Ansøgningen om ferie bliver lavet i portalen og godkendt af lederen.",
        ],
    ),
    (
        NaturalLanguage::Norwegian,
        [
            "Hva koster frakten?",
            "Når åpner biblioteket?",
            "Hva gjør jeg hvis pakken er skadet?",
            "Hva heter direktøren?",
            "Hvor mye koster det?",
            "Hvor mye ferie har jeg?",
        ],
        [
            "Varen kan sendes tilbake innen fjorten dager hvis den ikke har blitt brukt noe.",
            "Søknaden om ferie blir laget i portalen og godkjent av lederen, ikke av oss.",
        ],
    ),
    (
        NaturalLanguage::Russian,
        [
            "Где офис?",
            "Кто директор?",
            "Сколько стоит доставка?",
            "Когда открывается библиотека?",
            "Можно оплатить картой?",
            "Что делать, если посылка повреждена?",
        ],
        [
            "Товар можно вернуть в течение четырнадцати дней, если он не использовался.",
            "Заявление на отпуск подаётся через портал и утверждается руководителем.",
        ],
    ),
    (
        NaturalLanguage::Ukrainian,
        [
            "Хто директор?",
            "Де офіс?",
            "Скільки коштує доставка?",
            "Коли працює музей?",
            "Чи можна оплатити карткою?",
            "Що робити?",
        ],
        [
            "Товар можна повернути протягом чотирнадцяти днів, якщо його не використовували.",
            "Заяву на відпустку подають через портал, а затверджує її керівник.",
        ],
    ),
    (
        NaturalLanguage::Bulgarian,
        [
            "Къде е офисът?",
            "Кой е директорът?",
            "Колко струва доставката?",
            "Кога отваря библиотеката?",
            "Мога ли да платя с карта?",
            "Какво да правя, ако пратката е повредена?",
        ],
        [
            "Стоката може да бъде върната в срок от четиринадесет дни, ако не е използвана.",
            "Молбата за отпуск се подава в портала и се одобрява от ръководителя.",
        ],
    ),
    (
        NaturalLanguage::Serbian,
        [
            "Где је канцеларија?",
            "Ко је директор?",
            "Колико кошта достава?",
            "Када се отвара библиотека?",
            "Да ли могу да платим картицом?",
            "Шта да радим ако је пакет оштећен?",
        ],
        [
            "Производ се може вратити у року од четрнаест дана ако није коришћен.",
            "Захтев за одмор се подноси на порталу, а одобрава га руководилац.",
        ],
    ),
    (
        NaturalLanguage::Greek,
        [
            "Πού είναι το γραφείο;",
            "Ποιος είναι ο διευθυντής;",
            "Πόσο κοστίζει η αποστολή;",
            "Πότε ανοίγει η βιβλιοθήκη;",
            "Έχει πάρκινγκ;",
            "Πώς αλλάζω κωδικό;",
        ],
        [
            "Το προϊόν επιστρέφεται εντός δεκατεσσάρων ημερών.",
            "Η αίτηση άδειας υποβάλλεται στην πύλη και εγκρίνεται από τη διοίκηση.",
        ],
    ),
    (
        NaturalLanguage::Hebrew,
        [
            "איפה המשרד?",
            "מי המנהל?",
            "כמה עולה המשלוח?",
            "מתי נפתחת הספרייה?",
            "אפשר לשלם בכרטיס?",
            "יש חניה?",
        ],
        [
            "אפשר להחזיר את המוצר בתוך ארבעה עשר ימים אם לא נעשה בו שימוש.",
            "בקשת חופשה מוגשת בפורטל ומאושרת על ידי המנהל.",
        ],
    ),
    (
        NaturalLanguage::Thai,
        [
            "สำนักงานอยู่ที่ไหน",
            "ใครคือผู้จัดการ",
            "ค่าจัดส่งเท่าไหร่",
            "ห้องสมุดเปิดกี่โมง",
            "จ่ายด้วยบัตรได้ไหม",
            "มีที่จอดรถไหม",
        ],
        ["สินค้าคืนได้ภายในสิบสี่วันหากยังไม่ได้ใช้", "ใบลาต้องยื่นผ่านระบบและได้รับอนุมัติจากหัวหน้า"],
    ),
    (
        NaturalLanguage::Arabic,
        [
            "أين المكتب؟",
            "من المدير؟",
            "كم تكلفة الشحن؟",
            "متى تفتح المكتبة؟",
            "هل يوجد موقف؟",
            "كيف أغير كلمة المرور؟",
        ],
        [
            "يمكن إرجاع المنتج خلال أربعة عشر يوما إذا لم يستخدم.",
            "يقدم طلب الإجازة عبر البوابة ويوافق عليه المدير.",
        ],
    ),
    (
        NaturalLanguage::Hindi,
        [
            "कार्यालय कहाँ है?",
            "निदेशक कौन है?",
            "डिलीवरी कितने की है?",
            "पुस्तकालय कब खुलता है?",
            "क्या पार्किंग है?",
            "पासवर्ड कैसे बदलें?",
        ],
        [
            "उत्पाद चौदह दिनों में लौटाया जा सकता है यदि उसका उपयोग नहीं हुआ है।",
            "छुट्टी का आवेदन पोर्टल में किया जाता है और प्रबंधक उसे स्वीकृत करते हैं।",
        ],
    ),
    (
        NaturalLanguage::Korean,
        [
            "사무실은 어디예요?",
            "대표가 누구예요?",
            "배송비가 얼마예요?",
            "도서관은 몇 시에 열어요?",
            "주차장 있어요?",
            "연차가 며칠이에요?",
        ],
        [
            "사용하지 않은 상품은 14일 이내에 반품할 수 있습니다.",
            "휴가 신청은 포털에서 하며 팀장이 승인합니다.",
        ],
    ),
    (
        NaturalLanguage::Japanese,
        [
            "事務所はどこですか？",
            "社長は誰ですか？",
            "送料はいくらですか？",
            "図書館は何時に開きますか？",
            "駐車場はありますか？",
            "ﾊﾟｽﾜｰﾄﾞﾊ?",
        ],
        [
            "未使用の商品は十四日以内に返品できます。",
            "休暇の申請はポータルで行い、上司が承認します。",
        ],
    ),
    (
        NaturalLanguage::Chinese,
        [
            "办公室在哪里？",
            "经理是谁？",
            "运费多少钱？",
            "图书馆几点开门？",
            "可以刷卡吗？",
            "有停车场吗？",
        ],
        ["未使用的商品可在十四天内退货。", "休假申请在门户网站提交，由主管批准。"],
    ),
];
