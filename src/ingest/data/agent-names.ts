/** Names of the user-agent library that Footfall writes differently (metrics.md section 6). */
export const OS_NAMES: Readonly<Record<string, string>> = { macOS: "Mac" }
export const BROWSER_NAMES: Readonly<Record<string, string>> = { "Samsung Internet for Android": "Samsung Internet" }
