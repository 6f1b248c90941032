//! How values of each kind are asked for, and what tells of them.
//!
//! Phrases are those that hardly ask for anything else: "во сколько" alone asks for prices, too, and "wie weit" for what is done.
//! What tells of a kind may be far from it, since it is a doubt.

use super::{AskedKind, may_be_phone_number, may_be_quantity, may_be_time};
use crate::text::language::NaturalLanguage::{
    Chinese, Dutch, English, French, German, Italian, Japanese, Polish, Portuguese, Russian, Spanish, Turkish,
};
use crate::text::phrase::Phrases;

pub(super) const PHONE_NUMBER: Phrases = Phrases { spaced: &[
    (English, "what is the phone number., what the phone number., which phone number., what is the telephone number."),
    (German, "wie lautet die telefonnummer., wie ist die telefonnummer., welche telefonnummer., unter welcher telefonnummer."),
    (French, "quel est le numéro de téléphone., quel numéro de téléphone."), (Italian, "qual è il numero di telefono."),
    (Spanish, "cuál es el número de teléfono., cuál es el teléfono."), (Portuguese, "qual é o número de telefone."),
    (Dutch, "wat is het telefoonnummer."), (Polish, "jaki jest numer telefonu."), (Russian, "какой номер телефона., какой телефон у."),
    (Turkish, "telefon numarası ne., telefon numarası nedir, telefon numarası kaç"),
], unspaced: &[(Chinese, "电话号码是, 電話號碼是, 电话是多少"), (Japanese, "電話番号は, 電話番号を教え")] };

pub(super) static PHONE: AskedKind = AskedKind {
    within: "phone, telef, téléph, mobil, handy, rufnummer, durchwahl, hotline, whatsapp, мобил, телеф, 电话, 電話, 手机, 手機, 分机",
    words: "tel tél tlf gsm cell fax ext extension call calls ring dial number int intern wewn dw poste interno anexo тел моб доб т",
    units: "", may_be: may_be_phone_number, has_words: false,
};

/// Mail addresses and addresses on the web, which rows have in the same columns.
pub(super) const NET_ADDRESS: Phrases = Phrases { spaced: &[
    (English, "what is the email address., what is the e mail address., what the email address., what email address., \
        which email address., what is the website., what the website., what is the web address., what is the url."),
    (German, "wie lautet die e mail., wie lautet die email, wie lautet die mailadresse., wie ist die e mail., welche e mail adresse., \
        wie lautet die website., wie lautet die webadresse., wie lautet die internetadresse."),
    (French, "quelle est l'adresse e mail., quelle est l’adresse e mail., quelle est l'adresse mail., quelle est l’adresse mail., \
        quelle est l'adresse électronique., quelle est l’adresse électronique., quelle adresse e mail., \
        quel est le site internet., quel est le site web."),
    (Spanish, "cuál es el correo electrónico., cuál es el e mail., cuál es el email., cuál es la página web., cuál es el sitio web."),
    (Italian, "qual è l'indirizzo e mail., qual è l’indirizzo e mail., qual è l'indirizzo di posta elettronica., qual è l'email."),
    (Dutch, "wat is het e mailadres., wat is de website."), (Polish, "jaki jest adres e mail., jaki jest adres email."),
    (Russian, "какой адрес электронной почты., какой электронный адрес., какая электронная почта., какой e mail., какой email."),
    (Turkish, "e posta adresi ne., e posta adresi nedir, eposta adresi ne., eposta adresi nedir"), (Portuguese, "qual é o e mail., qual o e mail., qual é o email., qual o email."),
], unspaced: &[
    (Chinese, "邮箱是, 邮箱地址是, 电子邮件地址是, 网址是"), (Japanese, "メールアドレスは, メールアドレスを教え, ホームページのアドレス"),
] };

pub(super) static NET: AskedKind = AskedKind {
    within: "@, ＠, (at), [at], mail, correo, correio, électron, electrón, elettron, eletrón, e-posta, почт, электрон, 邮, 郵, メール, \
        www, http, url, web, online, internet, homepage, site, página, stron, 网, 網, サイト, ページ, .com, .org, .net, .info, .eu, .io, \
        .gov, .edu, .de, .at, .ch, .fr, .es, .it, .pt, .br, .nl, .be, .pl, .ru, .cn, .jp, .uk, .us",
    words: "", units: "", may_be: |_, _| false, has_words: false,
};

