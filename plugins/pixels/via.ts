/** How a pixel was opened: directly by a reader, through a proxy, ahead of time by a mail service, or by a bot. */
export const VIAS = ["direct", "github_camo", "gmail_proxy", "yahoo_proxy", "apple_mpp", "outlook_scan", "bot"] as const
export type Via = (typeof VIAS)[number]

/** The routes of an open as reports group them. Bots are not included in any total. */
export const ROUTES = {
  opens_direct: ["direct"],
  opens_proxied: ["github_camo", "gmail_proxy", "yahoo_proxy"],
  opens_prefetched: ["apple_mpp", "outlook_scan"],
  bots: ["bot"],
} as const satisfies Record<string, readonly Via[]>
export type Route = keyof typeof ROUTES
export const ROUTE_NAMES = Object.keys(ROUTES) as Route[] // its own keys

/** Values that count as an open. */
export const OPENS: readonly Via[] = VIAS.filter((via) => via !== "bot")

/** Email security gateways, which load images before the email is read. */
const SCANNERS =
  /safelinks|microsoft office (existence|protocol) discovery|mimecast|proofpoint|barracuda|ironport|messagelabs|symantec|fireeye|trellix|forcepoint|sophos|trend ?micro|bitdefender/i

/** Facts about a request. */
interface Opener {
  userAgent: string
  isBot: boolean
  /** Whether the address belongs to a mail service that prefetches images. */
  isRelay: boolean
}

const KNOWN_PROGRAMS: readonly (readonly [Via, (opener: Opener) => boolean])[] = [
  ["github_camo", ({ userAgent }) => /github-camo/i.test(userAgent)],
  ["gmail_proxy", ({ userAgent }) => userAgent.includes("GoogleImageProxy")],
  ["yahoo_proxy", ({ userAgent }) => userAgent.includes("YahooMailProxy")],
  ["apple_mpp", ({ userAgent, isRelay }) => isRelay || userAgent.trim() === "Mozilla/5.0"],
  ["outlook_scan", ({ userAgent }) => SCANNERS.test(userAgent)],
]

/** Returns how a request opened the pixel. Known programs are checked first, because some of them are also on lists of bots. */
export const viaOf = (opener: Opener): Via =>
  KNOWN_PROGRAMS.find(([, matches]) => matches(opener))?.[0] ?? (opener.isBot ? "bot" : "direct")

/** Returns whether the location and the device of a request belong to a machine between the pixel and its reader. */
export const isProxied = (via: Via): boolean => via !== "direct" && via !== "bot"
