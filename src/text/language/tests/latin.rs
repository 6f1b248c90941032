//! Questions and sentences in languages of the Latin script.

use super::TextsOfLanguage;
use crate::text::language::NaturalLanguage;

pub(super) const TEXTS: &[TextsOfLanguage] = &[
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
];
