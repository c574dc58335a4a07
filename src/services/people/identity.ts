import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { hasLongKeys, horizonDays, modeAt, type PeopleIdentity, ROTATING_DAYS } from "../../domain/identity.ts"
import { roundedRatio } from "../../domain/metric.ts"
import type { Coverage, PeopleScope } from "../../domain/people.ts"
import type { Range, SiteFacts } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import type { IdentityMode } from "../../domain/visit.ts"
import { periodAt } from "../../ingest/identity/salt-period.ts"
import { localDay } from "../../query/parse/period.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { SiteKeys } from "../sites/site-keys.ts"

/**
 * The rule of who counts as a person (areas/04 section 1, metrics.md section 2). A rotating id is known within one salt period only, so
 * a request over a longer time counts people with a user id or device id, or is refused: it never shows a 0 that means "not recognizable".
 */
export interface IdentityRule {
  /** Decides who counts in a request. Throws `identity_insufficient` with `needed_days`, `mode`, `horizon_days` and `options`. */
  resolve(request: PeopleRequest): Promise<CountedPeople>
}

export interface PeopleRequest {
  site: Site
  /** Range of the request: `coverage` is a share of its visits, and `boundary_days` lie in it. */
  range: Range
  /** Windows that the request looks at in addition to the range, such as those of conditions. Empty ones are ignored. */
  windows?: readonly Range[]
  /**
   * Windows that are independent of each other, such as the cells of a retention report, replace `range` and `windows` in the rule. The
   * request is answered if one of them can be.
   */
  separate?: readonly Range[]
  /** IANA time zone of the request's days. Default: that of the site. */
  timezone?: string
  /** Counts only people with a user id or device id, in every mode. */
  restrict?: "identified"
}

/** The people who count in a request. */
export interface CountedPeople {
  scope: PeopleScope
  /** Returns whether everyone who counts is recognized throughout a window. */
  recognizes(window: Range): boolean
  /**
   * Returns how people are recognized, for the answer. Throws `identity_insufficient` when only people with a user id or device id count
   * and no visit of the range has one.
   */
  identity(coverage: Coverage): PeopleIdentity
}

export interface IdentityRuleOptions {
  clock: Pick<Clock, "now">
  siteKeys: Pick<SiteKeys, "siteKey">
  imports: Pick<VisibleImports, "firstAt">
  events: Pick<EventStore, "hasPeople">
  factsOf(site: Site): SiteFacts
}

const DAY_MS = 86_400_000

export function createIdentityRule({ clock, siteKeys, imports, events, factsOf }: IdentityRuleOptions): IdentityRule {
  return {
    async resolve({ site, range, windows = [], separate, timezone = site.timezone, restrict }) {
      const now = clock.now()
      const { settings } = site
      const asked = separate ?? [span([range, ...windows])]
      const isShort = asked.some((window) => isInOnePeriod(site, window))
      const identifiedOnly = restrict === "identified" || (!isShort && hasLongKeys(settings.identity_mode))
      const refuse = (hasPeople: boolean) => {
        const needed = Math.min(...asked.map((window) => dayCount(window, site.timezone)))
        const options = optionsOf({ site, hasPeople, identifiedOnly, isLong: needed > 1 })
        return identityInsufficient(site, needed, options)
      }
      if (!isShort && !identifiedOnly) throw refuse(await events.hasPeople(site.id))
      return {
        scope: {
          site: factsOf(site),
          timezone,
          now,
          identifiedOnly,
          saltEdges: saltEdges(site, imports.firstAt(site.id) ?? now, now),
          deviceMs: settings.persistent_days * DAY_MS,
          siteKey: await siteKeys.siteKey(site.id),
        },
        recognizes: (window) => identifiedOnly || isInOnePeriod(site, window),
        identity({ visits, recognized }) {
          if (identifiedOnly && visits > 0 && recognized === 0) throw refuse(false)
          return {
            mode: settings.identity_mode,
            horizon_days: horizonDays(settings),
            coverage: roundedRatio(100 * recognized, visits, 1),
            restricted: identifiedOnly,
            boundary_days: boundaryDays(site, range, timezone),
          }
        },
      }
    },
  }
}

