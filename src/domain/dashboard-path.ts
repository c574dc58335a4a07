/** The sections of each page that has several, as they appear in paths. */
export const SITE_SETTINGS = ["general", "tracking", "goals", "shields", "privacy", "sharing", "access", "danger"] as const
export const ACCOUNT_SECTIONS = ["profile", "security", "sessions", "preferences"] as const
export const HELP_TOPICS = ["begin", "events", "visitors", "filters", "keyboard", "exporting", "api", "mcp"] as const
export const ORGANIZATION_SECTIONS = [
  ...(["members", "invitations", "membership", "keys", "mcp", "usage"] as const),
  ...(["settings", "providers", "domains", "audit", "danger"] as const),
] as const

/**
 * The paths of the dashboard's pages. The server answers any other path with 404. `:name` stands for one path segment, `:site`
 * and `:organization` for an id. Plugins add the paths of their own pages.
 */
export const DASHBOARD_PATHS = [
  "/",
  "/setup",
  "/signin",
  "/signin/second-factor",
  "/signin/link",
  "/forgot",
  "/reset/:token",
  "/confirm-email/:token",
  "/undo-email/:token",
  "/invite/:token",
  "/sites",
  "/sites/new",
  "/sites/:site",
  "/sites/:site/details/:dimension",
  "/sites/:site/realtime",
  "/sites/:site/visits",
  "/sites/:site/visits/:visit",
  "/sites/:site/events",
  "/sites/:site/campaigns",
  "/sites/:site/web-vitals",
  "/sites/:site/goals",
  "/sites/:site/funnels",
  "/sites/:site/funnels/:funnel",
  "/sites/:site/journeys",
  "/sites/:site/settings",
  ...SITE_SETTINGS.map((section) => `/sites/:site/settings/${section}`),
  "/org",
  "/org/:organization",
  ...ORGANIZATION_SECTIONS.map((section) => `/org/:organization/${section}`),
  "/account",
  ...ACCOUNT_SECTIONS.map((section) => `/account/${section}`),
  "/help",
  ...HELP_TOPICS.map((topic) => `/help/${topic}`),
]

/** Returns whether one of the patterns matches the path. A trailing slash is ignored. */
export function matchesPagePath(patterns: readonly string[], path: string): boolean {
  const parts = partsOf(path)
  return patterns.some((pattern) => {
    const wanted = partsOfPattern(pattern)
    return wanted.length === parts.length && wanted.every((part, index) => matchesSegment(part, parts[index]!))
  })
}

/** The format of ids in the private API. */
const ID = /^[1-9]\d{0,15}$/

const matchesSegment = (wanted: string, part: string): boolean =>
  [":site", ":organization"].includes(wanted) ? ID.test(part) : wanted.startsWith(":") || wanted === part

/** The parts of each pattern. Most requests are compared with all of them. */
const known = new Map<string, readonly string[]>()

function partsOfPattern(pattern: string): readonly string[] {
  const parts = known.get(pattern) ?? partsOf(pattern)
  known.set(pattern, parts)
  return parts
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "")
