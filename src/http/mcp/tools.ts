import { INPUT, type InputSchema, type ToolName } from "../public/report-schemas.ts"
import { OUTPUT, type OutputSchema } from "./output-schemas.ts"

/** Tool as returned by `tools/list`. */
interface Tool {
  name: ToolName
  title: string
  description: string
  inputSchema: InputSchema
  outputSchema: OutputSchema
  annotations: object
}

/** Title and description of each tool, in the order of the list. */
const DESCRIPTIONS: Readonly<Record<ToolName, readonly [title: string, description: string]>> = {
  list_sites: [
    "List sites",
    "Lists the sites this API key may query, with id, name, hosts, time zone and currency. Call this first: every other tool needs a site_id from here.",
  ],
  get_summary: [
    "Get summary",
    "Headline totals of one site for a period: visitors, visits, page views, views per visit, bounce rate (percent), average visit duration (seconds), events (page views plus custom events). Set compare to see the change against an earlier period. Use get_timeseries for trends and get_breakdown for top lists.",
  ],
  get_timeseries: [
    "Get time series",
    "Metrics of one site in equal time buckets, for trends and spikes. Buckets without traffic are present with 0. A bucket with partial=true is still running or cut by the range: do not read it as a drop. Visitors of several buckets must not be added up.",
  ],
  get_breakdown: [
    "Get breakdown",
    "Top values of one dimension with their metrics, largest first: top pages, sources, countries, browsers, campaigns, events, goals. Example: top pages for visits from Germany = dimension page, filters [{dimension country, values [DE]}].",
  ],
  get_realtime: [
    "Get realtime visitors",
    "Visitors active on the site in the last 5 minutes, with their current pages and sources. No history: use get_timeseries for that.",
  ],
  list_goals: [
    "List goals",
    "The goals of a site with their conversions in the period, and the saved funnels of the site (id, name, steps) for run_funnel.",
  ],
  run_funnel: [
    "Run funnel",
    "Step-by-step conversion: how many visitors did step 1, then step 2 later, and so on, within the period. Give funnel_id of a saved funnel (from list_goals) or steps for an ad-hoc funnel, not both.",
  ],
}

const names = Object.keys(DESCRIPTIONS) as ToolName[] // the type guarantees that all tools are listed

export const TOOLS: readonly Tool[] = names.map((name) => {
  const [title, description] = DESCRIPTIONS[name]
  const annotations = { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
  return { name, title, description, inputSchema: INPUT[name], outputSchema: OUTPUT[name], annotations }
})

export const isToolName = (name: unknown): name is ToolName => names.some((known) => known === name)
