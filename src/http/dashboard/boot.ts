import { AppError } from "../../domain/error.ts"
import type { Log } from "../../domain/log.ts"
import { moreMetrics, readSiteAddress, summaryArguments, timeseriesArguments } from "../../domain/site-address.ts"
import type { Access, SiteAccess } from "../../services/access/access.ts"
import type { SecondFactors } from "../../services/sign-in/second-factors.ts"
import type { Person, Sessions } from "../../services/sign-in/sessions.ts"
import type { Stats } from "../../services/stats/stats.ts"
import { type MeOptions, toMeResponse } from "../private/me/me.ts"
import type { SessionCookie } from "../private/session-cookie.ts"
import { type OwnSiteResponse, type SeenSiteOptions, seenSite } from "../private/sites/site-shown.ts"
import { sightOf } from "../private/stats/stats.ts"

export interface BootOptions extends MeOptions, SeenSiteOptions {
  organizations: MeOptions["organizations"] & SeenSiteOptions["organizations"]
  isSetUp(): Promise<boolean>
  sessions: Pick<Sessions, "find">
  access: Access
  secondFactors: SecondFactors
  cookie: Pick<SessionCookie, "read" | "line">
  stats: Stats
  now(): number
  log: Log
  version: string
}

/** What a page shows before it has asked anything. The browser's side reads the same shape in `src/ui/api/boot.ts`. */
export interface Boot {
  version: string
  /** Of the dashboard's files: another one in an answer of the server means that there is a newer page. */
  build: string
  setup_needed: boolean
  /** Nobody is signed in without it. */
  me?: Awaited<ReturnType<typeof toMeResponse>>
  /** A policy asks for a second factor that the user has not: only the own account can be reached. */
  factor_missing?: boolean
  /** The site that the page is about, as its own route shows it. */
  site?: OwnSiteResponse
  /** Its first reports, with the arguments they were asked with. */
  reports?: { site: number; report: string; given: Record<string, unknown>; data: object }[]
}

export interface FirstView {
  boot: Omit<Boot, "build">
  person: Person | undefined
  /** 404 where the page's site or organization does not exist for the person who asks. */
  status: number
}

/** The id of the site that a page is about, and whether the page is more than its overview. */
const SITE_PAGE = /^\/sites\/([1-9]\d*)(\/.+)?/
const ORGANIZATION_PAGE = /^\/org\/([1-9]\d*)/

/** Who asks, what they may do, and the first numbers of a site's own page. Numbers that cannot be had are asked again by the page. */
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
    const site = await seenSite(reached.site, reached.role, person.user.id, options)
    return { ...plain, boot: { ...plain.boot, site, reports: await firstReports(request, person, reached, options) } }
  } catch (error) {
    if (!(error instanceof AppError)) options.log.error("the first numbers of a page could not be had", { error })
    return { ...plain, status: error instanceof AppError && error.code === "site_not_found" ? 404 : 200 }
  }
}

async function firstReports(request: Request, person: Person, { site, permissions }: SiteAccess, { stats }: BootOptions) {
  const { address, namesPeriod } = readSiteAddress(new URL(request.url).search)
  // Without a period the browser knows better: it remembers the last one of the site.
  if (!namesPeriod) return []
  const asking = { ...sightOf({ request, user: person.user, permissions }), form: "json" as const }
  const more = address.filters.length === 0 ? [summaryArguments(address, moreMetrics(permissions.has("revenue:read")))] : []
  const questions = [
    ...[summaryArguments(address), ...more].map((given) => ({ report: "summary", given, ask: stats.summary })),
    { report: "timeseries", given: timeseriesArguments(address), ask: stats.timeseries },
  ]
  return Promise.all(
    questions.map(async ({ report, given, ask }) => ({ site: site.id, report, given, data: await ask(site, given, asking) })),
  )
}