/// Times of day, and how long something takes.
pub(super) const WHEN: Phrases = Phrases { spaced: &[
    (English, "what time does., what time do., what time did., what time is., what time are., what time can., what time will., \
        what time should., what time must., what hours., what are the opening hours., what the opening hours., how many minutes., \
        how many hours., how long does it take., how long will it take., how long did it take., how long do i have to wait."),
    (German, "wie viel uhr., wieviel uhr., welcher uhrzeit., welche öffnungszeiten., wie sind die öffnungszeiten., von wann bis wann., \
        wie lange dauer, wie lange braucht., wie viele minuten., wie viele stunden., welchem datum., welches datum."),
    (French, "quelle heure., quels sont les horaires., quels horaires., combien de temps., combien de minutes., quelle date."),
    (Spanish, "qué hora., a que hora., qué horario., cuál es el horario., cuánto tiempo., cuánto dura, cuánto tarda, qué fecha."),
    (Italian, "che ora., che ore., quali sono gli orari., quanto tempo., quanto dura., quanto durano., quanti minuti., quante ore."),
    (Portuguese, "que horas., qual é o horário., qual o horário., quanto tempo., quanto dura., quanto demora., quantos minutos."),
    (Dutch, "hoe laat., welke openingstijden., wat zijn de openingstijden., hoe lang duurt., hoelang duurt., hoeveel minuten."),
    (Polish, "której godzinie., której godziny., jakich godzinach., jak długo trwa, ile trwa, ile czasu., ile minut., ile godzin."),
    (Russian, "во сколько откры, во сколько закры, во сколько начина, во сколько отправля, во сколько отход, во сколько приход, \
        во сколько прибыва, котором часу., до скольки., сколько времени., сколько длится., сколько минут., сколько часов."),
    (Turkish, "saat kaç, hangi saat, kaçta açıl, kaçta kapan, ne zaman açıl, ne zaman kapan, kaç dakika, kaç saat, ne kadar sür"),
], unspaced: &[
    (Chinese, "几点开, 几点关, 几点到, 几点出, 几点发, 几点结, 几点钟, 到几点, 从几点, 营业时间是, 开放时间是, 多长时间, 多久, 几分钟, 几小时, \
        什么时候开门, 什么时候关门, 什么时候开馆, 什么时候闭馆"),
    (Japanese, "何時, 営業時間は, 開館時間は, 何分, どのくらい時間, どのくらいの時間, どれくらい時間, どれくらいの時間, いつ開き, いつ閉ま"),
] };

/// What a question that begins with "when" is about if it asks for hours.
pub(super) const OPENS: Phrases = Phrases { spaced: &[
    (English, "open., opens., close., closes., shut., shuts., depart., departs."), (French, "ouvre, ouvert, ferme, fermé"),
    (German, "öffnet., öffnen., geöffnet., offen., schließ, schliess, fährt., fahren."), (Spanish, "abre., abren., abiert, cierra"),
    (Italian, "apre., aprono., apert, chiude, chiudono."), (Portuguese, "abre., abrem., aberto., aberta., fecha., fecham."),
    (Dutch, "open., opent., sluit., geopend."), (Polish, "otwart, otwiera, zamyka, czynn, odjeżdża."),
    (Russian, "открыва, открыт, закрыва, отправля"),
], unspaced: &[] };

pub(super) const HOW_LONG: Phrases = Phrases { spaced: &[(English, "how long.")], unspaced: &[] };

/// What a question with [`HOW_LONG`] ends with where it does not ask for metres.
pub(super) const LASTS: Phrases = Phrases { spaced: &[(English, "take., last., valid., wait.")], unspaced: &[] };

/// All that says in words when or how long, and whether something is open. Names of days and months are known elsewhere.
pub(super) static TIME: AskedKind = AskedKind {
    within: "day, dail, week, month, year, hour, minut, season, morning, noon, evening, night, open, clos, always, forever, appoint, \
        request, time, immediate, long, limit, lesson, session, cycle, täg, tags, ertag, etag, woche, wöch, monat, jahr, jähr, \
        stund, stünd, morgen, mittag, abend, nacht, früh, geschl, öff, offen, zeit, termin, anfrage, immer, sofort, dauer, lang, \
        frist, begren, jour, semaine, mois, anné, matin, midi, soir, nuit, heure, ferm, ouv, rendez, demande, durée, saison, jusqu, \
        día, seman, año, mañan, manhã, tarde, noche, noite, cerrad, abiert, abert, fechad, siempre, sempre, cita, hora, dura, \
        tiempo, plazo, prazo, giorn, settiman, mese, mesi, anno, anni, mattin, pomerig, sera, notte, chius, apert, orar, stagion, \
        dag, weken, maand, jaar, uur, ochtend, dicht, geslot, geopend, altijd, afspraak, duur, tijd, seizoen, onbeperkt, dni, dzień, \
        dnia, tydz, tygod, miesi, rano, wiecz, połud, zamk, czynn, otw, zawsze, umów, godz, trwa, czas, okres, ogranicz, ден, дн, \
        недел, меся, год, утр, веч, ноч, полд, кругло, закр, откр, выход, всегда, час, врем, срок, сроч, запис, мин, огранич, gün, \
        hafta, yıl, sabah, öğle, akşam, gece, kapal, açık, zaman, randevu, süre, saat, dakika, sınır, 日, 天, 周, 週, 月, 年, 时, 時, 点, 點, \
        分, 秒, 早, 晚, 朝, 夜, 夕, 昼, 午, 休, 閉, 闭, 关, 开, 開, 予約, 预约, 期, 曜, 限, 永, まで, summer, winter, spring, autumn, easter, \
        christmas, whitsun, arrang, clock, never, expir, perman, indefin, sommer, herbst, frühling, weihnacht, oster, absprach, été, \
        hiver, printemps, automne, verano, invierno, otoño, inverno, outono, primavera, autunno, zomer, herfst, latem, zim, wiosn, \
        jesie, лет, зим, весн, осен, yaz, kış, bahar, 季, 夏, 冬, 春, 秋, 刻, 立即, 马上, すぐ",
    words: "mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec am pm min s d age era \
        period after before when once if until till since tide dawn dusk sunset sunrise tag tage tagen weiteres mo di mi fr sa so \
        nach vor seit sobald wenn falls uhr lun mer jeu ven dim ans temps après avant dès quand mié jue vie sáb dom dia dias mes \
        meses tras antes después gio sab tempo dopo prima finché entro ora ore seg ter sex ano anos após ma wo vr za zo voor zodra \
        pn pon wt śr czw pt sob nd po przed lat rok roku gdy пн вт ср чт пт сб вс после перед когда pzt çar cum cmt paz sonra önce \
        kadar ay none no life kein keine aucune ninguna estate lente lato lecie",
    units: "h minute sec", may_be: may_be_time, has_words: true,
};

