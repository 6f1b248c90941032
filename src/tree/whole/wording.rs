//! The words of questions for the whole, and of those for a fact, by language.

use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;

/// Words that ask for the whole whatever follows, as "summarise who pays" does.
///
/// A request to compare is here whatever is compared ("Compare the contracts."). Where two things are named, `text::comparison`
/// finds these, by frames with a place for both names.
pub(super) const REQUESTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Arabic, "لخص, لخصي, تلخيص, قارن, أوجز, اختصر"),
        (
            NaturalLanguage::Dutch,
            "samenvatten., samen te vatten, vat samen, vat de., vat het., vat dit., vat deze., vat dat., \
          vat alles., vat alle., vergelijk., vergelijken., tl dr., tldr.",
        ),
        (
            NaturalLanguage::English,
            "summaris, summariz, sum up., sum it up, sum this up, sum them up, sum all, recap., recapitulate, \
          compare., contrast., condense., boil down, tl dr., tldr.",
        ),
        (
            NaturalLanguage::French,
            "résume., résumes., résumez., résumer., résumons., résumé moi, synthétis, récapitul, compare., \
          comparez., comparer., tl dr., tldr.",
        ),
        (
            NaturalLanguage::German,
            "fasse., fassen sie, fass., zusammenfassen., zusammenzufassen., vergleiche., vergleichen., \
          vergleich mal, tl dr., tldr.",
        ),
        (
            NaturalLanguage::Italian,
            "riassumi., riassumere., riassumimi., riassumete., riassuma., riepilog, sintetizz, confronta., \
          confrontare., confrontate., paragon, tl dr., tldr.",
        ),
        (NaturalLanguage::Korean, "요약해, 요약하, 요약 해, 정리해, 비교해, 비교하"),
        (
            NaturalLanguage::Polish,
            "podsumuj, podsumować., streść, streszcz., streścić., porównaj, porównać., tl dr., tldr.",
        ),
        (
            NaturalLanguage::Portuguese,
            "resuma., resume., resumir., resumam., sintetiz, compare., compara., comparar., comparem., tl dr., \
          tldr.",
        ),
        (
            NaturalLanguage::Russian,
            "обобщи, резюмир, подытож, перескаж, кратко излож, сравни., сравните., сравнить., суммируй",
        ),
        (
            NaturalLanguage::Spanish,
            "resume., resumir., resuma., resuman., resumes., resúmeme., resúmelo., sintetiz, compara., compare., \
          comparar., comparen., tl dr., tldr.",
        ),
        (NaturalLanguage::Turkish, "özetle, karşılaştır, tl dr., tldr."),
        (
            NaturalLanguage::Ukrainian,
            "підсумуй, підсумувати., узагальни, резюму, підбий, перекажи, порівняй, порівняти., стисло викла",
        ),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "总结, 總結, 概括, 概述, 归纳, 歸納, 比较一下, 比較一下, 对比"),
        (NaturalLanguage::Japanese, "要約して, 要約を, まとめて, 比較して, 比べて"),
    ],
};

