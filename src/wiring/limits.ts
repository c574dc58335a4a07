import type { Config } from "../../config/schema.ts"
import { API, COLLECT, NEW_VALUES_PER_DAY, ORGANIZATION, PASSWORD, QUERY, THINGS } from "../domain/limits.ts"

type Limits = { [name: string]: number | null | Limits }

/** Returns the rate limits for events. 0 means no limit. */
export const eventLimits = (config: Config) => ({
  visitorEventsPerMinute: config.limit_visitor_events,
  siteEventsPerSecond: config.limit_site_events,
  siteBurst: config.limit_site_events * (COLLECT.siteBurst / COLLECT.siteEventsPerSecond),
  instanceEventsPerSecond: config.limit_instance_events,
})

/** Returns the effective limits of the instance, including those that the operator has changed or disabled (null). */
export function limitsInForce(config: Config): Limits {
  const orNone = (configured: number) => (configured === 0 ? null : configured)
  const { sitesPerOrganization: _, ...ofSite } = THINGS
  const events = Object.entries(eventLimits(config)).map(([name, configured]) => [name, orNone(configured)] as const)
  return snakeCased({
    collecting: { ...COLLECT, ...Object.fromEntries(events) },
    newValuesPerDay: NEW_VALUES_PER_DAY,
    api: { ...API, requestsPerMinute: orNone(config.api_rate_limit), privateRequestsPerSecond: config.private_rate },
    organization: { ...ORGANIZATION, sites: config.max_sites },
    reports: QUERY,
    site: ofSite,
    password: PASSWORD,
  })
}

function snakeCased(given: Readonly<Limits>): Limits {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const shown = (value: Limits[string]) => (typeof value === "object" && value !== null ? snakeCased(value) : value)
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [snake(name), shown(value!)]))
}
