/** The built-in Overview, and the templates of new dashboards. */
import type { Site } from "#plugin"
import { type Config, DEFAULT_RANGE, type NewWidget, type WholeBoard } from "./board.ts"

export const OVERVIEW_ID = 0

export const widget = (
  type: string,
  title: string,
  [x, y, w, h]: readonly [number, number, number, number],
  config: Config,
): NewWidget => ({
  ...{ type, title, x, y, w, h, config },
  source_site_id: null,
  source_site_name: null,
})
export const figure = (metric: string, title: string, x: number, w = 3, config: Config = {}) =>
  widget("metric", title, [x, 0, w, 2], { metric, ...config })
export const list = (dimension: string, title: string, place: readonly [number, number, number, number], more: Config = {}) =>
  widget("breakdown", title, place, { dimension, metrics: ["visitors"], limit: 9, ...more })

const OVERVIEW: readonly NewWidget[] = [
  figure("visitors", "Visitors", 0, 2),
  figure("visits", "Visits", 2, 2),
  figure("pageviews", "Views", 4, 2),
  figure("views_per_visit", "Views per visit", 6, 2),
  figure("bounce_rate", "Bounce rate", 8, 2),
  figure("visit_duration", "Visit duration", 10, 2),
  widget("timeseries", "Visitors and views", [0, 2, 12, 4], { metrics: ["visitors", "pageviews"], chart: "line" }),
  list("source", "Sources", [0, 6, 6, 5]),
  list("page", "Pages", [6, 6, 6, 5], { metrics: ["visitors", "pageviews"] }),
  list("country", "Locations", [0, 11, 6, 5]),
  list("device", "Devices", [6, 11, 6, 5]),
  widget("goals", "Goals", [0, 16, 12, 4], { limit: 9 }),
]

/** Returns the built-in dashboard of a site. It is not stored. */
export const overviewOf = (site: Site): WholeBoard => ({
  id: OVERVIEW_ID,
  site_id: site.id,
  owner_user_id: null,
  name: "Overview",
  description: "",
  visibility: "site",
  range: DEFAULT_RANGE,
  filters: [],
  refresh_s: 0,
  position: 0,
  version: 1,
  created_at: site.created_at,
  updated_at: site.created_at,
  deleted_at: null,
  widgets: OVERVIEW.map((each, i) => ({ id: i + 1, ...each })),
})

export const TEMPLATES: Readonly<Record<"marketing" | "content" | "product", readonly NewWidget[]>> = {
  marketing: [
    figure("visitors", "Visitors", 0),
    figure("visits", "Visits", 3),
    figure("conversions", "Conversions", 6),
    figure("conversion_rate", "Conversion rate", 9),
    widget("timeseries", "Visitors", [0, 2, 8, 4], { metrics: ["visitors"], chart: "line" }),
    list("channel", "Channels", [8, 2, 4, 4]),
    list("source", "Sources", [0, 6, 4, 5], { metrics: ["visitors", "conversion_rate"] }),
    list("utm_campaign", "Campaigns", [4, 6, 4, 5], { metrics: ["visitors", "conversion_rate"] }),
    list("entry_page", "Landing pages", [8, 6, 4, 5], { metrics: ["visitors", "bounce_rate"] }),
    widget("goals", "Goals", [0, 11, 12, 4], { limit: 9 }),
  ],
  content: [
    figure("pageviews", "Views", 0),
    figure("visitors", "Readers", 3),
    figure("engaged_time", "Engaged time", 6),
    figure("views_per_visit", "Views per visit", 9),
    widget("timeseries", "Views and readers", [0, 2, 12, 4], { metrics: ["pageviews", "visitors"], chart: "bars" }),
    list("page", "Pages", [0, 6, 6, 5], { metrics: ["visitors", "pageviews", "time_on_page", "scroll_depth"] }),
    list("referrer", "Referrers", [6, 6, 6, 5]),
    list("entry_page", "Entry pages", [0, 11, 4, 5]),
    list("exit_page", "Exit pages", [4, 11, 4, 5]),
    widget("annotations", "Notes", [8, 11, 4, 5], { limit: 9 }),
  ],
  product: [
    widget("realtime", "Now", [0, 0, 4, 4], { minutes: 30 }),
    widget("timeseries", "Visitors and events", [4, 0, 8, 4], { metrics: ["visitors", "events"], chart: "line" }),
    list("event", "Events", [0, 4, 6, 5], { metrics: ["visitors", "events"] }),
    widget("goals", "Goals", [6, 4, 6, 5], { limit: 9 }),
    list("device", "Devices", [0, 9, 4, 5]),
    list("browser", "Browsers", [4, 9, 4, 5]),
    list("os", "Systems", [8, 9, 4, 5]),
    widget("web_vitals", "Web vitals", [0, 14, 12, 2], {}),
  ],
}
