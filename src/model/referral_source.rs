//! The referral sources that known clients offer. Other values are accepted as well.

/// A search engine.
pub const SEARCH_ENGINE: &str = "search_engine";
/// An AI assistant.
pub const AI_ASSISTANT: &str = "ai_assistant";
/// YouTube.
pub const YOUTUBE: &str = "youtube";
/// TikTok.
pub const TIKTOK: &str = "tiktok";
/// A blog article.
pub const BLOG_ARTICLE: &str = "blog_article";
/// Reddit.
pub const REDDIT: &str = "reddit";
/// Hacker News.
pub const HACKER_NEWS: &str = "hacker_news";
/// Another social network.
pub const SOCIAL_MEDIA: &str = "social_media";
/// Word of mouth.
pub const WORD_OF_MOUTH: &str = "word_of_mouth";
/// The Proxmox VE community scripts.
pub const PROXMOX_COMMUNITY_SCRIPTS: &str = "proxmox_community_scripts";
/// A self-hosting list or forum.
pub const SELF_HOSTED: &str = "self_hosted";
/// Another source.
pub const OTHER: &str = "other";
/// The user declined to answer.
pub const PREFER_NOT_TO_SAY: &str = "prefer_not_to_say";

/// All known referral sources.
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
