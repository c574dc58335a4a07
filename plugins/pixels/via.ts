/** On which way an open came: what of it is a person's, and what a machine's that stands between. */
export const VIAS = ["direct", "github_camo", "gmail_proxy", "yahoo_proxy", "apple_mpp", "outlook_scan", "bot"] as const
export type Via = (typeof VIAS)[number]

/** The groups that people are shown, and what belongs to each. Bots are in no total. */
export const ROUTES = {
  opens_direct: ["direct"],
  opens_proxied: ["github_camo", "gmail_proxy", "yahoo_proxy"],
  opens_prefetched: ["apple_mpp", "outlook_scan"],
  bots: ["bot"],
} as const satisfies Record<string, readonly Via[]>
export type Route = keyof typeof ROUTES
export const ROUTE_NAMES = Object.keys(ROUTES) as Route[] // its own names

/** All that counts as an open. */
export const OPENS: readonly Via[] = VIAS.filter((via) => via !== "bot")

/** Mail gateways that load what a mail links to before anybody reads it. */
const SCANNERS =
  /safelinks|microsoft office (existence|protocol) discovery|mimecast|proofpoint|barracuda|ironport|messagelabs|symantec|fireeye|trellix|forcepoint|sophos|trend ?micro|bitdefender/i

/** What is known of a request before it is said on which way it came. */
interface Opener {
  userAgent: string
  isBot: boolean
  /** From an address from which a mail service loads pictures ahead. */
  isRelay: boolean
}

const KNOWN: readonly (readonly [Via, (opener: Opener) => boolean])[] = [
  ["github_camo", ({ userAgent }) => /github-camo/i.test(userAgent)],
  ["gmail_proxy", ({ userAgent }) => userAgent.includes("GoogleImageProxy")],
  ["yahoo_proxy", ({ userAgent }) => userAgent.includes("YahooMailProxy")],
  ["apple_mpp", ({ userAgent, isRelay }) => isRelay || userAgent.trim() === "Mozilla/5.0"],
  ["outlook_scan", ({ userAgent }) => SCANNERS.test(userAgent)],
]

/** The known ones come first: some of them are on lists of bots too. */
export const viaOf = (opener: Opener): Via => KNOWN.find(([, fits]) => fits(opener))?.[0] ?? (opener.isBot ? "bot" : "direct")

/** Place, device and program of the request are those of the machine between. */
export const isProxied = (via: Via): boolean => via !== "direct" && via !== "bot"
