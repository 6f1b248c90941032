//! # announcement: does this sentence only say what comes next?
//!
//! ```text
//! "Let's look at how a pump is primed." → yes: how that is done stands below it
//! ```
//!
//! Such a sentence repeats the words of the question and answers nothing. It is told by its first words, in the languages
//! of the table.

use crate::text::language::NaturalLanguage;
use crate::text::line::ends_with_colon;
use crate::text::phrase::Phrases;

/// By what a sentence shows that it only says what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnnouncedBy {
    /// It tells readers so.
    Words,
    /// Nothing but the colon at its end, which may stand before what was cut off.
    Colon,
    /// It says that something is said elsewhere.
    Reference,
}

/// Whether `sentence` tells readers what they are about to read or do, and no more.
pub(super) fn is_announcement(sentence: &str) -> bool {
    ANNOUNCEMENTS.begin(sentence)
}

/// Whether what follows `text` belongs to it.
pub(super) fn announces(text: &str) -> bool {
    announced_by(text).is_some()
}

/// By what `text` shows that what follows belongs to it, if it does.
pub(super) fn announced_by(text: &str) -> Option<AnnouncedBy> {
    match is_announcement(text) {
        true => Some(AnnouncedBy::Words),
        false => ends_with_colon(text).then_some(AnnouncedBy::Colon),
    }
}

/// Whether `text` before a list is part of it: it ends with a colon, or, in a script with capitals, does not end at all ("It is
/// restarted if").
pub(super) fn announces_list(text: &str) -> bool {
    let last = text.trim_end_matches(['`', '*', '_']).chars().next_back();
    announces(text) || last.is_some_and(|c| c == ',' || c.is_lowercase() || c.is_ascii_digit())
}

