import type { Dimension } from "./dimension.ts"

/** Names that other products give to values, by dimension, in lower case, with the names that are stored here. */
export const ALIASES: Partial<Record<Dimension, Readonly<Record<string, string>>>> = {
  source: {
    twitter: "X",
    "twitter.com": "X",
    "x.com": "X",
    "t.co": "X",
    youtube: "YouTube",
    linkedin: "LinkedIn",
    tiktok: "TikTok",
    whatsapp: "WhatsApp",
    duckduckgo: "DuckDuckGo",
    hackernews: "Hacker News",
    "news.ycombinator.com": "Hacker News",
    yahoo: "Yahoo!",
    vkontakte: "VK",
    producthunt: "Product Hunt",
    indiehackers: "Indie Hackers",
    "indiehackers.com": "Indie Hackers",
    stackoverflow: "Stack Overflow",
    openai: "ChatGPT",
    "chatgpt.com": "ChatGPT",
    "google.com": "Google",
    "bing.com": "Bing",
    "facebook.com": "Facebook",
    "reddit.com": "Reddit",
  },
  os: {
    "gnu/linux": "Linux",
    ubuntu: "Linux",
    fedora: "Linux",
    debian: "Linux",
    macos: "Mac",
    "mac os": "Mac",
    "mac os x": "Mac",
    macintosh: "Mac",
    "os x": "Mac",
    "android os": "Android",
    chromeos: "Chrome OS",
    "chromium os": "Chrome OS",
    ipados: "iOS",
  },
  browser: {
    edge: "Microsoft Edge",
    "edge-chromium": "Microsoft Edge",
    "edge-ios": "Microsoft Edge",
    "samsung browser": "Samsung Internet",
    "samsung internet for android": "Samsung Internet",
    samsung: "Samsung Internet",
    crios: "Chrome",
    "chrome mobile": "Chrome",
    fxios: "Firefox",
    "firefox mobile": "Firefox",
    "mobile safari": "Safari",
    ie: "Internet Explorer",
    yandexbrowser: "Yandex Browser",
  },
  device: { desktop: "Desktop", mobile: "Mobile", smartphone: "Mobile", phone: "Mobile", tablet: "Tablet" },
}

/** Returns the stored name of a value that another product names differently, or undefined if it has no other name. */
export function storedName(dimension: Dimension, value: string): string | undefined {
  const names = ALIASES[dimension]
  const key = value.toLowerCase()
  const stored = names && Object.hasOwn(names, key) ? names[key] : undefined
  return stored === value ? undefined : stored
}

/** Returns values, each followed by its stored name if another product names it differently. The sent value can be stored, too. */
export const withStoredNames = (dimension: Dimension, values: readonly string[]): string[] =>
  values.flatMap((value) => [value, storedName(dimension, value) ?? []].flat())
