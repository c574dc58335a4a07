/** Types of Google Search. */
export const SEARCH_TYPES = ["web", "image", "video", "news", "discover"] as const
export type SearchType = (typeof SEARCH_TYPES)[number]
export const isSearchType = (text: unknown): text is SearchType => (SEARCH_TYPES as readonly unknown[]).includes(text)

export const ENGINES = ["google", "bing"] as const
export type Engine = (typeof ENGINES)[number]
