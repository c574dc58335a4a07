import { type Fault, refuseFaults } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { ApiKey } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import { fault, inDocumentOrder } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { pageOf, parseListing } from "../../services/definitions/listing.ts"
import type { Sites } from "../../services/sites/sites.ts"
import { argumentFaults, type Stats } from "../../services/stats/stats.ts"
import type { ToolName } from "../public/report-schemas.ts"
import type { SiteList } from "./output-schemas.ts"

/** Caller of a tool, with the signal of a disconnected client. */
export interface Caller {
  key: ApiKey
  signal: AbortSignal
  requestId: string
}

export interface ToolOptions {
  stats: Stats
  sites: Pick<Sites, "visible" | "listVisible">
  /** Returns the time of a site's first event in epoch milliseconds, or undefined without events. */
  firstAt(siteId: number): number | undefined
  now(): number
}

type Given = Record<string, unknown>
export type ToolCall = (given: Given, caller: Caller) => Promise<object>

/** Returns the function of each tool. Tools call the same services as the REST routes, so both return the same objects. */
export function toolCalls(options: ToolOptions): Readonly<Record<ToolName, ToolCall>> {
  const { stats, sites, now } = options

  const onSite =
    (report: keyof Stats): ToolCall =>
    async (given, { key, signal }) => {
      refuseIds(report, given, now())
      const { site_id, ...rest } = given
      const site = await sites.visible(key, String(site_id))
      return stats[report](site, rest, { form: "json", signal })
    }
  return {
    list_sites: siteLister(options),
    get_summary: onSite("summary"),
    get_timeseries: onSite("timeseries"),
    get_breakdown: onSite("breakdown"),
    get_realtime: onSite("realtime"),
    list_goals: onSite("goals"),
    run_funnel: onSite("funnel"),
  }
}

function siteLister({ sites, firstAt }: ToolOptions): ToolCall {
  const shown = ({ id, name, hosts, timezone, revenue_currency, created_at }: Site): SiteList["sites"][number] => {
    const first = firstAt(id)
    return {
      ...{ site_id: id, name, hosts: [...hosts], timezone, revenue_currency, created_at: instantText(created_at) },
      ...(first !== undefined && { first_event_at: instantText(first) }),
    }
  }
  return async (given, { key }) => {
    const listing = parseListing("sites", given, "searched", "json")
    const { data, next_cursor } = await pageOf("sites", listing, (slice) => sites.listVisible(key, { ...listing, ...slice }))
    return { sites: data.map(shown), ...(next_cursor !== undefined && { next_cursor }) }
  }
}

/**
 * Throws if an id is invalid, because ids are not validated with the arguments of a report. The error also lists other problems that
 * can be found without the site.
 */
function refuseIds(report: keyof Stats, given: Given, now: number): void {
  const { site_id, ...rest } = given
  const faults = [...idFaults("site_id", site_id), ...(report === "funnel" ? funnelFaults(given) : [])]
  if (faults.length === 0) return
  const known = new Set(faults.map(({ pointer }) => pointer))
  const others = argumentFaults(report, rest, now).filter(({ pointer }) => !known.has(pointer))
  refuseFaults(inDocumentOrder([...faults, ...others], given))
}

/** Returns the faults of funnel arguments. Arguments of tools must not be null, and the id is validated before the funnel is read. */
function funnelFaults({ funnel_id, window_hours }: Given): Fault[] {
  const faults = funnel_id === undefined ? [] : idFaults("funnel_id", funnel_id)
  return window_hours === null ? [...faults, fault("/window_hours", "invalid_type", "must be a whole number")] : faults
}

/** Returns the faults of an id, which can be a number or digits: `5`, `"5"`. */
function idFaults(name: string, value: unknown): Fault[] {
  const pointer = `/${name}`
  if (value === undefined) return [fault(pointer, "required", "is required")]
  if (typeof value !== "string" && typeof value !== "number") return [fault(pointer, "invalid_type", "must be a whole number")]
  if (parseId(value) !== undefined) return []
  const isWhole = typeof value === "number" && Number.isSafeInteger(value)
  return [
    isWhole ? fault(pointer, "out_of_range", "must be at least 1") : fault(pointer, "invalid_type", "must be a whole number from 1 on"),
  ]
}
