/** Where the figures of a shared dashboard come from, and by what its viewers can filter. */
import { DEFAULT_ADDRESS, type Dimension, post, type SiteAddress, type StatsSource, valueText } from "#plugin/ui"
import type { DataResponse } from "../../responses.ts"
import type { OpenBoard } from "../../shares/responses.ts"

type SharedWidget = OpenBoard["widgets"][number]

/** Returns the dimension whose values a widget lists. Viewers can filter by those, and by no others. */
const listedBy = ({ type, config }: SharedWidget): Dimension | undefined =>
  type === "map" ? (config.level === "region" ? "region" : "country") : type === "breakdown" ? (config.dimension as Dimension) : undefined // a name of the catalogue

/** Removes the parts of an address that the share does not allow. Segments and cohorts are never allowed, because they can contain any filter. */
export function allowedAddress({ allow_range, allow_filters, widgets }: OpenBoard, address: SiteAddress): SiteAddress {
  const { segment: _, cohort: __, ...plain } = address
  const listed = widgets.map(listedBy)
  return {
    ...(allow_range ? plain : DEFAULT_ADDRESS),
    any: [],
    filters: allow_filters ? address.filters.filter(({ dimension }) => listed.includes(dimension)) : [],
  }
}

/** The source of reports for the parts of the page that ask for some: the dialog for filters, whose suggestions are the rows of widgets. */
export function sharedSource(path: string, board: OpenBoard, site: number): StatsSource {
  const { timezone, widgets, allow_filters } = board
  const listing = (dimension: unknown, property: unknown) =>
    widgets.find((widget) => listedBy(widget) === dimension && (dimension !== "property" || widget.config.property === property))
  const keys = widgets.flatMap((widget) => (listedBy(widget) === "property" ? [widget.config.property ?? ""] : []))

  async function rowsOf({ dimension, property }: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Row[]> {
    const widget = listing(dimension, property)
    if (!widget) return []
    const { results } = await post<DataResponse>(`${path}/data`, { widgets: [widget.id], site }, { signal })
    const result = results[widget.id]
    return result?.status === "ok" ? (result.data as { rows: Row[] }).rows : [] // the answer of both types of widgets
  }
  return {
    key: `${path} ${site}`,
    siteId: undefined,
    timezone,
    currency: "EUR",
    async ask(report, given, signal) {
      if (report === "properties") return { data: keys.map((property) => ({ property, events: 0, values: [] })) }
      const rows = await rowsOf(given, signal)
      if (report === "breakdown") return { rows }
      const typed = String(given.q ?? "").toLowerCase()
      const textOf = ({ value, label }: Row) => `${value} ${valueText(String(given.dimension), value, label)}`.toLowerCase()
      return { data: rows.filter((row) => textOf(row).includes(typed)).slice(0, Number(given.limit)) }
    },
    exportAddress: undefined,
    filters: allow_filters && widgets.some(listedBy),
    filterDimensions: [...new Set(widgets.flatMap((widget) => listedBy(widget) ?? []))],
    shows: () => false,
    can: () => false,
  }
}

interface Row {
  value: string
  label?: string
  visitors: number
}
