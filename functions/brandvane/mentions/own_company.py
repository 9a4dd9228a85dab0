"""Which names are a platform's own? An answer that names its own maker tells little about how visible that brand is."""

from __future__ import annotations

from collections.abc import Iterable

# Platform of platforms.toml (without its "-search" twin) -> folded names of the company, its assistant and its models.
_OWN = {
    "openai": ("openai", "chatgpt", "gpt"),
    "hunyuan": ("tencent", "腾讯", "腾讯云", "腾讯元宝", "元宝", "hunyuan", "混元", "腾讯混元"),
    "deepseek": ("deepseek", "深度求索"),
    "qwen": ("alibaba", "阿里巴巴", "alibaba cloud", "阿里云", "阿里", "qwen", "tongyi", "通义", "通义千问", "千问"),
    "doubao": ("bytedance", "字节跳动", "字节", "doubao", "豆包", "volcengine", "火山引擎"),
    "kimi": ("moonshot", "moonshot ai", "月之暗面", "kimi"),
    "gemini": ("google", "谷歌", "alphabet", "gemini", "deepmind", "google deepmind"),
    "anthropic": ("anthropic", "claude"),
    "perplexity": ("perplexity", "perplexity ai"),
}


def is_own(platform: str, terms: Iterable[str]) -> bool:
    """Is a brand with these folded terms the platform's own company or product?"""
    name = platform.partition("-")[0].lower()
    own = _OWN.get(name, (name,) if name else ())
    return any(term in own for term in terms)
