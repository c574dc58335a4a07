/** Words of the channel rules, in lower case (metrics.md section 8). */
export const DISPLAY_MEDIUMS: ReadonlySet<string> = new Set(["display", "banner", "expandable", "interstitial", "cpm"])
export const SOCIAL_MEDIUMS: ReadonlySet<string> = new Set([
  "social",
  "social-network",
  "social-media",
  "sm",
  "social network",
  "social media",
])
export const AFFILIATE_MEDIUMS: ReadonlySet<string> = new Set(["affiliate", "affiliates"])
export const EMAIL_WORDS: readonly string[] = ["email", "e-mail", "e_mail", "newsletter"]
export const GOOGLE_CLICK_IDS: ReadonlySet<string> = new Set(["gclid", "gbraid", "wbraid"])