/// What a question for the whole is for.
pub(super) const SUBJECTS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::Arabic,
            "ملخص, خلاصة, مقارنة, المواضيع الرئيسية, الموضوعات الرئيسية, الفكرة الرئيسية, الأفكار الرئيسية, \
          النقاط الرئيسية, أهم النقاط, أهم المواضيع, نظرة عامة, ما المواضيع, ما الموضوعات, ما هي المواضيع, \
          ما هي الموضوعات, الصورة العامة, القواسم المشتركة, باختصار, عم يتحدث, عما يتحدث, عن ماذا يتحدث",
        ),
        (
            NaturalLanguage::Dutch,
            "samenvatting, overzicht, hoofdthema, hoofdpunt, hoofdonderwerp, hoofdgedacht, hoofdboodschap, \
          kernpunt, kernboodschap, belangrijkste thema, belangrijkste punt, belangrijkste onderwerp, \
          belangrijkste conclusie, welke thema, welke onderwerpen, terugkerende thema, terugkerend thema, \
          rode draad, grote lijn, grote lijnen, grote geheel, in het kort, kort samengevat, samengevat., \
          vergelijking",
        ),
        (
            NaturalLanguage::English,
            "summary, summaries, overview, main theme, main topic, main point, main idea, main subject, \
          main message, main argument, main takeaway, main conclusion, central theme, central idea, \
          central message, key point, key theme, key topic, key takeaway, key message, key idea, key finding, \
          overall message, overall theme, overall picture, overarching, gist., comparison, big picture, \
          bigger picture, which topics, what topics, which themes, what themes, which subjects, \
          what subjects, topics covered, topics that are covered, recurring theme, recurring topic, \
          themes recur, topics recur, common theme, common thread, this all about, it all about, \
          that all about, these all about, they all about, in a nutshell",
        ),
        (
            NaturalLanguage::French,
            "résumé, résumés, synthèse, vue d'ensemble, vue d’ensemble, aperçu, thèmes princip, thème princip, \
          principaux thème, principal thème, sujets princip, sujet princip, principaux sujet, \
          thèmes récurrent, thèmes abord, quels thèmes, quels sujets, quels sont les thèmes, \
          quels sont les sujets, idées princip, idée princip, principales idée, points princip, \
          principaux point, points clés, points essentiel, messages clés, grandes lignes, fil conducteur, \
          fil rouge, de quoi parle, de quoi traite, de quoi s'agit, de quoi s’agit, de quoi il s'agit, \
          de quoi il s’agit, de quoi est il question, en bref, comparaison, points communs",
        ),
        (
            NaturalLanguage::German,
            "zusammenfassung, zusammengefasst, überblick, übersicht, hauptthem, hauptpunkt, hauptaussage, \
          hauptinhalt, hauptgedanke, kernaussage, kernpunkt, kernthem, kernbotschaft, kerngedanke, \
          wichtigsten themen, wichtigsten punkte, wichtigsten aussagen, wichtigsten erkenntnisse, \
          wichtigsten inhalte, wichtigste im, zentrale them, zentralen them, zentrale aussage, \
          zentralen aussage, zentrale botschaft, rote faden, roter faden, roten faden, große ganze, \
          großen ganzen, große bild, gesamtbild, worum geht, wovon handel, wovon erzähl, welche themen, \
          was für themen, gemeinsame them, gemeinsamen them, wiederkehrende them, wiederkehrenden them, \
          vergleich., vergleichs.",
        ),
        (
            NaturalLanguage::Italian,
            "riassunto, riassunti, riepilogo, sintesi, panoramica, temi princip, tema princip, principali temi, \
          argomenti princip, argomento princip, principali argomenti, punti princip, principali punti, \
          punti chiave, idee princip, principali idee, messaggi chiave, quali temi, quali argomenti, \
          che temi, che argomenti, temi ricorrent, argomenti ricorrent, filo conduttore, filo rosso, \
          di cosa parla, di che cosa parla, di cosa tratta, di che cosa tratta, di cosa si tratta, in breve, \
          in poche parole, quadro generale, confronto, in comune",
        ),
        (
            NaturalLanguage::Korean,
            "요약, 개요, 주요 주제, 주요 내용, 핵심 내용, 핵심 주제, 핵심 요점, 요점, 어떤 주제, 무슨 주제, 전체적인 내용, 전반적인 내용, 큰 그림, 공통점, 무엇에 관한 글, \
          무엇에 관한 문서, 무엇에 관한 것, 비교",
        ),
        (
            NaturalLanguage::Polish,
            "podsumowani, streszczeni, przegląd, główne temat, główny temat, główne wątki, główny wątek, \
          główne punkty, główne tezy, główne myśli, główna myśl, najważniejsze punkty, najważniejsze tematy, \
          najważniejsze wnioski, kluczowe punkty, kluczowe tematy, jakie tematy, jakie wątki, \
          powtarzające się temat, motyw przewodni, myśl przewodnia, o czym jest, o czym są, o czym mówi, \
          o czym traktuje, w skrócie, w pigułce, ogólny obraz, porównani, wspólnego",
        ),
        (
            NaturalLanguage::Portuguese,
            "resumo, resumos, síntese, visão geral, temas princip, tema princip, principais tema, \
          assuntos princip, assunto princip, principais assunto, pontos princip, principais ponto, \
          pontos chave, ideias princip, ideia princip, principais ideia, mensagens chave, quais temas, \
          que temas, quais assuntos, que assuntos, quais são os temas, quais são os assuntos, \
          temas recorrent, assuntos recorrent, fio condutor, do que trata, de que trata, do que se trata, \
          de que se trata, do que fala, de que fala, sobre o que fala, em poucas palavras, quadro geral, \
          comparação, em comum",
        ),
        (
            NaturalLanguage::Russian,
            "обобщени, резюме, краткое содержание, краткий пересказ, обзор, основные темы, основная тема, \
          главные темы, главная тема, основные мысли, основная мысль, главные мысли, главная мысль, \
          ключевые темы, ключевые моменты, ключевые мысли, основные моменты, основные положения, \
          основные идеи, основная идея, главная идея, какие темы, какие вопросы рассматрив, \
          какие вопросы затраг, повторяющиеся темы, о чём речь, о чем речь, о чём идёт речь, о чем идет речь, \
          о чём говорится, о чем говорится, о чём эт, о чем эт, о чём рассказ, о чем рассказ, в двух словах, \
          общая картина, общую картину, сравнени, общего у, общего между",
        ),
        (
            NaturalLanguage::Spanish,
            "resumen, resúmenes, síntesis, visión general, visión de conjunto, panorama, temas princip, \
          tema princip, principales tema, puntos princip, principales punto, puntos clave, ideas princip, \
          idea princip, ideas clave, principales idea, mensajes clave, qué temas, cuáles temas, \
          cuáles son los temas, temas recurrent, hilo conductor, de qué trata, de qué tratan, de qué va, \
          de qué se trata, de qué habla, de qué hablan, en pocas palabras, panorama general, comparación, \
          en común",
        ),
        (
            NaturalLanguage::Turkish,
            "özet, genel bakış, ana tema, ana konu, ana fikir, ana nokta, başlıca konu, temel konu, temel nokta, \
          hangi konular, hangi konuları, hangi temalar, ortak nokta, ortak yön, ortak yan, büyük resim, \
          genel resim",
        ),
        (
            NaturalLanguage::Ukrainian,
            "підсумок, підсумки, узагальнен, резюме, стислий зміст, короткий зміст, огляд, основні теми, \
          основна тема, головні теми, головна тема, основні думки, основна думка, головна думка, \
          головні думки, ключові теми, ключові моменти, основні ідеї, головна ідея, які теми, \
          які питання розгляд, про що йдеться, про що мова, про що йде мова, про що ці, про що цей, \
          про що ця, про що це, двома словами, загальна картина, загальну картину, порівнянн, спільного",
        ),
    ],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "摘要, 主要内容, 主要內容, 主题是, 主題是, 主要主题, 主要主題, 哪些主题, 哪些主題, 什么主题, 什麼主題, 哪些话题, 哪些話題, 主要观点, 主要觀點, 要点, 要點, 中心思想, \
          讲了什么, 講了什麼, 讲的是什么, 講的是什麼, 讲什么, 講什麼, 关于什么, 關於什麼, 整体内容, 整體內容, 共同点, 共同點, 比较, 比較",
        ),
        (
            NaturalLanguage::Japanese,
            "要約, まとめ, 概要, 主なテーマ, 主題, 要点, 比較, どんなテーマ, どのようなテーマ, どんな話題, どのような話題, 何についての, 何について書, 全体像, 共通点, あらすじ, \
          主な論点, 主な内容",
        ),
    ],
};

