use super::{check, messages, render, value};
use crate::chat_template::{ChatForm, chat_text};

#[test]
fn chatml() {
    let said = messages(&[("system", "Be brief."), ("user", "Hi")]);
    let text = chat_text(&ChatForm::default(), &said).unwrap();
    let expected = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n\
        <|im_start|>assistant\n";
    assert_eq!(text, expected);
    // With words of its own where the system says nothing.
    let smol = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
        {{ '<|im_start|>system\nYou help.<|im_end|>\n' }}{% endif %}\
        {{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}\
        {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    assert_eq!(render(smol, &[("system", "Be brief."), ("user", "Hi")]).unwrap(), expected);
    let text = render(smol, &[("user", "Hi")]).unwrap();
    assert!(text.starts_with("<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\nHi"));
}

#[test]
fn tools_are_asked_for_and_not_there() {
    check(
        "{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- for tool in tools %}\n        \
        {{- tool | tojson }}\n    {%- endfor %}\n{%- else %}\n    \
        {%- if messages[0]['role'] == 'system' %}\n        \
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}\n    \
        {%- endif %}\n{%- endif %}\n{%- for message in messages %}\n    \
        {%- if (message.role == \"user\") or (message.role == \"assistant\" and not message.tool_calls) %}\n        \
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}\n    \
        {%- elif message.role == \"assistant\" %}\n        {{- message.tool_calls[0] }}\n    \
        {%- endif %}\n{%- endfor %}\n{%- if add_generation_prompt %}\n    \
        {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n",
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi {{ x }}<|im_end|>\n\
        <|im_start|>assistant\nYes.<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n\
        <|im_start|>assistant\n",
    );
}

#[test]
fn headers_of_roles() {
    check(
        "{% set loop_messages = messages %}{% for message in loop_messages %}\
        {% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}\
        {% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}\
        {% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
        "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>\
        <|start_header_id|>user<|end_header_id|>\n\nHi {{ x }}<|eot_id|>\
        <|start_header_id|>assistant<|end_header_id|>\n\nYes.<|eot_id|>\
        <|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|>\
        <|start_header_id|>assistant<|end_header_id|>\n\n",
    );
}

/// The system's words go before the user's where a template refuses or ignores them.
#[test]
fn templates_without_a_system() {
    let gemma = |of_system: &str| {
        format!(
            "{{{{ bos_token }}}}{of_system}{{% for message in messages %}}\
            {{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}}\
            {{{{ raise_exception('Roles must alternate') }}}}{{% endif %}}\
            {{% if message['role'] == 'assistant' %}}{{% set role = 'model' %}}{{% else %}}\
            {{% set role = message['role'] %}}{{% endif %}}\
            {{{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}}}\
            {{% endfor %}}{{% if add_generation_prompt %}}{{{{'<start_of_turn>model\n'}}}}{{% endif %}}"
        )
    };
    let refuses =
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system') }}{% endif %}";
    let ignores =
        "{% if messages[0]['role'] == 'system' %}{% set messages = messages[1:] %}{% endif %}";
    for of_system in [refuses, ignores] {
        check(
            &gemma(of_system),
            "<s><start_of_turn>user\nBe brief.\n\nHi {{ x }}<end_of_turn>\n\
            <start_of_turn>model\nYes.<end_of_turn>\n<start_of_turn>user\nWhy?<end_of_turn>\n\
            <start_of_turn>model\n",
        );
    }
    let error = render(&gemma(refuses), &[("assistant", "x")]).unwrap_err();
    assert!(error.message().ends_with("Roles must alternate"), "{error}");
}

#[test]
fn instructions_in_brackets() {
    let mistral = "{%- if messages[0]['role'] == 'system' %}\n    \
        {%- set system_message = messages[0]['content'] %}\n    {%- set loop_messages = messages[1:] %}\n\
        {%- else %}\n    {%- set loop_messages = messages %}\n{%- endif %}\n\
        {%- set ns = namespace(count=0) %}\n{{- bos_token }}\n{%- for message in loop_messages %}\n    \
        {%- if message['role'] == 'user' %}\n        {%- set ns.count = ns.count + 1 %}\n        \
        {%- if loop.last and system_message is defined %}\n            \
        {{- '[INST] ' + system_message + '\\n\\n' + message['content'] + '[/INST]' }}\n        \
        {%- else %}\n            {{- '[INST] ' + message['content'] + '[/INST]' }}\n        {%- endif %}\n    \
        {%- elif message['role'] == 'assistant' %}\n        \
        {{- ' ' + message['content'].strip() + eos_token }}\n    {%- endif %}\n{%- endfor %}\n{{- ns.count }}";
    check(mistral, "<s>[INST] Hi {{ x }}[/INST] Yes.</s>[INST] Be brief.\n\nWhy?[/INST]2");
    let phi = "{% for message in messages %}{% if message['role'] == 'system' %}\
        {{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}\
        {{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'assistant' %}\
        {{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}\
        {% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}";
    check(
        phi,
        "<|system|>\nBe brief.<|end|>\n<|user|>\nHi {{ x }}<|end|>\n<|assistant|>\nYes.<|end|>\n\
        <|user|>\nWhy?<|end|>\n<|assistant|>\n",
    );
}

#[test]
fn thinking_can_be_asked_for() {
    let template = "{% if enable_thinking is defined and enable_thinking is false %}\
        {{ '<think>\n\n</think>' }}{% endif %}{{ messages[0].content }}";
    let form = |thinks| ChatForm { template: Some(template), thinks, ..ChatForm::default() };
    let text = |thinks| chat_text(&form(thinks), &messages(&[("user", "a")])).unwrap();
    assert_eq!(text(None), "a");
    assert_eq!(text(Some(true)), "a");
    assert_eq!(text(Some(false)), "<think>\n\n</think>a");
}

#[test]
fn what_python_has() {
    value("messages[0].content.strip()", "a-b");
    value("' x'.lstrip() + 'x '.rstrip() + '|'", "xx|");
    value("'ab'.startswith('a') and 'ab'.endswith(('x', 'b'))", "True");
    value("'a,b,c'.split(',')[-1] ~ 'a,b,c'.split(',', 1)[1]", "cb,c");
    value("'a</think>b'.split('</think>')|last", "b");
    value("'abab'.replace('a', 'x').upper()", "XBXB");
    value("messages[0].get('name', 'none') ~ messages[0].get('role')", "noneuser");
    value("messages[0].get('nothing') is none", "True");
    value("messages|selectattr('role', 'equalto', 'user')|list|length", "1");
    value("messages|map(attribute='role')|join('+')", "user");
    value("strftime_now('%d %b %Y')", "31 Dec 2024");
    value("[1, 2][::-1]|join(',')", "2,1");
    value("{'a': {'b': 1}}.a.b", "1");
    value("'x' if undefined_name else '}}'", "}}");
    value("{'a': '<é'}|tojson", "{\"a\":\"<é\"}");
    value("(range(5)|list)[1:3]|join", "12");
}

#[test]
fn loops_can_be_left() {
    let template =
        "{% for i in range(9) if i != 1 %}{% if i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}";
    assert_eq!(render(template, &[("user", "a")]).unwrap(), "023");
    assert_eq!(render("{# {{ not }} #}x", &[]).unwrap(), "x");
    assert_eq!(render("a {#- b -#} c{% generation %}d{% endgeneration %}", &[]).unwrap(), "acd");
}