pub(super) const HOW_FAR: Phrases = Phrases { spaced: &[
    (English, "how far is it., how far is the., how far away., how far does., how far from., how wide., how tall., \
        how many kilometres., how many kilometers., how many miles., how many metres., how many meters."),
    (German, "wie weit ist es., wie weit kommt., wie weit komme., wie weit entfernt., wie breit., wie viele kilometer."),
    (French, "à quelle distance., combien de kilomètres., combien de mètres."), (Portuguese, "a que distância., quantos metros."),
    (Spanish, "a qué distancia., cuántos kilómetros., cuántos metros."), (Italian, "quanto dista., quanti chilometri., quanti metri."),
    (Dutch, "hoe ver kom, hoe ver is het., hoe ver ligt., hoe breed., hoeveel kilometer."), (Turkish, "kaç kilometre, kaç metre"),
    (Polish, "jak daleko jest., ile kilometrów., ile metrów."), (Russian, "сколько километров., сколько метров."),
], unspaced: &[(Chinese, "多远, 多遠, 多少公里, 多少米, 多宽"), (Japanese, "何キロメートル, 何メートル, 何センチ")] };

pub(super) static LENGTH: AskedKind = AskedKind {
    within: "length, long, wide, width, high, height, deep, depth, distan, size, range, inch, feet, foot, yard, mile, walk, zone, \
        läng, lang, breit, höh, tief, entfern, weit, zoll, larg, hauteur, pouce, anch, altura, altezza, pulg, pollic, polegad, \
        autonom, zona, breed, hoog, afst, bereik, duim, dług, szer, zasięg, odleg, stref, meter, metr, метр, длин, ширин, высот, \
        расстоя, дюйм, uzun, mesafe, menzil, 公里, 米, 厘, 里, 距, 长, 長, 宽, 幅, 程, キロ, メートル, センチ, \", ″",
    words: "tall alto alta cal cale cali зона зоны ft in mi km m cm mm км м см мм min",
    units: "km m cm mm h minute", may_be: may_be_quantity, has_words: true,
};

pub(super) const HOW_HEAVY: Phrases = Phrases { spaced: &[
    (English, "how heavy., what is the weight., what the weight."), (French, "combien pèse, combien pese"), (Spanish, "cuánto pesa"),
    (German, "wie schwer ist., wie schwer sind., was wiegt., wie viel wiegt., wieviel wiegt."), (Italian, "quanto pesa"),
    (Portuguese, "quanto pesa"), (Dutch, "hoe zwaar is., hoeveel weegt., wat weegt."), (Polish, "ile waży., ile ważą."),
    (Russian, "сколько весит., сколько весят."), (Turkish, "kaç kilo., ağırlığı ne., ağırlığı nedir"),
], unspaced: &[(Chinese, "多重？, 多重?, 有多重。, 多少公斤, 重量是多少"), (Japanese, "重さは, 何グラム, 何キログラム")] };

/// What stands behind the thing in a question for its weight that begins as one for a price may.
pub(super) const WEIGHS: Phrases = Phrases { spaced: &[(English, "weigh.")], unspaced: &[] };

pub(super) static WEIGHT: AskedKind = AskedKind {
    within: "weigh, gewicht, wieg, schwer, leicht, poids, pèse, peso, pesa, pound, ounce, stone, tonn, zentner, pfund, livre, libra, \
        zwaar, weeg, waż, масс, тонн, фунт, ağırl, kilo, кило, грамм, 重, 轻, 軽, 斤, 克, 吨, トン, グラム, キロ",
    words: "mass masse waga wagi вес веса весит kg g kgs lb lbs oz t to st dkg кг г т",
    units: "kg g", may_be: may_be_quantity, has_words: true,
};