/// With what such sentences begin: whole words, with the verb that shows something, since "Let us know" asks for an answer,
/// "In this section, …" defines a term of a law, and "We will repay it" promises. "Let's" is "let" without the possessive, so a
/// verb follows it here: "Let's Encrypt" is a name, and "let the pump cool" a step.
const ANNOUNCEMENTS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "let. look. at., let. see. how., let. see. what., let. take. a. look., let. start. with., let. begin. with., \
             let. explore., let. dive., let. walk. through., let. talk. about., let. turn. to., let. examine., \
             let. discuss., let. consider., let. now. look., let. now. see., let. now. turn. to., let. first. look., \
             let. first. see., let. us. look. at., let. us. see. how., let. us. take. a. look., let. us. start. with., \
             let. us. begin. with., let. us. explore., let. us. dive., let. us. walk. through., let. us. talk. about., \
             let. us. turn. to., let. us. examine., let. us. discuss., let. us. consider., let. us. now. look., \
             let. us. now. see., let. us. now. turn. to., let. us. first. look., let. us. first. see., let. us. see. what., \
             now. let. look., now. let. see., in. this. section. we. will., in. this. section. we'll., \
             in. this. section. we’ll., in. this. section. you. will., in. this. section. you'll., \
             in. this. section. you’ll., in. this. chapter. we. will., in. this. chapter. we'll., in. this. chapter. we’ll., \
             in. this. chapter. you. will., in. this. chapter. you'll., in. this. chapter. you’ll., \
             in. this. guide. we. will., in. this. guide. we'll., in. this. guide. we’ll., in. this. guide. you. will., \
             in. this. guide. you'll., in. this. guide. you’ll., in. this. tutorial. we. will., in. this. tutorial. we'll., \
             in. this. tutorial. we’ll., in. this. tutorial. you. will., in. this. tutorial. you'll., \
             in. this. tutorial. you’ll., in. this. article. we. will., in. this. article. we'll., \
             in. this. article. we’ll., in. this. article. you. will., in. this. article. you'll., \
             in. this. article. you’ll., in. this. lesson. we. will., in. this. lesson. we'll., in. this. lesson. we’ll., \
             in. this. lesson. you. will., in. this. lesson. you'll., in. this. lesson. you’ll., this. section. describes., \
             this. section. explains., this. section. shows., this. chapter. describes., this. chapter. explains., \
             this. chapter. covers., this. page. describes., this. page. explains., this. page. shows., \
             this. guide. describes., this. guide. explains., this. guide. shows., this. guide. covers., \
             this. tutorial. shows., this. tutorial. explains., we. will. look. at., we'll. look. at., we’ll. look. at., \
             we. will. see. how., we'll. see. how., we’ll. see. how., we. will. now. look., we'll. now. look., \
             we’ll. now. look., we. will. now. see., we'll. now. see., we’ll. now. see., you. will. learn., you'll. learn., \
             you’ll. learn.",
        ),
        (
            NaturalLanguage::German,
            "schauen. wir. uns., schauen. wir. nun., sehen. wir. uns., werfen. wir. einen. blick., werfen. wir. nun., \
             betrachten. wir. nun., betrachten. wir. zunächst., nun. schauen. wir., nun. sehen. wir., nun. betrachten. wir., \
             lass. uns. einen. blick., lasst. uns. einen. blick., lassen. sie. uns. einen. blick., \
             in. diesem. abschnitt. erfahren., in. diesem. abschnitt. lernen., in. diesem. abschnitt. zeigen. wir., \
             in. diesem. abschnitt. erklären. wir., in. diesem. abschnitt. beschreiben. wir., \
             in. diesem. abschnitt. geht. es., in. diesem. abschnitt. sehen. wir., in. diesem. abschnitt. werden. wir., \
             in. diesem. kapitel. erfahren., in. diesem. kapitel. lernen., in. diesem. kapitel. zeigen. wir., \
             in. diesem. kapitel. erklären. wir., in. diesem. kapitel. beschreiben. wir., in. diesem. kapitel. geht. es., \
             in. diesem. kapitel. sehen. wir., in. diesem. kapitel. werden. wir., in. dieser. anleitung. erfahren., \
             in. dieser. anleitung. lernen., in. dieser. anleitung. zeigen. wir., in. dieser. anleitung. erklären. wir., \
             in. dieser. anleitung. beschreiben. wir., in. dieser. anleitung. geht. es., in. dieser. anleitung. sehen. wir., \
             in. dieser. anleitung. werden. wir., in. diesem. artikel. erfahren., in. diesem. artikel. lernen., \
             in. diesem. artikel. zeigen. wir., in. diesem. artikel. erklären. wir., in. diesem. artikel. beschreiben. wir., \
             in. diesem. artikel. geht. es., in. diesem. artikel. sehen. wir., in. diesem. artikel. werden. wir., \
             dieser. abschnitt. beschreibt., dieser. abschnitt. erklärt., dieser. abschnitt. zeigt., \
             dieses. kapitel. beschreibt., dieses. kapitel. erklärt., dieses. kapitel. zeigt., diese. seite. beschreibt., \
             diese. seite. erklärt., diese. seite. zeigt., diese. anleitung. beschreibt., diese. anleitung. erklärt., \
             diese. anleitung. zeigt., wir. werden. sehen., wir. werden. uns. ansehen., wir. werden. nun. sehen.",
        ),
        (
            NaturalLanguage::French,
            "voyons., regardons., examinons., explorons., commençons. par., intéressons. nous., jetons. un. coup., \
             dans. cette. section. nous. allons., dans. cette. section. nous. verrons., \
             dans. cette. section. vous. apprendrez., dans. cette. section. vous. découvrirez., \
             dans. ce. chapitre. nous. allons., dans. ce. chapitre. nous. verrons., dans. ce. chapitre. vous. apprendrez., \
             dans. ce. chapitre. vous. découvrirez., dans. ce. guide. nous. allons., dans. ce. guide. nous. verrons., \
             dans. ce. guide. vous. apprendrez., dans. ce. guide. vous. découvrirez., dans. cette. page. nous. allons., \
             dans. cette. page. nous. verrons., dans. cette. page. vous. apprendrez., dans. cette. page. vous. découvrirez., \
             dans. cet. article. nous. allons., dans. cet. article. nous. verrons., dans. cet. article. vous. apprendrez., \
             dans. cet. article. vous. découvrirez., dans. ce. tutoriel. nous. allons., dans. ce. tutoriel. nous. verrons., \
             dans. ce. tutoriel. vous. apprendrez., dans. ce. tutoriel. vous. découvrirez., nous. allons. voir., \
             nous. allons. examiner., nous. allons. découvrir., nous. allons. apprendre., nous. allons. maintenant. voir., \
             nous. verrons. comment., cette. section. décrit., cette. section. explique., cette. page. décrit., \
             cette. page. explique., ce. guide. décrit., ce. guide. explique., ce. chapitre. décrit., \
             ce. chapitre. explique.",
        ),
        (
            NaturalLanguage::Spanish,
            "veamos., echemos. un. vistazo., empecemos. por., empecemos. con., comencemos. por., comencemos. con., \
             en. esta. sección. veremos., en. esta. sección. vamos. a., en. esta. sección. aprenderá., \
             en. esta. sección. aprenderás., en. esta. sección. explicaremos., en. este. capítulo. veremos., \
             en. este. capítulo. vamos. a., en. este. capítulo. aprenderá., en. este. capítulo. aprenderás., \
             en. este. capítulo. explicaremos., en. esta. guía. veremos., en. esta. guía. vamos. a., \
             en. esta. guía. aprenderá., en. esta. guía. aprenderás., en. esta. guía. explicaremos., \
             en. este. artículo. veremos., en. este. artículo. vamos. a., en. este. artículo. aprenderá., \
             en. este. artículo. aprenderás., en. este. artículo. explicaremos., en. esta. página. veremos., \
             en. esta. página. vamos. a., en. esta. página. aprenderá., en. esta. página. aprenderás., \
             en. esta. página. explicaremos., esta. sección. describe., esta. sección. explica., este. capítulo. describe., \
             este. capítulo. explica., esta. página. describe., esta. página. explica., vamos. a. ver., vamos. a. explorar., \
             vamos. a. examinar., vamos. a. empezar.",
        ),
        (
            NaturalLanguage::Italian,
            "vediamo. come., vediamo. ora., vediamo. cosa., vediamo. un., vediamo. quali., diamo. un'occhiata., \
             diamo. un’occhiata., esaminiamo. ora., esaminiamo. come., cominciamo. con., cominciamo. da., cominciamo. dal., \
             in. questa. sezione. vedremo., in. questa. sezione. impareremo., in. questa. sezione. imparerai., \
             in. questa. sezione. spiegheremo., in. questo. capitolo. vedremo., in. questo. capitolo. impareremo., \
             in. questo. capitolo. imparerai., in. questo. capitolo. spiegheremo., in. questa. guida. vedremo., \
             in. questa. guida. impareremo., in. questa. guida. imparerai., in. questa. guida. spiegheremo., \
             in. questa. pagina. vedremo., in. questa. pagina. impareremo., in. questa. pagina. imparerai., \
             in. questa. pagina. spiegheremo., questa. sezione. descrive., questa. sezione. spiega., \
             questo. capitolo. descrive., questo. capitolo. spiega., questa. pagina. descrive., questa. pagina. spiega.",
        ),
        (
            NaturalLanguage::Portuguese,
            "vejamos., vamos. ver., vamos. dar. uma. olhada., vamos. começar. por., vamos. começar. com., \
             nesta. seção. veremos., nesta. seção. vamos., nesta. seção. aprenderá., nesta. seção. você. aprenderá., \
             nesta. seção. explicaremos., nesta. secção. veremos., nesta. secção. vamos., nesta. secção. aprenderá., \
             nesta. secção. você. aprenderá., nesta. secção. explicaremos., neste. capítulo. veremos., \
             neste. capítulo. vamos., neste. capítulo. aprenderá., neste. capítulo. você. aprenderá., \
             neste. capítulo. explicaremos., neste. guia. veremos., neste. guia. vamos., neste. guia. aprenderá., \
             neste. guia. você. aprenderá., neste. guia. explicaremos., nesta. página. veremos., nesta. página. vamos., \
             nesta. página. aprenderá., nesta. página. você. aprenderá., nesta. página. explicaremos., \
             esta. seção. descreve., esta. seção. explica., esta. secção. descreve., esta. secção. explica., \
             este. capítulo. descreve., este. capítulo. explica., esta. página. descreve., esta. página. explica.",
        ),
        (
            NaturalLanguage::Dutch,
            "laten. we. eens., laten. we. kijken., laten. we. nu. kijken., laten. we. beginnen. met., \
             laat. ons. eens. kijken., in. deze. sectie. bekijken. we., in. deze. sectie. leert. u., \
             in. deze. sectie. leer. je., in. deze. sectie. leggen. we., in. deze. sectie. laten. we., \
             in. deze. sectie. zullen. we., in. dit. hoofdstuk. bekijken. we., in. dit. hoofdstuk. leert. u., \
             in. dit. hoofdstuk. leer. je., in. dit. hoofdstuk. leggen. we., in. dit. hoofdstuk. laten. we., \
             in. dit. hoofdstuk. zullen. we., in. deze. paragraaf. bekijken. we., in. deze. paragraaf. leert. u., \
             in. deze. paragraaf. leer. je., in. deze. paragraaf. leggen. we., in. deze. paragraaf. laten. we., \
             in. deze. paragraaf. zullen. we., in. deze. handleiding. bekijken. we., in. deze. handleiding. leert. u., \
             in. deze. handleiding. leer. je., in. deze. handleiding. leggen. we., in. deze. handleiding. laten. we., \
             in. deze. handleiding. zullen. we., deze. sectie. beschrijft., dit. hoofdstuk. beschrijft., \
             deze. pagina. beschrijft.",
        ),
        (
            NaturalLanguage::Russian,
            "давайте. рассмотрим., давайте. посмотрим., давайте. разберём., давайте. разберем., давайте. разберёмся., \
             давайте. разберемся., рассмотрим. как., рассмотрим. теперь., рассмотрим. пример., рассмотрим. подробнее., \
             посмотрим. как., посмотрим. что., посмотрим. на., в. этом. разделе. мы. рассмотрим., \
             в. этом. разделе. мы. расскажем., в. этом. разделе. вы. узнаете., в. этом. разделе. описано., \
             в. этом. разделе. описывается., в. этом. разделе. описываются., в. этом. разделе. рассматривается., \
             в. этом. разделе. рассматриваются., в. этом. разделе. рассказывается., в. этой. главе. мы. рассмотрим., \
             в. этой. главе. мы. расскажем., в. этой. главе. вы. узнаете., в. этой. главе. описано., \
             в. этой. главе. описывается., в. этой. главе. описываются., в. этой. главе. рассматривается., \
             в. этой. главе. рассматриваются., в. этой. главе. рассказывается., в. этом. руководстве. мы. рассмотрим., \
             в. этом. руководстве. мы. расскажем., в. этом. руководстве. вы. узнаете., в. этом. руководстве. описано., \
             в. этом. руководстве. описывается., в. этом. руководстве. описываются., в. этом. руководстве. рассматривается., \
             в. этом. руководстве. рассматриваются., в. этом. руководстве. рассказывается., \
             в. этой. статье. мы. рассмотрим., в. этой. статье. мы. расскажем., в. этой. статье. вы. узнаете., \
             в. этой. статье. описано., в. этой. статье. описывается., в. этой. статье. описываются., \
             в. этой. статье. рассматривается., в. этой. статье. рассматриваются., в. этой. статье. рассказывается., \
             в. данном. разделе. мы. рассмотрим., в. данном. разделе. мы. расскажем., в. данном. разделе. вы. узнаете., \
             в. данном. разделе. описано., в. данном. разделе. описывается., в. данном. разделе. описываются., \
             в. данном. разделе. рассматривается., в. данном. разделе. рассматриваются., \
             в. данном. разделе. рассказывается., на. этой. странице. мы. рассмотрим., на. этой. странице. мы. расскажем., \
             на. этой. странице. вы. узнаете., на. этой. странице. описано., на. этой. странице. описывается., \
             на. этой. странице. описываются., на. этой. странице. рассматривается., на. этой. странице. рассматриваются., \
             на. этой. странице. рассказывается., этот. раздел. описывает.",
        ),
        (
            NaturalLanguage::Polish,
            "zobaczmy., przyjrzyjmy. się., w. tej. sekcji. omówimy., w. tej. sekcji. pokażemy., w. tej. sekcji. zobaczymy., \
             w. tej. sekcji. opisano., w. tej. sekcji. dowiesz. się., w. tym. rozdziale. omówimy., \
             w. tym. rozdziale. pokażemy., w. tym. rozdziale. zobaczymy., w. tym. rozdziale. opisano., \
             w. tym. rozdziale. dowiesz. się., w. tym. przewodniku. omówimy., w. tym. przewodniku. pokażemy., \
             w. tym. przewodniku. zobaczymy., w. tym. przewodniku. opisano., w. tym. przewodniku. dowiesz. się.",
        ),
    ],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "让我们看, 让我们来看, 让我们一起看, 让我们先看, 让我们先来看, 讓我們看, 讓我們來看, 讓我們一起看, 我们来看, 我們來看, 接下来我们将介绍, 接下来我们来看, 接下来我们看, 接下來我們將介紹, \
             接下來我們來看, 下面我们来看, 下面我們來看, 下面来看, 下面來看, 本节将介绍, 本节将说明, 本节介绍, 本节描述, 本章将介绍, 本章将说明, 本章介绍, 本页介绍, 本页面介绍, 在本节中，我们, \
             在本节中我们, 在本章中，我们, 在本章中我们, 在这一节中，我们, 在这一章中，我们",
        ),
        (
            NaturalLanguage::Japanese,
            "この節では, この章では, このセクションでは, このページでは, このガイドでは, 本節では, 本章では, それでは、",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_leads_to_the_next_sentence_announces() {
        for sentence in [
            "Let's look at how the pump is primed.",
            "Let’s take a look at the pump.",
            "**Let us** see how the pump is primed.",
            "In this section, we will prime the pump.",
            "This page explains how to prime the pump.",
            "We'll look at the pump.",
            "Schauen wir uns an, wie die Pumpe entlüftet wird.",
            "In diesem Abschnitt erfahren Sie, wie die Pumpe entlüftet wird.",
            "Wir werden sehen, wie die Pumpe entlüftet wird.",
            "Voyons comment amorcer la pompe.",
            "Nous allons voir comment la pompe est amorcée.",
            "Veamos cómo se ceba la bomba.",
            "Vediamo come si adesca la pompa.",
            "Vejamos como a bomba é escorvada.",
            "Laten we eens kijken hoe de pomp werkt.",
            "Рассмотрим, как работает насос.",
            "让我们看看水泵是如何工作的。",
            "このセクションでは、ポンプの使い方を説明します。",
        ] {
            assert!(is_announcement(sentence), "{sentence}");
        }
    }

    #[test]
    fn steps_and_statements_announce_nothing() {
        for sentence in [
            "",
            "Let the pump cool.",
            "Let's Encrypt issues certificates.",
            "Fill the pump, and let's see.",
            "This pump is primed by hand.",
            "We prime the pump by hand.",
            "In this country pumps are primed by hand.",
            "Die Pumpe wird in diesem Abschnitt des Flusses entlüftet.",
            "La pompe est amorcée à la main.",
            "水泵由手动灌水。",
            "**Let**ters **us**ually arrive in two days.",
            "Let us know within 30 days.",
            "Let go of the lever.",
            "Let seeds dry.",
            "Let turnips cool.",
            "Let beginners start.",
            "We will look into your complaint within 5 days.",
            "In this section, 'employee' means a person who is paid.",
            "In this article weeks are working weeks.",
            "Wir werden den Betrag in 14 Tagen erstatten.",
            "Lassen Sie uns den Antrag bis Montag zukommen.",
            "Sehen wir einen Verstoß, so sperren wir das Konto.",
            "In diesem Abschnitt bedeutet „Mieter“ die Person, die zahlt.",
            "Nous allons vous rembourser dans les 14 jours.",
            "Dans cet article, « salarié » désigne une personne payée.",
            "Vamos a devolver el importe en 14 días.",
            "En este artículo, «empleado» es quien cobra.",
            "Vediamo i clienti solo su appuntamento.",
            "Laat ons binnen 30 dagen weten of u komt.",
            "Давайте лекарство два раза в день.",
            "Рассмотрим вашу заявку за три дня.",
            "让我们在三十天内知道。",
            "在本节中，“雇员”是指领取工资的人。",
            "それでは不十分です。",
        ] {
            assert!(!is_announcement(sentence), "{sentence}");
        }
    }
}
