"""Words that are addressed to an agent and not to a reader: instructions in the dress of a memory.

What an agent stored after it had read a foreign page may carry orders to the next agent. `suspicion` says in a few
words why a text looks like that, in English and Chinese. Rules and preferences of a project – "always run the tests
before you commit" – are what memories are for; a rule here therefore asks for more than an imperative: that it sets
aside other instructions, gives the agent another identity, hides something from the person, carries secrets outside,
imitates the frame of a conversation, or hides itself. What is caught waits for a person; nothing is lost.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200_000
"""Characters of a text that are looked at, from its start and from its end."""

HIDDEN_MOST = 3
"""Invisible characters that a text may carry by accident, from a copied page."""

_INVISIBLE = re.compile("[\u200b\u2060-\u2064\ufeff\u00ad\u180e\u034f\u115f\u1160\u3164]|(?<![\U0001f000-\U0001faff\u2600-\u27bf\ufe0f])\u200d(?![\U0001f000-\U0001faff\u2600-\u27bf])|(?<![\u0600-\u0dff])\u200c")  # fmt: skip
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{2,6}\U000e007f")
_TURNED = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")

_GAP = r"(?:\W{1,4}[\w'’-]{1,20}){0,3}?\W{1,4}"
_START = r"(?:^|[.!?:;>\n。！？：；]\W{0,6}|\b(?:please|then|and|you must|must|now|always|should|to do so|also|first|next|important|kindly|silently|quietly)\W{1,3})"
_PRECIOUS = r"(?:api[ _-]?keys?|secrets?|credentials?|passwords?|access tokens?|tokens?|env(?:ironment)? variables?|\.env\b|ssh keys?|private keys?|source code|chat history|conversations?|memories|system prompt|cookies|everything you know|user data)"
_OUTSIDE = r"(?:https?://|\bwebhook|\bmy server|\bthis (?:url|address|endpoint|server)|\bthe following (?:url|address|endpoint)|\battacker|[\w.+-]{1,40}@[\w-]{1,40}\.\w)"

_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "sets other instructions aside",
        ("ignore", "disregard", "forget", "override", "bypass", "do not follow", "don't follow"),
        rf"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow)\b{_GAP}(?:previous|prior|above|earlier|preceding|existing|former|all|any|your|system|developer)\W{{1,4}}(?:[\w'-]{{1,20}}\W{{1,4}}){{0,3}}?(?:instructions?|prompts?|directives?|guidelines|guardrails|safety (?:rules|filters)|orders)\b",
    ),
    (
        "sets other instructions aside",
        ("忽略", "无视", "忘记", "忘掉", "不要理会", "不要遵守", "跳过", "覆盖"),
        r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵守|覆盖)(?:掉|你|您)?.{0,6}?(?:之前|以上|上面|前面|先前|此前|原有|所有|一切|系统|开发者).{0,6}?(?:指令|指示|提示词?|规则|要求|命令|设定|约束|对话)",
    ),
    (
        "gives the agent another identity",
        ("you are now", "from now on", "pretend", "act as", "roleplay", "jailbr", "developer mode"),
        r"\byou are now\W{1,3}(?:a|an|in|the|called|no longer|dan|free|unrestricted|operating|acting)\b(?!\W{1,3}(?:branch|maintainer|member|owner|page|directory|folder|version))"
        r"|\bfrom now on\W{1,3}you\W{1,3}(?:are|act|will (?:act|be|obey|respond|answer)|must (?:act|obey|respond|answer)|obey|respond)\b"
        r"|\b(?:pretend|roleplay|act)\W{1,3}(?:to be|as if you|that you|as|you are)\W{1,3}(?:an? |the )?(?:unrestricted|uncensored|jailbroken|dan|evil|root|admin(?:istrator)?|have no|are not bound|not bound)\b"
        r"|\b(?:enter|enable|activate|switch to)\W{1,3}(?:developer|god|dan|jailbreak|unrestricted|debug)\W{1,2}mode\b(?=.{0,80}(?:restrict|filter|polic|instruct|ignore|safety))",
    ),
    (
        "gives the agent another identity",
        ("你现在是", "从现在起", "从现在开始", "假装你", "你不再是", "越狱"),
        r"你现在是(?:一个|一名)?.{0,8}(?:没有限制|不受限制|不受约束|开发者模式|管理员模式|超级|越狱|dan\b)|从现在(?:起|开始)[，,]?\s?你(?:是|就是|必须|要|将)(?:听从|服从|扮演|无条件|忽略|一个|一名|只)|假装你(?:是|没有)|你不再是|(?:进入|开启|启用)(?:开发者|越狱|无限制|上帝)模式",
    ),
    (
        "hides something from the person",
        ("user", "human", "person", "anyone", "secretly", "silently", "covertly"),
        r"\b(?:without|never|do not|don't|avoid)\W{1,3}(?:telling|asking|informing|notifying|alerting|tell|inform|notify|alert|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?)\b(?:\W{1,3}(?:this|it|that|these|anything|to)){1,4}?\W{1,3}(?:the )?(?:user|human|person|operator|developer|anyone)\b"
        r"|\b(?:without|do not|don't|never)\W{1,3}(?:telling|informing|notifying|alerting|tell|inform|notify|alert)\W{1,3}(?:the )?(?:user|human|person|operator)\b(?=\W{0,3}$|\W{1,3}(?:about|of|that you|what you)\b)"
        r"|\b(?:secretly|silently|covertly|quietly)\W{1,3}(?:send|upload|post|forward|exfiltrate|delete|run|execute|install|copy|leak|insert|modify)\b(?=.{0,120}\b(?:you|user|agent|assistant|instructions?|secrets?|tokens?|keys?|credentials?|https?)\b)",
    ),
    (
        "hides something from the person",
        ("用户", "主人", "任何人", "悄悄", "偷偷", "暗中"),
        r"(?:不要|别|无需|不必|切勿|不许|不得)(?:再)?(?:告诉|告知|通知|提醒|让)(?:你的)?(?:用户|主人|开发者|任何人)(?:知道|这|此|该|你|$|[。，！；])|(?:瞒着|背着)(?:用户|主人|开发者)|(?:悄悄|偷偷|暗中)地?(?:把|将|执行|运行|发送|上传|删除|修改|转发).{0,40}(?:密钥|密码|令牌|凭据|http|文件|代码|数据|指令|记忆)",
    ),
    (
        "carries secrets outside",
        ("send", "post", "upload", "forward", "email", "exfiltrate", "leak", "transmit", "curl", "copy", "append", "include", "submit"),
        rf"{_START}(?:send|post|upload|forward|e-?mail|exfiltrate|leak|transmit|submit|copy|append)\b.{{0,80}}?\b{_PRECIOUS}.{{0,80}}?(?:to|into|in)\b.{{0,40}}?{_OUTSIDE}"
        rf"|\bexfiltrate\b.{{0,60}}?\b{_PRECIOUS}",
    ),
    (
        "carries secrets outside",
        ("发送", "上传", "发给", "转发", "提交", "发到", "外传", "传到"),
        r"(?:把|将|请把|请将).{0,30}(?:密钥|密码|令牌|凭据|环境变量|私钥|聊天记录|对话|源代码|记忆|系统提示).{0,20}(?:发送|上传|转发|提交|发|外传|传)(?:给|到|至).{0,30}(?:https?:|网址|服务器|邮箱|地址|@|我)",
    ),
    (
        "carries data outside in an image",
        ("](http",),
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,30}=(?:\{|<|\$|%7b|\[)",
    ),
    (
        "asks for hidden instructions",
        ("system prompt", "hidden instructions", "initial instructions", "系统提示"),
        rf"{_START}(?:reveal|print|show|repeat|output|leak|tell me|display|dump|recite)\b{_GAP}(?:system prompt|hidden instructions|initial instructions|original instructions)|(?:输出|打印|显示|复述|泄露|告诉我)(?:你的|全部|完整的?)?.{{0,4}}系统提示",
    ),
    (
        "imitates the frame of a conversation",
        ("<|", "[inst]", "<<sys>>", "<system>", "</system>", "<tool_call", "<function_call", "### instruction", "<system-reminder", "</memory", "</tool_result", "</function_results", "begin system", "system:", "<assistant>", "antml"),
        r"<\|(?:im_start|system|assistant|user|endoftext|eot_id|start_header_id)\|>\s?\S{0,12}(?:system|assistant|user|\W{0,4}you\b)|\[inst\].{1,400}\[/inst\]|<<sys>>.{0,400}<</sys>>|</?(?:system|system-reminder|assistant)>\s?\S|<(?:antml:)?(?:tool_call|function_calls?|invoke)\b[^>]{0,80}>.{0,200}(?:</|\{|name)|</(?:memory|tool_result|function_results|retrieved|context)>\s?\S|#{2,4} ?(?:new |system )?instructions?:?\s(?=.{0,80}\b(?:you|ignore|assistant|obey)\b)|(?:^|\n)\s?(?:system|assistant)\s?(?:prompt|message|override)\s?:|\bbegin system\b.{0,20}\b(?:prompt|message|instructions?)",
    ),
    (
        "claims authority over the agent",
        ("this memory", "new instructions", "highest priority", "admin override", "treat this", "this message", "this note", "overrides", "本条记忆", "最高优先级", "新的指令", "新指令", "系统指令", "管理员指令"),
        r"\b(?:this|the following) (?:memory|message|note|instruction|text)s?\b.{0,40}?\b(?:overrides?|supersedes?|takes? precedence over|outranks?|replaces?)\b.{0,30}?\b(?:all|any|your|previous|other|system)\b.{0,20}?\b(?:instructions?|rules|prompts?|memories|guidelines|messages?)"
        r"|\bnew instructions\s?(?:are|:|follow)(?=.{0,80}\b(?:you|ignore|obey|assistant|agent)\b)|\b(?:admin(?:istrator)?|system|developer) override\b\W{0,3}(?::|you|the (?:agent|assistant|model))|\btreat (?:this|the following) as (?:a |an |the |your )?(?:system|developer|admin)\b|\b(?:always|must) recall this (?:memory|note)\b"
        r"|(?:本条|这条|以下)(?:记忆|消息|指令)?.{0,8}(?:优先于|高于|覆盖|取代)(?:一切|所有|其他|系统).{0,8}(?:指令|规则|提示|记忆)|(?:新的?|系统|管理员)指令(?:如下|：|:).{0,20}(?:你|必须|立即|忽略)",
    ),
    (
        "speaks to whatever agent reads it",
        ("if you are an", "if you're an", "when you read", "any ai", "all ai", "every ai", "ai agent", "ai assistant", "all agents", "any agent", "llm", "when the agent", "when an ai", "如果你是", "当你读到", "读到这", "看到这条"),
        r"\bif you(?: are|'re) (?:an? )?(?:ai|llm|language model|assistant|agent|chatbot|claude|gpt|copilot)\b|\b(?:when|once|after|whenever|as soon as) (?:you|an? (?:ai|agent|llm)|the (?:ai|agent|assistant|model)) (?:reads?|sees?|recalls?|retrieves?|loads?) this (?:memory|note|message|text|line|file|comment)?\b.{0,80}?\b(?:must|run|execute|call|send|delete|install|use|ignore|do|open|fetch|write|visit)\b|\b(?:to|attention|dear|note to)\W{1,3}(?:any|all|whatever|every) (?:ai|llm|agent|assistant)s?\b"
        r"|如果你是(?:一个|一名)?(?:ai|人工智能|语言模型|大模型|助手|智能体|机器人)|(?:当你|一旦你|你)(?:读到|看到|检索到|回忆起)(?:这条|本条|这段|此)(?:记忆|消息|文字|内容|笔记)?.{0,20}(?:必须|请|立即|马上|要|就)",
    ),
    (
        "runs what it hides",
        ("base64", "decode", "eval", "解码"),
        rf"{_START}(?:base64[ -]?)?decode\b.{{0,60}}?\b(?:and|then)\W{{1,3}}(?:run|execute|follow|obey|eval|do)\b\W{{1,3}}(?:it|them|this|that|what|the (?:result|output|decoded))\b|(?:解码|base64).{{0,20}}(?:然后|并|后)(?:执行|运行|遵循|照做)",
    ),
)  # fmt: skip

_COMMENT = re.compile(r"<!--([^>]{1,400})")
_ORDER = re.compile(r"\b(?:ignore|you must|assistant|ai agent|agents?:|instructions?:|system:|execute|exfiltrate)\b")
_COMPILED = tuple((why, cues, re.compile(pattern, re.DOTALL)) for why, cues, pattern in _RULES)


def suspicion(text: str) -> str:
    """Why a text looks like an instruction to an agent, in a few words; "" when it does not."""
    looked = text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
    if _TAGS.search(_FLAG.sub("", looked)):
        return "carries text in invisible characters"
    hidden = len(_INVISIBLE.findall(looked))
    plain = _SPACE.sub(" ", unicodedata.normalize("NFKC", _TURNED.sub("", _INVISIBLE.sub("", looked)))).casefold()
    for why, cues, pattern in _COMPILED:
        if any(cue in plain for cue in cues) and pattern.search(plain):
            return why
    if any(_ORDER.search(comment) for comment in _COMMENT.findall(plain)):
        return "hides orders in a comment"
    if hidden > HIDDEN_MOST and hidden * 200 > len(looked):
        return "hides invisible characters between its words"
    return ""
