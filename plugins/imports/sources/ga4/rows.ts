import type { ImportedKind } from "#plugin"
import { IMPORTED_TABLES } from "#plugin/worker"
import { regionByName } from "../region-names.ts"
import { hostOf, originTexts, pageOf, textOf } from "../totals-rows.ts"
import { browserTraits, deviceOf, placeTraits, systemTraits } from "../traits.ts"
import type { Dimension, Metric } from "./columns.ts"
import { readCount, readCountry, readLanguage, readNumber, readRate, readSeconds } from "./values.ts"

/** Converts the rows of reports of Google Analytics, from its files and from its API, to counts and texts of totals. */

export type Dimensions = Partial<Record<Dimension, string>>
export type Metrics = Partial<Record<Metric, string>>

/** Events that GA4 records by itself. They are pageviews and visits, which are counted as such. */
const AUTOMATIC = new Set(["page_view", "session_start", "first_visit", "first_open", "user_engagement", "scroll"])

/** Returns whether a row counts events that are imported as pageviews and visits. */
export const isAutomatic = (kind: ImportedKind, { event = "" }: Dimensions): boolean =>
  kind === "imported_custom_events" && AUTOMATIC.has(event)

/** Returns the counts of a table that the metrics give. Averages are multiplied by what they are averages of. */
export function countsOf(kind: ImportedKind, metrics: Metrics): Readonly<Record<string, number>> {
  const count = (metric: Metric) => (metrics[metric] === undefined ? undefined : readCount(metrics[metric]))
  const sessions = count("sessions")
  const users = count("active_users")
  const engagement = engagementOf(metrics, users, sessions)
  const given: Readonly<Record<string, number | undefined>> = {
    visitors: count("total_users") ?? users,
    pageviews: count("views"),
    visits: sessions,
    entrances: sessions,
    bounces: sessions === undefined ? undefined : bouncesOf(metrics, sessions),
    visit_duration: engagement,
    time_on_page: users === undefined ? undefined : engagement,
    time_on_page_visits: engagement === undefined ? undefined : users,
    events: count("events"),
  }
  const names = IMPORTED_TABLES[kind].counts
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

function bouncesOf(metrics: Metrics, sessions: number): number | undefined {
  const { engaged_sessions, bounce_rate, engagement_rate } = metrics
  if (engaged_sessions !== undefined) return Math.max(0, sessions - readCount(engaged_sessions))
  if (bounce_rate !== undefined) return Math.round(readRate(bounce_rate) * sessions)
  return engagement_rate === undefined ? undefined : Math.round((1 - readRate(engagement_rate)) * sessions)
}

function engagementOf(metrics: Metrics, users: number | undefined, sessions: number | undefined): number | undefined {
  const { engagement, engagement_per_user, session_duration, engagement_per_session } = metrics
  if (engagement !== undefined) return Math.round(readNumber(engagement))
  if (engagement_per_user !== undefined && users !== undefined) return Math.round(readSeconds(engagement_per_user) * users)
  const perSession = session_duration ?? engagement_per_session
  return perSession === undefined || sessions === undefined ? undefined : Math.round(readSeconds(perSession) * sessions)
}

export function textsOf(kind: ImportedKind, dimensions: Dimensions): Readonly<Record<string, string>> {
  const text = (dimension: Dimension) => textOf(dimensions[dimension] ?? "")
  switch (kind) {
    case "imported_pages":
      return { hostname: hostOf(text("hostname")), page: pageOf(text("page")) }
    case "imported_entry_pages":
      return { entry_page: pageOf(text("landing_page")) }
    case "imported_sources":
      return sourceTexts(dimensions)
    case "imported_locations": {
      const country = readCountry(text("country"))
      return placeTraits({ country, region: regionByName(country, text("region")), city: text("city") })
    }
    case "imported_devices":
      return { device: deviceOf(text("device")) }
    case "imported_browsers":
      return browserTraits(text("browser"), text("browser_version"))
    case "imported_operating_systems":
      return systemTraits(text("os"), text("os_version"))
    case "imported_languages":
      return { language: readLanguage(text("language")) }
    case "imported_custom_events":
      return { name: text("event") }
    default:
      return {}
  }
}

/** Campaigns that Google names by itself. */
const NO_CAMPAIGN = new Set(["(organic)", "(direct)", "(referral)", "(not set)"])

function sourceTexts({ source, medium, source_medium, campaign = "", content = "", term = "", channel }: Dimensions) {
  const [pairSource = "", pairMedium = ""] = source_medium?.split(" / ") ?? []
  const texts = originTexts({
    source: source ?? pairSource,
    utm_medium: medium ?? pairMedium,
    utm_campaign: NO_CAMPAIGN.has(campaign) ? "" : campaign,
    utm_content: content,
    utm_term: term,
  })
  return channel === undefined ? texts : { ...texts, channel: textOf(channel) }
}