/// What a question for the whole ends with.
pub(super) const ENDS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::Dutch,
            "gaat dit over., gaat het over., gaat dat over., document over., documenten over., tekst over., \
          teksten over., handboek over., verslag over., boek over., allemaal over., eigenlijk over.",
        ),
        (
            NaturalLanguage::English,
            "this about., these about., it about., that about., document about., documents about., text about., \
          texts about., report about., reports about., book about., books about., page about., pages about., \
          file about., files about., handbook about., manual about., article about., articles about., \
          paper about., papers about., contract about., notes about., chapter about., section about., \
          collection about., corpus about., all about., have in common.",
        ),
        (NaturalLanguage::Turkish, "ne hakkında., neyle ilgili., ne anlatıyor., neden bahsediyor."),
    ],
    unspaced: &[],
};

/// What asks for the whole in Italian, Portuguese and Spanish and in no other language: requests that are so short do not tell
/// their language, and are read as English then.
pub(super) const SHORT: Phrases = Phrases {
    spaced: &[(
        NaturalLanguage::English,
        "riassumi., riassumere., riassunto, riepiloga, di cosa parla, di cosa tratta, resuma., resumir., resume o., resume os., \
         resume el., resume la., resume los., resumo., resumen., síntesis, do que trata, de que trata, de qué trata, que temas, \
         temas princip",
    )],
    unspaced: &[],
};

