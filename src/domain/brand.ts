/** Icons of well-known sources, browsers and systems: the name as in reports, in lower case, and the id of its icon in the CoreUI set. */
export const BRAND_ICONS: Readonly<Record<string, string>> = {
  // Sources
  ...{ google: "google", bing: "bing", duckduckgo: "duckduckgo", "yahoo!": "yahoo", yandex: "yandex", baidu: "baidu", brave: "brave" },
  ...{ facebook: "facebook", instagram: "instagram", linkedin: "linkedin", reddit: "reddit", tiktok: "tiktok", pinterest: "pinterest" },
  ...{ snapchat: "snapchat", whatsapp: "whatsapp", telegram: "telegram", messenger: "messenger", discord: "discord", slack: "slack" },
  ...{ youtube: "youtube", vimeo: "vimeo", twitch: "twitch", github: "github", gitlab: "gitlab", mastodon: "mastodon", tumblr: "tumblr" },
  ...{ "hacker news": "y-combinator", "product hunt": "product-hunt", medium: "medium", quora: "quora", wikipedia: "wikipedia", vk: "vk" },
  ...{ "stack overflow": "stackoverflow", spotify: "spotify", flipboard: "flipboard", pocket: "pocket", feedly: "feedly", gmail: "gmail" },
  ...{ xing: "xing", weibo: "sina-weibo", line: "line", wechat: "wechat", amazon: "amazon", ebay: "ebay", etsy: "etsy", paypal: "paypal" },
  // Browsers
  ...{ chrome: "google-chrome", safari: "safari", firefox: "mozilla-firefox", "microsoft edge": "microsoft-edge", opera: "opera" },
  ...{ "internet explorer": "internet-explorer", "android browser": "android" },
  // Systems
  ...{ windows: "windows", macos: "apple", ios: "apple", ipados: "apple", tvos: "apple", android: "android", linux: "linux" },
  ...{ "chrome os": "google-chrome", ubuntu: "ubuntu", debian: "debian", fedora: "fedora" },
}
