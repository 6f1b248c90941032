//! Words that a question for the whole is made with, whatever it is about, by language.

use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;

/// Words that ask for the whole, or that any text can be called by, as words of texts are compared: beginnings of words, and
/// whole words before a full stop.
pub(super) const OF_ANY_TEXT: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::Arabic,
            "لخص, تلخيص, ملخص, خلاصه, قارن, مقارنه, فرق., اوجز, اختصر, فكره., افكار., نقاط., نقطه., اهم., \
             رئيسيه., رئيسي., نظره., عامه., عام., مواضيع., موضوعات., موضوع., صوره., قواسم., مشتركه., باختصار., \
             يتحدث., تتحدث., يتناول, تتناول, نص., نصوص., مستند, وثيقه., وثائق., تقرير., تقارير., دليل., كتاب., \
             كتب., صفحه., صفحات., ملف., ملفات., مقال, فصل., فصول., قسم., اقسام., محتوي., محتويات., معلومات., \
             قواعد., قاعده., احكام., لوائح., عم., عما., ماذا.",
        ),
        (
            NaturalLanguage::Dutch,
            "samen., samenvat, samengevat., vat., overzicht, vergelijk, verschil, overeenkomst., \
             overeenkomsten., gemeen., gemeenschappelijk, geef., toon., laat., zien., zeg., schrijf., maak., \
             beschrijf., leg., gaat., gaan., behandel, komen., komt., staat., staan., bod., terugker, kort., \
             korte., kortom., hele., heel., geheel., alle., alles., allemaal., eigenlijk., belangrijk, \
             hoofdthema, hoofdpunt, hoofdonderwerp, hoofdgedacht, hoofdboodschap, kern., kernpunt, \
             kernboodschap, centraal., centrale., essenti, grote., lijn., lijnen., rode., draad., thema, \
             onderwerp, punt., punten., idee., ideeën., boodschap, document, tekst., teksten., handboek, \
             handleiding, gids., boek., boeken., verslag., verslagen., rapport., rapporten., pagina, bestand, \
             artikel., artikelen., hoofdstuk, sectie, deel., delen., notitie, inhoud., informatie., regel., \
             regels., twee., beide., alsjeblieft., alstublieft., kun., kunt., je., u., even., graag., wil., \
             mij.",
        ),
        (
            NaturalLanguage::English,
            "summar, overview, sum., recap., recapitulate., tl., dr., tldr., condense., boil., down., compare., \
             compares., comparing., comparison, contrast., differ., differs., difference, different., similar., \
             similarit, common., share., shares., gist., nutshell., give., show., tell., write., make., create., \
             provide., list., describe., describes., explain., outline., discuss., discusses., cover., covers., \
             covered., mention., mentions., say., says., said., contain., contains., deal., deals., concern., \
             concerns., concerning., regarding., related., relating., relate., recur., recurs., recurring., \
             come., comes., appear., appears., need., know., want., like., please., short., shortly., brief., \
             briefly., quick., quickly., concise., detail., details., detailed., complete., entire., whole., \
             full., every., main., key., central., core., major., important., principal., essential, crucial., \
             overall., overarching., general., generally., big., bigger., picture., theme, topic, subject., \
             subjects., point., points., idea., ideas., message., messages., argument., arguments., takeaway, \
             conclusion, finding., findings., aspect., aspects., thread., issue., issues., document., \
             documents., documentation., text., texts., handbook, manual., manuals., guide., guides., book., \
             books., report., reports., page., pages., file., files., article., articles., paper., papers., \
             chapter., chapters., section., sections., part., parts., passage., passages., paragraph, note., \
             notes., record., records., entry., entries., row., rows., corpus., collection., content., \
             contents., material., materials., information., info., data., dataset., knowledge., base., source., \
             sources., rule., rules., regulation., regulations., policy., policies., provision., provisions., \
             guideline, two., three., both., up., us., let., everything., anything., something., here., just., \
             now., also., actually., yourself., sentences., words., few., bullet., bullets.",
        ),
        (
            NaturalLanguage::French,
            "résum, synthès, synthét, aperçu, récapitul, compar, différen, diffère., commun., communs., \
             commune., ressembl, donne., donnez., donner., montre., montrez., dis., dites., écri, fais., \
             faites., décri, expliqu, parle., parlent., traite., traitent., agit., question., aborde., abordé, \
             abordent., concern, évoqu, revien, récurrent, court., courte., bref., brève., brièvement., tout., \
             toute., tous., toutes., ensemble., princip, essentiel, important, clé., clés., central, grand., \
             grande., grandes., grands., ligne., lignes., fil., conducteur., rouge., vue., thème, sujet., \
             sujets., idée., idées., point., points., message., messages., document., documents., texte., \
             textes., manuel., manuels., guide., guides., livre., livres., rapport., rapports., page., pages., \
             fichier, article., articles., chapitre, section., sections., partie., parties., note., notes., \
             contenu, information, règle., règles., règlement, disposition, deux., plaît., svp., pouvez., \
             pourriez., peux., pourrais., pourrait., veux., voudrais., aimerais., tu., là.",
        ),
        (
            NaturalLanguage::German,
            "fasse., fassen., fass., fasst., zusammen., zusammenfass, zusammenzufassen., zusammengefasst, \
             überblick., übersicht, vergleich., vergleiche., vergleichen., vergleichs., verglichen., \
             unterschied, unterscheid, gemeinsam, ähnlich, ähneln., gleichen., gib., gebe., geben., verschaff, \
             zeig, sag., sage., sagen., nenn, schreib., mach., mache., machen., erstell, beschreib., erklär., \
             erkläre., erläuter, handel., handelt., geht., worum., wovon., kommen., kommt., vorkomm, behandel, \
             erzähl, steht., stehen., bitte., kurz., kurze., kurzen., kurzer., knapp., ganz., ganze., ganzen., \
             ganzes., gesamt., gesamte., gesamten., gesamtes., insgesamt., alle., allen., aller., alles., \
             wichtig, hauptthem, hauptpunkt, hauptaussage, hauptinhalt, hauptgedank, kernaussage, kernpunkt, \
             kernthem, kernbotschaft, kerngedank, zentral., zentrale., zentralen., wesentlich, wiederkehrend, \
             thema., themas., themen., punkt., punkte., punkten., aussage., aussagen., idee., ideen., \
             botschaft., botschaften., erkenntnis, inhalt., inhalte., inhalts., inhalten., aspekt, roter., \
             roten., rote., faden., groß., große., großen., bild., gesamtbild., dokument., dokumente., \
             dokumenten., dokuments., dokumentation., text., texte., texten., textes., handbuch, handbüch, \
             anleitung., buch., buches., buchs., bücher., büchern., bericht., berichte., berichten., berichts., \
             seite., seiten., datei., dateien., artikel., artikels., artikeln., kapitel., kapitels., kapiteln., \
             abschnitt, absatz., absätze., teil., teile., teilen., teils., notiz., notizen., eintrag., \
             einträge., regel., regeln., regelung, vorschrift., vorschriften., bestimmung., bestimmungen., \
             richtlinie., richtlinien., angaben., information, sammlung., unterlage., unterlagen., daten., \
             beide., beiden., zwei., drei., mal., kannst., könntest., könnten., würdest., würden., möchte., du., \
             doch., eigentlich., vorhanden., gibst.",
        ),
        (
            NaturalLanguage::Italian,
            "riassum, riassunt, riepilog, sintesi., sintetizz, panoramica., confront, paragon, differen, \
             comune., simil, dammi., dimmi., fammi., mostra., scriv, descriv, spieg, parla., parlano., tratta., \
             trattano., tratti., riguard, ricorr, breve., brevemente., tutto., tutta., tutti., tutte., insieme., \
             quadro., generale., princip, important, essenzial, chiave., central, tema., temi., argoment, \
             punto., punti., idea., idee., messaggio., messaggi., filo., conduttore., document, testo., testi., \
             manuale., manuali., guida., guide., libro., libri., rapporto., rapporti., relazione., relazioni., \
             pagina., pagine., file., articol, capitol, sezion, parte., parti., nota., note., contenut, \
             informazion, regola., regole., regolament, norma., norme., due., entrambi., favore., cosa., puoi., \
             potresti., potrebbe., vorrei., voglio., insomma.",
        ),
        (
            NaturalLanguage::Korean,
            "요약, 개요, 비교, 정리해, 정리하, 주요, 핵심, 주제, 요점, 내용, 전체, 전반, 큰., 그림., 그림은., 공통, 차이, 문서, 글., 글의., 글은., 텍스트, \
             안내서, 설명서, 매뉴얼, 핸드북, 책., 책을., 책의., 보고서, 페이지, 파일, 기사., 부분., 메모., 정보., 규칙, 규정, 다루, 다룹, 해주, 주세요., 알려, \
             말해, 설명해, 짧게., 간단히., 두., 모두., 어떤., 관한., 대한., 무엇",
        ),
        (
            NaturalLanguage::Polish,
            "podsum, streś, streszcz, przegląd, porówn, różni, wspóln, podobi, podaj., daj., opisz., wyjaśn, \
             napisz., powiedz., dotycz, mówi., mówią., mowa., traktuje., powtarz, pojawia, porusza, krótk, \
             cały., cała., całe., całego., całość., całości., wszystk, główn, najważniejsz, ważn, kluczow, \
             central, ogóln, temat, wątek., wątki., wątków., punkt., punkty., punktów., tezy., teza., myśl., \
             myśli., wniosek., wnioski., obraz., dokument, tekst., teksty., tekstu., tekstach., tekstów., \
             podręcznik, instrukcj, książk, raport, strona., strony., stronę., stron., plik., pliki., pliku., \
             artykuł, rozdział, sekcj, część., części., notat, treść., treści., informacj, zasada., zasady., \
             zasad., reguł, przepisy., przepisów., dwa., dwie., dwóch., oba., obie., proszę., możesz., mógłbyś., \
             chcę., chciałbym., mi., ogólnie.",
        ),
        (
            NaturalLanguage::Portuguese,
            "resum, síntese., sintetiz, visão., geral., compar, diferenç, comum., semelh, dê., dá., diga., \
             faça., mostra., mostre., escrev, descrev, explique., explica., trata., tratam., fala., falam., \
             aborda, aparec, recorr, breve., brevemente., curto., curta., todo., toda., todos., todas., \
             conjunto., princip, important, essencia, chave., central., centrais., tema., temas., assunto, \
             ponto., pontos., ideia., ideias., mensagem., mensagens., fio., condutor., document, texto., \
             textos., manual., manuais., guia., guias., livro., livros., relatório, página, ficheiro, arquivo., \
             arquivos., artigo., artigos., capítulo, seção., seções., parte., partes., nota., notas., conteúdo, \
             informação., informações., regra., regras., norma., normas., dois., duas., ambos., favor., podes., \
             poderia., você., vocês., quero., queria., me.",
        ),
        (
            NaturalLanguage::Russian,
            "обобщ, резюм, подытож, перескаж, пересказ, суммируй, краткое., краткий., кратко., обзор, сравн, \
             отлич, различ, разниц, общее., общего., общая., общую., общие., общем., схож, дай., дайте., скажи., \
             скажите., опиши., объясни., покажи., напиши., говор, речь., идёт., идет., рассказ, рассматрив, \
             затраг, повторя, встреча, весь., всё., все., всего., всех., целом., основн, главн, ключев, важн, \
             центральн, тема., темы., тему., теме., тем., темам., темах., вопрос., вопросы., мысль., мысли., \
             мыслей., идея., идеи., идею., идей., момент., моменты., положения., положений., пункт, вывод, \
             картин, слов., словах., двух., два., две., оба., обе., содержани, документ, текст, руководств, \
             справочник, учебник, книг, отчёт, отчет, страниц, файл, статья., статьи., статье., статью., \
             статей., глава., главы., главу., главе., глав., раздел, часть., части., заметк, запис, информаци, \
             правил, норма., нормы., норм., пожалуйста., можешь., можете., \
             хочу., хотелось., здесь., тут., чём., нём., этой., этих.",
        ),
        (
            NaturalLanguage::Spanish,
            "resum, resúm, síntesis, sintetiz, panorama., visión., general., compar, diferenci, común., parec, \
             similitud, da., dame., dime., haz., muestra., muéstrame., escrib, describ, explica., explique., \
             trata., tratan., habla., hablan., aborda, contien, recurr, breve., brevemente., corto., corta., \
             todo., toda., todos., todas., conjunto., princip, important, esencial, clave., claves., central., \
             centrales., tema., temas., asunto., asuntos., punto., puntos., idea., ideas., mensaje., mensajes., \
             hilo., conductor., documento, texto., textos., manual., manuales., guía., guías., libro., libros., \
             informe., informes., página, archivo., archivos., fichero, artículo., artículos., capítulo, \
             sección., secciones., parte., partes., nota., notas., contenido, información., regla., reglas., \
             norma., normas., dos., ambos., favor., puedes., podrías., podría., quiero., quisiera., me.",
        ),
        (
            NaturalLanguage::Turkish,
            "özet, genel., bakış., karşılaştır, fark., farkı., farklar, benzer, ortak., nokta, yön., yönler, \
             ver., verin., göster., söyle., yaz., anlat, açıkla, hakkında., ilgili., bahse, ele., alın, geçen., \
             kısa., kısaca., bütün., tüm., hepsi., ana., temel., önemli., başlıca., konu., konular, konuları., \
             konuyu., konusu., tema., temalar, temaları., fikir., fikri., fikirler, mesaj., resim., resmi., \
             belge, metin., metinde., metinler, metni., kılavuz, kitap., kitabı., kitaplar, rapor, sayfa, dosya, \
             makale, bölüm, kısım., kısmı., notlar, içerik., içeriğ, bilgi., bilgiler, kural., kurallar, iki., \
             her., lütfen., arasındaki., misin., verebilir., yapabilir., eder., bana.",
        ),
        (
            NaturalLanguage::Ukrainian,
            "підсум, узагальн, резюм, перекаж, стисл, коротк, огляд, порівн, відрізня, різниц, спільн, схож, \
             дай., дайте., скажи., скажіть., опиши., поясни., покажи., напиши., йдеться., мова., йде., \
             розповіда, розгляда, повторю, трапля, весь., все., усе., всі., всіх., загалом., загальна., \
             загальну., основн, головн, ключов, важлив, центральн, тема., теми., тему., тем., темах., питан, \
             думка., думки., думок., ідея., ідеї., ідей., момент, положен, пункт, виснов, картин, словами., \
             двома., два., дві., обидва., обидві., зміст., змісту., документ, текст, посібник, довідник, \
             підручник, книг, звіт, сторін, файл, статт, розділ, частин, нотат, запис, інформаці, правил, \
             норма., норми., норм., будь., ласка., можеш., можете., хочу., тут., про., що., \
             цей., ця., це., ці., цього., цих., цьому., цій., цієї., яких.",
        ),
    ],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "请, 請, 帮我, 幫我, 给我, 給我, 一下, 总结, 總結, 概括, 概述, 摘要, 归纳, 歸納, 主要内容, 主要內容, 主要观点, 主要觀點, 中心思想, 主要, 主题, 主題, 话题, \
             話題, 要点, 要點, 整体, 整體, 内容, 內容, 比较, 比較, 对比, 對比, 区别, 區別, 共同点, 共同點, 异同, 異同, 不同, 涉及, 讲了, 講了, 讲的, 講的, 讲什么, \
             講什麼, 关于, 關於, 有关, 有關, 规定, 規定, 规则, 規則, 这份, 這份, 这些, 這些, 这个, 這個, 这本, 這本, 文件, 文档, 文檔, 文章, 文本, 文献, 文獻, \
             手册, 手冊, 说明书, 說明書, 报告, 報告, 页面, 頁面, 章节, 章節, 所有, 全部, 两个, 兩個, 两份, 兩份, 有哪些, 有什么, 有什麼, 哪些, 什么, 什麼",
        ),
        (
            NaturalLanguage::Japanese,
            "要約, まとめ, 概要, 主な, テーマ, 主題, 要点, 論点, 全体像, 全体, 内容, 比較, 共通点, 違い, 話題, に関する, について, 規則, 規定, ルール, 文書, 文章, \
             書類, テキスト, マニュアル, ハンドブック, 手引き, レポート, 報告書, ページ, ファイル, 記事, 全て, 二つ, 教えて, 説明, 書かれ, 出て, 扱",
        ),
    ],
};