/// Words that ask for a fact where they stand before those for the whole: "Who wrote the summary?"
///
/// Words that ask for a thing ("what", "which", "welche") are left out, as they ask for themes, too. All words that ask are in
/// `text::function_word`.
pub(super) const FACTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Arabic, "متى, أين, لماذا"),
        (NaturalLanguage::Dutch, "wie., wanneer., waar., waarom., hoe."),
        (
            NaturalLanguage::English,
            "who., whom., whose., when., where., why., how do., how does., how did., how can i, how can we, how should, how is., how are., how was., how were., how to., how will, how has, how have",
        ),
        (NaturalLanguage::French, "qui., quand., où., pourquoi., comment."),
        (
            NaturalLanguage::German,
            "wer., wem., wen., wessen., wann., wo., woher., wohin., warum., weshalb., wieso., wie.",
        ),
        (NaturalLanguage::Italian, "chi., quando., dove., perché., come."),
        (NaturalLanguage::Korean, "누가, 누구, 언제, 어디, 왜, 어떻게"),
        (NaturalLanguage::Polish, "kto., komu., kogo., kiedy., gdzie., dlaczego., skąd., jak."),
        (NaturalLanguage::Portuguese, "quem., quando., onde., como., por que."),
        (
            NaturalLanguage::Russian,
            "кто., кому., кого., когда., где., куда., почему., зачем., как.",
        ),
        (NaturalLanguage::Spanish, "quién., quiénes., cuándo., dónde., cómo., por qué."),
        (
            NaturalLanguage::Turkish,
            "kim., kime., kimin., ne zaman, nerede, nereye, nereden, niçin., nasıl.",
        ),
        (NaturalLanguage::Ukrainian, "хто., кому., кого., коли., де., куди., чому., як."),
    ],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "谁, 誰, 什么时候, 什麼時候, 何时, 何時, 哪里, 哪裡, 为什么, 為什麼, 怎么, 怎麼",
        ),
        (NaturalLanguage::Japanese, "誰, だれ, いつ, どこ, なぜ, どうして"),
    ],
};

/// Words that ask for a number or a time, wherever they stand: "In the summary of charges, how much is the fee?" In languages
/// whose verbs stand last, words for other facts, too.
pub(super) const AMOUNTS: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::Arabic, "كم."),
        (
            NaturalLanguage::Dutch,
            "hoeveel., hoelang., hoe lang, hoe vaak, hoe oud, hoe duur, hoe hoog, hoe groot",
        ),
        (
            NaturalLanguage::English,
            "how much, how many, how long, how often, how old, how high, how large, how big, how far, how late, \
          how soon, what time, which date, what date",
        ),
        (NaturalLanguage::French, "combien., à quelle heure, quel âge, quelle date"),
        (
            NaturalLanguage::German,
            "wie viel, wieviel, wie lange, wie oft, wie hoch, wie groß, wie teuer, wie alt, wie weit, \
          was kostet, um wie",
        ),
        (NaturalLanguage::Italian, "quanto., quanta., quanti., quante., a che ora"),
        (NaturalLanguage::Korean, "몇, 얼마, 누가, 누구, 언제, 어디, 왜"),
        (NaturalLanguage::Polish, "ile., ilu., jak długo, jak często, o której"),
        (NaturalLanguage::Portuguese, "quanto., quanta., quantos., quantas., a que horas"),
        (NaturalLanguage::Russian, "сколько., как долго, как часто, во сколько"),
        (NaturalLanguage::Spanish, "cuánto., cuánta., cuántos., cuántas., a qué hora"),
        (
            NaturalLanguage::Turkish,
            "kaç., kaça., ne kadar, kim., kime., kimin., ne zaman, nerede, nereye, nereden",
        ),
        (NaturalLanguage::Ukrainian, "скільки., як довго, як часто, о котрій"),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "多少, 几个, 幾個, 几天, 幾天, 多久, 多长, 多長"),
        (
            NaturalLanguage::Japanese,
            "いくら, いくつ, 何人, 何日, 何時, 何円, 何年, 誰, だれ, いつ, どこ, なぜ",
        ),
    ],
};
