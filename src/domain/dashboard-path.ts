/**
 * Addresses of the dashboard's pages, for its router and for the server, which answers any other address with 404. `:name`
 * stands for one part. Pages of plugins are added by the plugins that bring them.
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
  "/sites/:site/events",
  "/sites/:site/campaigns",
  "/sites/:site/goals",
  "/sites/:site/funnels",
  "/sites/:site/funnels/:funnel",
  "/sites/:site/journeys",
  "/sites/:site/settings",
  "/sites/:site/settings/:section",
  "/org",
  "/org/:organization",
  "/org/:organization/:section",
  "/account",
  "/account/:section",
  "/share/s/:slug",
  "/help",
  "/help/:topic",
] as const

/** Whether one of these patterns describes the path; a slash at its end does not count. */
export function isPageOf(patterns: readonly string[], path: string): boolean {
  const parts = partsOf(path)
  return patterns.some((pattern) => {
    const wanted = partsOf(pattern)
    return wanted.length === parts.length && wanted.every((part, index) => part.startsWith(":") || part === parts[index])
  })
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "")
