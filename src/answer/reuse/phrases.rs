//! The phrases of questions and what they tell, language by language.
//!
//! These lists are about how a question is put and not about what it is about: they have no opposites and no synonyms.
//! A word that is in no list here and does not only make a question must be in both questions. Questions in languages
//! without a list must have all words in common.
//!
//! The question words here are not those of `text::function_word`, which has every word that asks and says no more of it. Here
//! each is in the list of what it asks for, alone or as part of a longer phrase, and a word that asks only for a thing that
//! another word names ("which", "quel") is in none: that other word is compared.

use super::phrase_table::{PhraseRole, PhraseTable};
use crate::text::language::NaturalLanguage;

/// Those of the languages that have any.
pub(super) const TABLES: &[PhraseTable] = &[
    PhraseTable {
        language: NaturalLanguage::English,
        phrases: &[
            (PhraseRole::Who, "who, whom"),
            (PhraseRole::When, "when, what time, at what time, which day, what day, what date"),
            (PhraseRole::Where, "where"),
            (PhraseRole::Why, "why"),
            (PhraseRole::HowMuch, "how much, how many, much, many"),
            (PhraseRole::How, "how"),
            (PhraseRole::What, "what"),
            (
                PhraseRole::May,
                "can, could, may, might, able to, allowed to, allowed, possible to, possible, \
                 permitted",
            ),
            (
                PhraseRole::Must,
                "must, should, shall, have to, has to, had to, required to, ought to",
            ),
            (PhraseRole::Past, "was, were, did, had"),
            (PhraseRole::From, "from"),
            (PhraseRole::To, "to, into"),
            (PhraseRole::Beside, "instead of, than, by, rather than"),
            (PhraseRole::Speaker, "i, we"),
            (PhraseRole::SpeakerAsObject, "me, us"),
            (PhraseRole::Addressee, "you"),
            (
                PhraseRole::Telling,
                "after, before, during, between, more, most, no, nor, not, only, other, over, own, \
                 same, under, about, he, she, his, her, him, they, them, their",
            ),
            (
                PhraseRole::Nothing,
                "please, hi, hello, hey, thanks, thank you, can you tell me, could you tell me, \
                 could you please tell me, could someone explain, can someone explain, can anyone \
                 tell me, i would like to know, i'd like to know, i want to know, do you know, \
                 want to, would like to, wondering, anybody, anyone, someone, exactly, there, am, \
                 i was wondering, i would like to, i'd like to, d, ll, ve, re, m",
            ),
        ],
        links: "\
            a an the of for in on at to by with from and or my your our its their as into after \
            before during between under over about no not only other own same than",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::German,
        phrases: &[
            (PhraseRole::Who, "wer, wem, wen"),
            (PhraseRole::When, "wann, um wie viel uhr, um wieviel uhr"),
            (PhraseRole::Where, "wo"),
            (PhraseRole::Why, "warum, weshalb, wieso"),
            (PhraseRole::HowMuch, "wie viel, wie viele, wieviel, wieviele, viel, viele"),
            (PhraseRole::How, "wie"),
            (PhraseRole::What, "was"),
            (PhraseRole::May, "kann, kannst, können, könnte, darf, dürfen, möglich"),
            (PhraseRole::Must, "muss, musst, müssen, soll, sollte, sollen"),
            (PhraseRole::Past, "war, waren, wurde, wurden, hatte"),
            (PhraseRole::From, "von, vom, aus, ab"),
            (PhraseRole::To, "nach, bis, zum, zur, an"),
            (PhraseRole::Beside, "statt, anstatt, anstelle, als"),
            (PhraseRole::Speaker, "ich, wir"),
            (PhraseRole::SpeakerAsObject, "mich, mir, uns"),
            (PhraseRole::Addressee, "sie, ihnen, du, dich, dir"),
            (
                PhraseRole::Telling,
                "alle, kein, keine, nicht, nur, noch, ohne, seit, über, unter, vor, zwischen, \
                 nach, gegen, lange, kostet, braucht, ab, bis, während",
            ),
            (
                PhraseRole::Nothing,
                "bitte, hallo, guten tag, danke, können sie mir sagen, können sie mir bitte sagen, \
                 kannst du mir sagen, könnten sie mir sagen, ich möchte wissen, ich würde gern \
                 wissen, wissen sie, weiß jemand, jemand, eigentlich, genau, hab, pro",
            ),
        ],
        links: "\
            der die das den dem des ein eine einen einem einer eines im in ins am an auf für von \
            vom zu zum zur mit bei beim aus und oder mein meine meinen nach über unter vor ohne \
            zwischen ab bis seit um",
        particles: "an auf aus ab ein zu vor nach mit um durch bei",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::French,
        phrases: &[
            (PhraseRole::Who, "qui"),
            (PhraseRole::When, "quand, à quelle heure, quel jour"),
            (PhraseRole::Where, "où"),
            (PhraseRole::Why, "pourquoi"),
            (PhraseRole::HowMuch, "combien"),
            (PhraseRole::How, "comment"),
            (PhraseRole::What, "quel est, quelle est"),
            (PhraseRole::May, "peut, peux, peuvent, pouvez, puis, pouvons, possible, permis"),
            (PhraseRole::Must, "doit, dois, doivent, devez, devons, faut, il faut"),
            (PhraseRole::Past, "était, avait, fut"),
            (PhraseRole::From, "de, du, des, d, depuis"),
            (PhraseRole::To, "à, au, aux, vers, jusqu"),
            (PhraseRole::Beside, "au lieu de, plutôt que, que"),
            (PhraseRole::Speaker, "je, nous"),
            (PhraseRole::SpeakerAsObject, "me, m, moi"),
            (PhraseRole::Addressee, "vous, tu, te"),
            (
                PhraseRole::Telling,
                "après, avant, entre, pendant, sans, sous, sur, plus, pas, ni, toujours, sa, son, \
                 ses, leur, été",
            ),
            (
                PhraseRole::Nothing,
                "bonjour, s'il vous plaît, svp, merci, est ce que, est ce qu, qu est ce que, qu \
                 est ce qui, pouvez vous me dire, pourriez vous me dire, peux tu me dire, je \
                 voudrais savoir, savez vous, t, j, y, ai, avez, elles, dites moi, mon, ma, mes",
            ),
        ],
        links: "\
            de du des d le la les l un une à au aux en pour et ou par sur dans avec mon ma mes \
            votre vos sans avant après entre pendant sous",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Spanish,
        phrases: &[
            (PhraseRole::Who, "quién, quiénes"),
            (PhraseRole::When, "cuándo, cuando, a qué hora"),
            (PhraseRole::Where, "dónde, donde, en dónde"),
            (PhraseRole::Why, "por qué"),
            (PhraseRole::HowMuch, "cuánto, cuánta, cuántos, cuántas"),
            (PhraseRole::How, "cómo, como"),
            (PhraseRole::What, "cuál es"),
            (PhraseRole::May, "puede, puedo, pueden, podemos, podría, posible"),
            (PhraseRole::Must, "debe, debo, deben, hay que, tengo que, tiene que"),
            (PhraseRole::Past, "fue, fueron, era, estaba, había"),
            (PhraseRole::From, "de, del, desde"),
            (PhraseRole::To, "a, al, hasta"),
            (PhraseRole::Beside, "en lugar de, en vez de, que"),
            (PhraseRole::Telling, "antes, entre, más, no, sin, sobre, tras, para, durante, ha"),
            (
                PhraseRole::Nothing,
                "hola, buenos días, por favor, gracias, quisiera saber, me gustaría saber, me \
                 puede decir, me podría decir, puede decirme, podría decirme, quiero saber",
            ),
        ],
        links: "\
            de del la las el los un una en por para y o a al con mi mis su sus sin antes entre \
            sobre desde hasta",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Italian,
        phrases: &[
            (PhraseRole::Who, "chi"),
            (PhraseRole::When, "quando, a che ora, che ora"),
            (PhraseRole::Where, "dove"),
            (PhraseRole::Why, "perché"),
            (PhraseRole::HowMuch, "quanto, quanta, quanti, quante"),
            (PhraseRole::How, "come"),
            (PhraseRole::What, "qual è, cosa, che cosa"),
            (PhraseRole::May, "può, posso, possono, possiamo, possibile"),
            (PhraseRole::Must, "deve, devo, devono, bisogna, occorre"),
            (PhraseRole::Past, "era, fu, stato, stata"),
            (PhraseRole::From, "da, dal, dalla, dai, dagli, dalle"),
            (PhraseRole::To, "a, al, alla, ai, agli, alle, verso, fino"),
            (PhraseRole::Beside, "invece di, anziché, che"),
            (PhraseRole::Telling, "dopo, ogni, per, più, prima, senza, tra, tutti, non, ha, hanno"),
            (
                PhraseRole::Nothing,
                "all, dell, nell, mi, buongiorno, salve, ciao, per favore, grazie, potrebbe dirmi, \
                 può dirmi, mi può dire, mi sa dire, vorrei sapere, sono",
            ),
        ],
        links: "\
            di del della dei delle dello degli il la le lo l i gli un una in nel nella per e o a \
            al alla all con da dal dalla su sul sulla mio mia senza prima dopo tra",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Portuguese,
        phrases: &[
            (PhraseRole::Who, "quem"),
            (PhraseRole::When, "quando, a que horas, que horas"),
            (PhraseRole::Where, "onde"),
            (PhraseRole::Why, "por que"),
            (PhraseRole::HowMuch, "quanto, quanta, quantos, quantas"),
            (PhraseRole::How, "como"),
            (PhraseRole::What, "qual é, qual o, qual a"),
            (PhraseRole::May, "pode, posso, podem, podemos, dá para, possível"),
            (PhraseRole::Must, "deve, devo, devem, tenho que, tem que, é preciso, preciso"),
            (PhraseRole::Past, "foi, foram, era, estava"),
            (PhraseRole::From, "de, da, do, das, dos, desde"),
            (PhraseRole::To, "a, ao, aos, à, até, para"),
            (PhraseRole::Beside, "em vez de, ao invés de, que"),
            (
                PhraseRole::Telling,
                "antes, depois, entre, já, mais, muito, não, sem, sobre, preciso",
            ),
            (
                PhraseRole::Nothing,
                "olá, bom dia, por favor, obrigado, obrigada, poderia me dizer, pode me dizer, \
                 podia dizer-me, gostaria de saber, queria saber",
            ),
        ],
        links: "\
            de da do das dos o a os as um uma em no na nos nas para por pela pelo e ou ao à com \
            meu minha sem antes entre sobre até",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Dutch,
        phrases: &[
            (PhraseRole::Who, "wie"),
            (PhraseRole::When, "wanneer, hoe laat"),
            (PhraseRole::Where, "waar"),
            (PhraseRole::Why, "waarom"),
            (PhraseRole::HowMuch, "hoeveel, hoe veel, veel"),
            (PhraseRole::How, "hoe"),
            (PhraseRole::What, "wat"),
            (PhraseRole::May, "kan, kunnen, mag, mogen, mogelijk"),
            (PhraseRole::Must, "moet, moeten"),
            (PhraseRole::Past, "was, werd, werden, had, waren"),
            (PhraseRole::From, "van, uit, vanaf"),
            (PhraseRole::To, "naar, tot"),
            (PhraseRole::Beside, "in plaats van, dan"),
            (PhraseRole::Speaker, "ik, we, wij"),
            (PhraseRole::SpeakerAsObject, "mij, me, ons"),
            (PhraseRole::Addressee, "u, je, jij, jullie"),
            (
                PhraseRole::Telling,
                "hun, altijd, binnen, duurt, geen, hoelang, jaar, kost, kosten, meer, na, niet, \
                 nog, onder, over, tegen, tijdens, tot, tussen, voor, zonder, maar",
            ),
            (
                PhraseRole::Nothing,
                "alstublieft, alsjeblieft, hallo, bedankt, kunt u me vertellen, kunt u mij \
                 vertellen, kun je me vertellen, weet iemand, ik wil graag weten",
            ),
        ],
        links: "\
            de het een van voor in op aan met te en of bij door om naar tot uit mijn uw zonder na \
            over onder tussen",
        particles: "aan af in op uit mee na toe voor om door",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Polish,
        phrases: &[
            (PhraseRole::Who, "kto, kogo, komu"),
            (PhraseRole::When, "kiedy, o której, o której godzinie"),
            (PhraseRole::Where, "gdzie"),
            (PhraseRole::Why, "dlaczego"),
            (PhraseRole::HowMuch, "ile, ilu"),
            (PhraseRole::How, "jak"),
            (PhraseRole::May, "mogę, może, można, mogą"),
            (PhraseRole::Must, "muszę, musi, muszą, trzeba, należy, mam"),
            (PhraseRole::Past, "był, była, było, były, został, została"),
            (PhraseRole::From, "z, ze, od, skąd"),
            (PhraseRole::To, "do, na"),
            (PhraseRole::Beside, "zamiast, niż"),
            (
                PhraseRole::Telling,
                "jego, jej, ich, bez, między, nad, nie, od, po, pod, podczas, przed, przez, przy, \
                 już",
            ),
            (
                PhraseRole::Nothing,
                "proszę, dzień dobry, dziękuję, proszę mi powiedzieć, proszę powiedzieć, chciałbym \
                 wiedzieć, chciałabym wiedzieć, czy wiesz",
            ),
        ],
        links: "w we z ze na do od dla i lub po przy za o bez przed między nad pod przez moje",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Russian,
        phrases: &[
            (PhraseRole::Who, "кто, кого, кому, кем"),
            (PhraseRole::When, "когда, во сколько, в котором часу"),
            (PhraseRole::Where, "где"),
            (PhraseRole::Why, "почему, зачем"),
            (PhraseRole::HowMuch, "сколько"),
            (PhraseRole::How, "как"),
            (PhraseRole::May, "можно, могу, может, могут, можем, возможно"),
            (PhraseRole::Must, "нужно, надо, должен, должна, должны, следует, обязан, обязаны"),
            (PhraseRole::Past, "был, была, было, были"),
            (PhraseRole::From, "из, от, с, со, откуда"),
            (PhraseRole::To, "в, во, на, до, к, ко, куда"),
            (PhraseRole::Beside, "вместо, чем"),
            (
                PhraseRole::Telling,
                "его, её, их, без, до, за, между, над, не, ни, от, перед, под, после, при, про, \
                 через",
            ),
            (
                PhraseRole::Nothing,
                "пожалуйста, здравствуйте, спасибо, подскажите, подскажите пожалуйста, скажите, \
                 скажите пожалуйста, хочу узнать, хотел бы узнать",
            ),
        ],
        links: "\
            в во на с со к ко по из за от до о об у для и или при без после перед между под над \
            через мой моя",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Turkish,
        phrases: &[
            (PhraseRole::Who, "kim, kime, kimin, kimler"),
            (PhraseRole::When, "ne zaman, saat kaçta, kaçta"),
            (PhraseRole::Where, "nerede, nereye"),
            (PhraseRole::Why, "neden, niçin"),
            (PhraseRole::HowMuch, "kaç, ne kadar"),
            (PhraseRole::How, "nasıl"),
            (PhraseRole::Past, "oldu"),
            (PhraseRole::From, "'dan, 'den, 'tan, 'ten"),
            (PhraseRole::To, "'ya, 'ye"),
            (PhraseRole::Telling, "daha, değil, en, kadar, önce, sonra, yok, az, çok"),
            (
                PhraseRole::Nothing,
                "lütfen, merhaba, teşekkürler, söyler misiniz, lütfen söyler misiniz, bilmek \
                 istiyorum, acaba",
            ),
        ],
        links: "ve veya için ile bir bu önce sonra kadar",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Arabic,
        phrases: &[
            (PhraseRole::When, "متى"),
            (PhraseRole::Where, "أين, اين"),
            (PhraseRole::Why, "لماذا"),
            (PhraseRole::HowMuch, "كم"),
            (PhraseRole::How, "كيف"),
            (PhraseRole::May, "يمكن, يمكنني, أستطيع, يجوز"),
            (PhraseRole::Must, "يجب"),
            (PhraseRole::Past, "كان, كانت"),
            (PhraseRole::From, "من"),
            (PhraseRole::To, "إلى, الى, حتى"),
            (PhraseRole::Beside, "بدلا من"),
            (PhraseRole::Telling, "بعد, قبل, بين, عند, غير, كل, بعض, لا, لم, لن, ليس, منذ"),
            (
                PhraseRole::Nothing,
                "من فضلك, مرحبا, شكرا, أريد أن أعرف, هل يمكنك إخباري, ما هو, ما هي",
            ),
        ],
        links: "في من على إلى الى عن مع و أو بعد قبل بين",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Hindi,
        phrases: &[
            (PhraseRole::Who, "कौन, किसने, किसे"),
            (PhraseRole::When, "कब, कितने बजे"),
            (PhraseRole::Where, "कहाँ, कहां"),
            (PhraseRole::Why, "क्यों"),
            (PhraseRole::HowMuch, "कितना, कितने, कितनी"),
            (PhraseRole::How, "कैसे"),
            (PhraseRole::May, "सकता, सकती, सकते, जा सकता"),
            (PhraseRole::Must, "चाहिए"),
            (PhraseRole::Past, "था, थी, थे"),
            (PhraseRole::From, "से"),
            (PhraseRole::To, "तक"),
            (PhraseRole::Telling, "नहीं, बाद, पहले, भी, ही, साथ, पर"),
            (
                PhraseRole::Nothing,
                "कृपया, कृपया बताइए, कृपया बताएँ, नमस्ते, धन्यवाद, मैं जानना चाहता हूँ, हूँ, तो, करूँ, करूं, करता",
            ),
        ],
        links: "का की के को में से पर और या लिए बाद पहले साथ तक",
        particles: "",
        question_marks: "",
    },
    PhraseTable {
        language: NaturalLanguage::Chinese,
        phrases: &[
            (PhraseRole::Who, "谁, 誰"),
            (PhraseRole::When, "什么时候, 何时, 几点, 哪天, 什麼時候"),
            (PhraseRole::Where, "哪里, 哪儿, 在哪里, 在哪儿, 在哪, 何处, 哪裡"),
            (PhraseRole::Why, "为什么, 为何, 為什麼"),
            (PhraseRole::HowMuch, "多少, 几"),
            (PhraseRole::How, "怎么, 如何, 怎样, 怎么样, 怎麼"),
            (PhraseRole::May, "可以, 能不能, 可不可以, 能否, 能"),
            (PhraseRole::Must, "必须, 应该, 要, 该, 需要"),
            (PhraseRole::From, "从"),
            (PhraseRole::To, "到"),
            (
                PhraseRole::Nothing,
                "请问, 请, 的, 了, 吗, 呢, 吧, 么, 是, 有, 在, 和, 与, 什么, 哪些, 你好, 您好, 我, \
                 你, 我的, 您, 告诉, 可以告诉我, 想知道, 我想知道, 方法, 怎么办",
            ),
        ],
        links: "",
        particles: "",
        question_marks: "吗 呢 是否 能不能",
    },
    PhraseTable {
        language: NaturalLanguage::Japanese,
        phrases: &[
            (PhraseRole::Who, "誰, だれ, どなた"),
            (PhraseRole::When, "いつ, 何時, いつごろ"),
            (PhraseRole::Where, "どこ, どちら"),
            (PhraseRole::Why, "なぜ, どうして"),
            (PhraseRole::HowMuch, "いくら, いくつ, どのくらい, どれくらい, どれぐらい, どのぐらい"),
            (
                PhraseRole::How,
                "どうやって, どうすれば, どうしたら, どのように, 方法, やり方, するには",
            ),
            (PhraseRole::From, "から"),
            (PhraseRole::To, "まで"),
            (
                PhraseRole::Nothing,
                "は, が, を, に, の, で, と, も, や, へ, か, ですか, です, ますか, ます, \
                 でしょうか, ください, 教えてください, 教えて, 知りたい, いいですか, いいです, \
                 すみません, 何ですか, 何, しますか, します, する, どうすればいいですか, \
                 どうしたらいいですか, には, では, とは, のは, への, での, にも, でも",
            ),
        ],
        links: "",
        particles: "",
        question_marks: "か",
    },
];
