/** The dashboard of the demo. */
import type { DemoSite } from "#plugin"
import type { Area } from "./area.ts"
import { DEFAULTS, type NewWidget } from "./board.ts"
import { figure, list, widget } from "./templates.ts"

const NOTE = `## How the shop is doing

**Visitors** are counted per day. A **purchase** is the last step of the funnel. Click a row of a list to filter everything by it.`

const WIDGETS: readonly NewWidget[] = [
  figure("visitors", "Visitors", 0),
  figure("conversions", "Conversions", 3),
  figure("conversion_rate", "Conversion rate", 6),
  figure("revenue", "Revenue", 9),
  widget("timeseries", "Visitors and views", [0, 2, 8, 4], { metrics: ["visitors", "pageviews"], chart: "line" }),
  widget("realtime", "Now", [8, 2, 4, 4], { minutes: 30 }),
  list("channel", "Channels", [0, 6, 4, 5]),
  list("page", "Pages", [4, 6, 4, 5], { metrics: ["visitors", "pageviews"] }),
  list("utm_campaign", "Campaigns", [8, 6, 4, 5], { metrics: ["visitors", "conversion_rate"] }),
  widget("funnel", "From visit to purchase", [0, 11, 6, 4], {
    steps: [
      { type: "page", match: "prefix", value: "/", name: "Visit" },
      { type: "page", value: "/cart", name: "Cart" },
      { type: "event", value: "purchase", name: "Purchase" },
    ],
  }),
  widget("map", "Countries", [6, 11, 6, 4], { metric: "visitors", level: "country" }),
  widget("comparison", "Devices", [0, 15, 6, 2], {
    metric: "visitors",
    rows: ["Desktop", "Mobile"].map((device) => ({
      label: device,
      filters: [{ dimension: "device", operator: "is", values: [device] }],
    })),
  }),
  widget("text", "About", [6, 15, 6, 2], { markdown: NOTE }),
]

/** Creates a dashboard that everyone on the demo's site sees, and a public link to it. */
export async function fillDemo({ host, writes, shares }: Area, { site, userId }: DemoSite): Promise<void> {
  const fields = {
    ...DEFAULTS,
    name: "Shop at a glance",
    description: "Where visitors come from, and what they buy.",
    visibility: "site" as const,
    range: { period: "28d", compare: "previous_period" as const },
    refresh_s: 60,
  }
  const author = { actor: host.audit.system, user: { id: userId } }
  const board = await host.db.transaction((statements) => writes.insert(statements, site, { fields, widgets: WIDGETS }, author))
  await shares.create({ board, site }, { name: "Shop at a glance" }, userId)
}
