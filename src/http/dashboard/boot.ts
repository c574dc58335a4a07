import type { Boot } from "../../domain/boot.ts"
import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import { moreMetrics, readSiteAddress, summaryArguments, timeseriesArguments } from "../../domain/site-address.ts"
import type { Access, SiteAccess } from "../../services/access/access.ts"
import type { SecondFactors } from "../../services/sign-in/second-factors.ts"
import type { Person, Sessions } from "../../services/sign-in/sessions.ts"
import type { Stats } from "../../services/stats/stats.ts"
import { type MeOptions, toMeResponse } from "../private/me/me.ts"
import type { SessionCookie } from "../private/session-cookie.ts"
import { type OwnSiteOptions, ownSiteResponse } from "../private/sites/sites.ts"
import { reportOptionsFor } from "../private/stats/stats.ts"

export interface BootOptions extends MeOptions, OwnSiteOptions {
  organizations: MeOptions["organizations"] & OwnSiteOptions["organizations"]
  isSetUp(): Promise<boolean>
  sessions: Pick<Sessions, "find">
  access: Access
  secondFactors: SecondFactors
  cookie: Pick<SessionCookie, "read" | "header">
  stats: Stats
  now(): number
  log: Log
  version: string
}

export interface FirstView {
  boot: Omit<Boot, "build">
  person: Person | undefined
  /** 404 if the site or organization of the page does not exist for the user, otherwise 200. */
  status: number
}

/** Matches the id of a page's site, and the rest of the path unless the page is the overview. */
const SITE_PAGE = /^\/sites\/([1-9]\d*)(\/.+)?/
const ORGANIZATION_PAGE = /^\/org\/([1-9]\d*)/

/**
 * Returns the data of a page: the user, the user's permissions, and the site with its first reports. A failed report does not fail
 * the page, which requests it again.
 */
export async function firstView(request: Request, path: string, options: BootOptions): Promise<FirstView> {
  const token = options.cookie.read(request)
  const person = token === undefined ? undefined : await options.sessions.find(token)
  const boot = { version: options.version, setup_needed: !(person || (await options.isSetUp())) }
  if (!person) return { boot, person, status: 200 }
  const me = await toMeResponse(person, options)
  if (await options.secondFactors.isMissing(person.user, person.session))
    return { boot: { ...boot, me, factor_missing: true }, person, status: 200 }
  const plain = { boot: { ...boot, me }, person, status: 200 }
  const [, siteId, furtherPath] = SITE_PAGE.exec(path) ?? []
  const organizationId = ORGANIZATION_PAGE.exec(path)?.[1]
  if (organizationId !== undefined && !me.organizations.some(({ id }) => String(id) === organizationId)) return { ...plain, status: 404 }
  if (siteId === undefined) return plain
  try {
    const reached = await options.access.onSite(person, siteId)
    if (furtherPath !== undefined || !reached.permissions.has("site:read")) return plain
    const site = await ownSiteResponse(reached.site, reached.role, person.user.id, options)
    return { ...plain, boot: { ...plain.boot, site, reports: await firstReports(request, person, reached, options) } }
  } catch (error) {
    if (!(error instanceof AppError)) options.log.error("the first reports of a page failed", { error })
    return { ...plain, status: error instanceof AppError && error.code === "site_not_found" ? 404 : 200 }
  }
}

async function firstReports(request: Request, person: Person, { site, permissions }: SiteAccess, { stats }: BootOptions) {
  const { address, namesPeriod } = readSiteAddress(new URL(request.url).search)
  // Without a period in the address, the browser uses the last period of the site, which only it remembers.
  if (!namesPeriod) return []
  const caller = { ...reportOptionsFor({ request, user: person.user, permissions }), form: "json" as const }
  const more = address.filters.length === 0 ? [summaryArguments(address, moreMetrics(permissions.has("revenue:read")))] : []
  const queries = [
    ...[summaryArguments(address), ...more].map((given) => ({ report: "summary", given, run: stats.summary })),
    { report: "timeseries", given: timeseriesArguments(address), run: stats.timeseries },
  ]
  return Promise.all(
    queries.map(async ({ report, given, run }) => ({ site: site.id, report, given, data: await run(site, given, caller) })),
  )
}
