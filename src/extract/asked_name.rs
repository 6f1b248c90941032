//! # asked_name: does a piece have the name of an option or the like that the question asks for?
//!
//! ```text
//! "Which option removes a home directory?" → "`-r, --remove`: …" has one; "Ask who has root to remove it." has none
//! ```
//!
//! A sentence without any name that programs know cannot say which option it is, however well it fits else. Where no piece has
//! one, the text is not about programs, and the question asks for something else ("Which function has the heart?").

use super::ExtractPassage;
use super::candidates::UnitCandidate;
use super::identifier::{LackedName, has_word, identifiers};
use crate::text::word_list::list_has;
use crate::text::words::Word;

/// Notes of all candidates for a question of the words `question` whether they lack the name that it asks for.
pub(super) fn judge(
    candidates: &mut [UnitCandidate],
    passages: &[ExtractPassage],
    question: &[Word],
    text: &str,
) {
    if !asks_for_name(question, text) {
        return;
    }
    let has_name = |it: &UnitCandidate| it.is_headed || has_new_name(it, passages, text);
    let fit: Vec<bool> = candidates.iter().map(has_name).collect();
    if fit.contains(&true) {
        let all = candidates.iter_mut().zip(fit);
        all.filter(|(_, fits)| !fits).for_each(|(it, _)| it.lacked_name = Some(LackedName::Wanted));
    }
}

/// Whether a candidate has code, or a word that only programs have, which the question `asked` has not.
fn has_new_name(candidate: &UnitCandidate, passages: &[ExtractPassage], asked: &str) -> bool {
    let unit = &candidate.unit;
    let content = passages[candidate.passage].content;
    let lead = unit.lead.clone().map_or("", |range| &content[range]);
    let is_new = |name: &str| !has_word(asked, name.trim());
    let in_code = |text: &str| text.split('`').skip(1).step_by(2).any(is_new);
    let has = |text: &str| in_code(text) || identifiers(text).any(is_new);
    unit.code(content).next().is_some() || has(lead) || has(&content[unit.range()])
}

/// Whether the question asks which option, command or the like something is.
fn asks_for_name(words: &[Word], text: &str) -> bool {
    let is_of = |list: &str, word: &Word| list_has(list, &word.folded);
    words.windows(2).any(|pair| is_of(WHICH, &pair[0]) && is_of(NAMED, &pair[1]))
        || PHRASES.iter().any(|it| text.contains(it))
}

/// Words that ask which one.
const WHICH: &str = "which what welche welcher welches welchem welchen quel quelle quels quelles qué cuál che quale quali que \
    qual quais welk welke która który które którą którego którym jaka jaki jakie jaką jakim jakiego какая какой какое какую \
    каким яка який яке яку яким якою hangi ποια ποιο أي أيّ ما किस सा सी";

/// What programs call by name.
const NAMED: &str = "option options flag flags switch command commands setting settings parameter parameters function \
    functions variable variables argument optionen schalter befehl befehle befehls kommando einstellung einstellungen \
    funktion funktionen variablen commande commandes réglage paramètre paramètres fonction opción opciones comando comandos \
    ajuste parámetro función opzione opzioni impostazione parametro funzione variabile opção opções configuração parâmetro \
    função variável optie opties opdracht instelling functie variabele opcja opcje opcją opcję polecenie polecenia \
    poleceniem ustawienie parametr parametrem funkcja zmienna опция опцию опцией параметр параметром ключ ключом команда \
    команду командой настройка функция переменная опція команда параметр функція змінна seçenek komut ayar parametre işlev \
    επιλογή εντολή ρύθμιση παράμετρος παράμετρο συνάρτηση μεταβλητή خيار الخيار أمر الأمر إعداد الإعداد معامل المعامل دالة الدالة \
    विकल्प कमांड आदेश सेटिंग पैरामीटर फ़ंक्शन";

/// Both, in languages that write no spaces, or particles right behind a word.
const PHRASES: [&str; 35] = [
    "哪个选项",
    "哪個選項",
    "哪个命令",
    "哪個命令",
    "哪个参数",
    "哪個參數",
    "哪个函数",
    "哪個函數",
    "哪个设置",
    "哪個設定",
    "什么选项",
    "什么命令",
    "什么参数",
    "どのオプション",
    "どのコマンド",
    "どの設定",
    "どの関数",
    "どのパラメータ",
    "何というオプション",
    "オプションは何",
    "コマンドは何",
    "設定は何",
    "関数は何",
    "パラメータは何",
    "オプションはどれ",
    "コマンドはどれ",
    "어떤 옵션",
    "어떤 명령",
    "어떤 설정",
    "어떤 함수",
    "어떤 매개변수",
    "어느 옵션",
    "어느 명령",
    "무슨 옵션",
    "무슨 명령",
];
