//! # announcement: does this sentence only say what comes next?
//!
//! ```text
//! "Let's look at how a pump is primed." → yes: how that is done stands below it
//! ```
//!
//! Such a sentence repeats the words of the question and answers nothing. It is told by its first words, in the languages
//! of the table.

use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;

/// Whether `sentence` tells readers what they are about to read or do, and no more.
pub(super) fn is_announcement(sentence: &str) -> bool {
    ANNOUNCEMENTS.begin(sentence)
}

/// With what such sentences begin. "Let's" is "let" without the possessive, so a verb follows it here: "Let's Encrypt" is a
/// name, and "let the pump cool" a step.
const ANNOUNCEMENTS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "let. look, let. see, let. take, let. start, let. begin, let. explore, let. dive, let. walk, let. go, let. talk, \
             let. turn, let. examine, let. discuss, let. consider, let. now, let. first, let us, now let. look, now let. see, \
             in this section., in this chapter., in this guide., in this tutorial., in this article., in this lesson., \
             this section describes., this section explains., this section shows., this section covers., \
             this chapter describes., this chapter explains., this chapter covers., this page describes., this page explains., \
             this page shows., this guide describes., this guide explains., this guide shows., this guide covers., \
             this tutorial shows., this tutorial explains., we will look, we ll look, we'll look, we’ll look, we will see., \
             we'll see., we’ll see., we will now., we'll now., we’ll now., you will learn., you'll learn., you’ll learn.",
        ),
        (
            NaturalLanguage::German,
            "schauen wir, sehen wir, betrachten wir, nun schauen wir, nun sehen wir, lass uns., lasst uns., lassen sie uns., \
             in diesem abschnitt, in diesem kapitel, in dieser anleitung, in diesem artikel, dieser abschnitt beschreibt., \
             dieser abschnitt erklärt., dieser abschnitt zeigt., dieses kapitel beschreibt., dieses kapitel erklärt., \
             diese seite beschreibt., diese seite erklärt., wir werden",
        ),
        (
            NaturalLanguage::French,
            "voyons, regardons, examinons, explorons, commençons, intéressons nous, dans cette section., dans ce chapitre., \
             dans ce guide., dans cette page., dans cet article., dans ce tutoriel., nous allons., nous verrons., \
             cette section décrit., cette section explique., cette page décrit., cette page explique., ce guide explique., \
             ce chapitre décrit., ce chapitre explique.",
        ),
        (
            NaturalLanguage::Spanish,
            "veamos, echemos un vistazo, empecemos, comencemos, en esta sección., en este capítulo., en esta guía., \
             en este artículo., en esta página., esta sección describe., esta sección explica., esta página describe., \
             esta página explica., vamos a.",
        ),
        (
            NaturalLanguage::Italian,
            "vediamo, diamo un, esaminiamo, cominciamo, in questa sezione., in questo capitolo., in questa guida., \
             in questa pagina., questa sezione descrive., questa sezione spiega., questa pagina descrive.",
        ),
        (
            NaturalLanguage::Portuguese,
            "vejamos, vamos ver., vamos dar., vamos começar., nesta seção., nesta secção., neste capítulo., neste guia., \
             nesta página., esta seção descreve., esta secção descreve., esta página descreve.",
        ),
        (
            NaturalLanguage::Dutch,
            "laten we., laat ons., in deze sectie., in dit hoofdstuk., in deze paragraaf., in deze handleiding., \
             deze sectie beschrijft., dit hoofdstuk beschrijft., deze pagina beschrijft.",
        ),
        (
            NaturalLanguage::Russian,
            "давайте., рассмотрим, посмотрим, в этом разделе., в этой главе., в этом руководстве., в этой статье., \
             в данном разделе., этот раздел описывает., на этой странице.",
        ),
        (
            NaturalLanguage::Polish,
            "zobaczmy, przyjrzyjmy się, w tej sekcji., w tym rozdziale., w tym przewodniku.",
        ),
    ],
    unspaced: &[
        (
            NaturalLanguage::Chinese,
            "让我们, 讓我們, 我们来看, 我們來看, 接下来我们, 接下來我們, 下面我们, 下面我們, 下面来看, 本节将, 本节介绍, 本节描述, \
             本章将, 本章介绍, 本页介绍, 本页面介绍, 在本节中, 在本章中, 在这一节, 在这一章",
        ),
        (
            NaturalLanguage::Japanese,
            "この節では, この章では, このセクションでは, このページでは, このガイドでは, 本節では, 本章では, それでは, ここからは",
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
            "In diesem Abschnitt wird die Pumpe entlüftet.",
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
        ] {
            assert!(!is_announcement(sentence), "{sentence}");
        }
    }
}