/** A way in which a request that was refused can be answered. */
type IdentityOption = "shorten_window" | "restrict_identified" | "switch_mode"

interface Refused {
  site: Site
  /** Whether the site has people with a user id or device id. */
  hasPeople: boolean
  identifiedOnly: boolean
  /** Whether the request covers more than one day. */
  isLong: boolean
}

function optionsOf({ site, hasPeople, identifiedOnly, isLong }: Refused): IdentityOption[] {
  return [
    ...(isLong ? (["shorten_window"] as const) : []),
    ...(hasPeople && !identifiedOnly ? (["restrict_identified"] as const) : []),
    ...(hasLongKeys(site.settings.identity_mode) ? [] : (["switch_mode"] as const)),
  ]
}

/** Creates the error for a request that needs visitors to be recognized for longer than the site recognizes them. */
export function identityInsufficient(
  { settings }: Site,
  needed_days: number,
  options: readonly IdentityOption[],
  detail = `This report needs people to be recognized for ${daysText(needed_days)}. ${RECOGNIZED[settings.identity_mode]}`,
): AppError {
  return new AppError("identity_insufficient", detail, {
    needed_days,
    mode: settings.identity_mode,
    horizon_days: horizonDays(settings),
    options,
  })
}

const RECOGNIZED: Readonly<Record<IdentityMode, string>> = {
  daily: "This site recognizes visitors within one day.",
  weekly: "This site recognizes visitors within one calendar week.",
  monthly: "This site recognizes visitors within one calendar month.",
  identified: "No visitor in this range is identified.",
  persistent: "No visitor in this range has a user id or a stored id.",
}
const daysText = (days: number): string => (days === 1 ? "1 day" : `${days} days`)

/** Returns the range from the start of the first to the end of the last window. */
function span(windows: readonly Range[]): Range {
  const lasting = windows.filter(({ from, to }) => from < to)
  const [first = { from: 0, to: 0 }] = windows
  return lasting.reduce((all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }), lasting[0] ?? first)
}

const isInOnePeriod = (site: Site, { from, to }: Range): boolean => periodAt(site, from).to >= to

/** Returns the number of the site's local days that a range touches, whatever time zone the request uses. */
const dayCount = ({ from, to }: Range, timezone: string): number =>
  localDay(from, timezone).until(localDay(Math.max(from, to - 1), timezone)).days + 1

/** Returns the days of a range on which a salt week or month begins. */
function boundaryDays(site: Site, range: Range, timezone: string): string[] {
  const days: string[] = []
  const modes = [site.settings, ...site.identity_history].map(({ identity_mode }) => identity_mode)
  if (!modes.some((mode) => ROTATING_DAYS[mode] > 1)) return days
  for (let at = range.from; at < range.to; ) {
    const period = periodAt(site, at)
    if (period.from >= range.from && isLongerThanDay(site, at)) days.push(localDay(period.from, timezone).toString())
    at = period.to
  }
  return days
}

/** Returns whether the salts at a time last for a week or a month. */
const isLongerThanDay = (site: Site, at: number): boolean => ROTATING_DAYS[modeAt(site, at)] > 1

/** The edges computed last, by site. The directory returns a new object after every change of a site. */
const knownEdges = new WeakMap<Site, readonly number[]>()

/** Returns the edges of the salt periods, from the one of `first` until after `now`. A site with ten years of data has 3,650. */
function saltEdges(site: Site, first: number, now: number): readonly number[] {
  const start = periodAt(site, first).from
  const known = knownEdges.get(site)
  const isKnown = known?.[0] === start
  if (isKnown && known.at(-1)! > now) return known
  const edges = isKnown ? [...known] : [start]
  for (let last = edges.at(-1)!; last <= now; edges.push(last)) last = periodAt(site, last).to
  knownEdges.set(site, edges)
  return edges
}
