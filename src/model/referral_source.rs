//! The referral sources that clients are known to offer. Others are accepted as well.

/// A search engine.
pub const SEARCH_ENGINE: &str = "search_engine";
/// An AI assistant.
pub const AI_ASSISTANT: &str = "ai_assistant";
/// YouTube.
pub const YOUTUBE: &str = "youtube";
/// TikTok.
pub const TIKTOK: &str = "tiktok";
/// An article in a blog.
pub const BLOG_ARTICLE: &str = "blog_article";
/// Reddit.
pub const REDDIT: &str = "reddit";
/// Hacker News.
pub const HACKER_NEWS: &str = "hacker_news";
/// Another social medium.
pub const SOCIAL_MEDIA: &str = "social_media";
/// Somebody told them.
pub const WORD_OF_MOUTH: &str = "word_of_mouth";
/// The community scripts for Proxmox VE.
pub const PROXMOX_COMMUNITY_SCRIPTS: &str = "proxmox_community_scripts";
/// A list or forum about hosting things oneself.
pub const SELF_HOSTED: &str = "self_hosted";
/// Something else.
pub const OTHER: &str = "other";
/// No answer.
pub const PREFER_NOT_TO_SAY: &str = "prefer_not_to_say";

/// All of them.
pub const ALL: &[&str] = &[
    SEARCH_ENGINE,
    AI_ASSISTANT,
    YOUTUBE,
    TIKTOK,
    BLOG_ARTICLE,
    REDDIT,
    HACKER_NEWS,
    SOCIAL_MEDIA,
    WORD_OF_MOUTH,
    PROXMOX_COMMUNITY_SCRIPTS,
    SELF_HOSTED,
    OTHER,
    PREFER_NOT_TO_SAY,
];
