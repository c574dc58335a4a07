import { DIMENSIONS, type Dimension, dimensionFacts, FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import { FLAT_METRICS, METRICS } from "../../../domain/metric.ts"
import { type Guide, inline, prose, table } from "./markup.ts"

type QueryMetric = (typeof METRICS)[number]

/** Meaning and unit of each metric (metrics.md section 5.2). */
const METRIC_MEANINGS: Readonly<Record<QueryMetric, readonly [unit: string, meaning: string]>> = {
  visitors: ["number", "Distinct visitors. Over several days a visitor is counted once per `visitor_window`, see below."],
  visits: ["number", "Visits that start in the range. A visit ends after 30 minutes without an event, and after 24 hours at the latest."],
  pageviews: ["number", "Events named `pageview`."],
  events: ["number", "Pageviews and custom events. Reports of engagement and web vitals are not counted."],
  views_per_visit: ["number, 2 decimals", "Pageviews of the visits, divided by the visits."],
  bounce_rate: ["percent", "Share of the visits with at most one pageview and no interactive custom event."],
  visit_duration: ["seconds", "Mean time from the first to the last event of a visit. A visit with one event counts as 0."],
  engaged_time: ["seconds", "Mean time per visit during which a page was visible and in focus."],
  time_on_page: ["seconds", "Mean engaged time on the page per visit that saw it. Needs a page as dimension or filter."],
  time_on_page_median: ["seconds", "The same as a median. Needs a page as dimension or filter."],
  scroll_depth: ["percent", "Mean of the deepest position reached per visit and page. Needs a page as dimension or filter."],
  exit_rate: ["percent", "Visits that ended on the page, divided by the pageviews of the page. Needs a page as dimension or filter."],
  percentage: ["percent", "Visitors of the row as a share of all visitors of the query. Needs a dimension."],
  conversions: ["number", "Completions of goals. A visitor can complete a goal several times."],
  conversion_rate: [
    "percent",
    "Visitors who completed a goal, divided by all visitors. Filters on goals, events and properties do not limit the divisor.",
  ],
  group_conversion_rate: ["percent", "Visitors of the row who completed a goal, divided by all visitors of the row."],
  total_revenue: ["amount", "Sum of the amounts in the currency of the site, less refunds. Other currencies are reported, not added."],
  average_revenue: ["amount", "Total revenue divided by the number of events with revenue."],
  lcp_p75: ["milliseconds", "Largest Contentful Paint, 75th percentile."],
  inp_p75: ["milliseconds", "Interaction to Next Paint, 75th percentile."],
  cls_p75: ["number, 3 decimals", "Cumulative Layout Shift, 75th percentile."],
  fcp_p75: ["milliseconds", "First Contentful Paint, 75th percentile."],
  ttfb_p75: ["milliseconds", "Time to First Byte, 75th percentile."],
}

/** Meaning of each dimension, with a value (metrics.md section 6). */
const DIMENSION_MEANINGS: Readonly<Record<Dimension, readonly [meaning: string, example: string]>> = {
  page: ["Path of the page, without its query.", "/pricing"],
  title: ["Title of the page.", "Pricing"],
  entry_page: ["Page of the first pageview of the visit.", "/"],
  exit_page: ["Page of the latest pageview of the visit.", "/thanks"],
  hostname: ["Host of the page, without `www.`", "shop.example"],
  source: [
    "Name of the site or campaign that the visit came from: `utm_source`, `source` or `ref` of its first address, or else the referrer. Known names are unified, so `Google` includes ads and `utm_source=google`. `channel` tells paid visits apart.",
    "Google",
  ],
  referrer: ["Host and path of the page that linked here.", "news.example/today"],
  channel: ["Group of sources.", "Organic Search"],
  utm_source: ["Campaign tag of the first address of the visit.", "newsletter"],
  utm_medium: ["Campaign tag of the first address of the visit.", "email"],
  utm_campaign: ["Campaign tag of the first address of the visit.", "spring-sale"],
  utm_term: ["Campaign tag of the first address of the visit.", "running shoes"],
  utm_content: ["Campaign tag of the first address of the visit.", "header"],
  country: ["ISO 3166-1 code. `country_name` filters by the English name.", "DE"],
  region: ["ISO 3166-2 code. `region_name` filters by the name.", "US-CA"],
  city: ["GeoNames id, or the name if the database has no ids. `city_name` filters by the name.", "2950159"],
  device: ["`Desktop`, `Mobile`, `Tablet` or `Other`.", "Mobile"],
  size: ["Width of the window in pixels, as a class.", "992-1439"],
  browser: ["Name of the browser.", "Firefox"],
  browser_version: ["Version of the browser.", "141.0"],
  os: ["Name of the operating system.", "Mac"],
  os_version: ["Version of the operating system.", "15.1"],
  language: ["Preferred language of the browser.", "de-DE"],
  event: ["Name of the event. Breakdowns leave out `pageview`.", "signup"],
  goal: ["Name of a completed goal of the site.", "Signed up"],
  property: ["Value of a property of the event. The key is given with it.", "pro"],
  entry_page_hostname: ["Host of the entry page.", "shop.example"],
  exit_page_hostname: ["Host of the exit page.", "shop.example"],
  click_id_type: ["Kind of click id in the first address of the visit. The id itself is not stored.", "gclid"],
}

const METRICS_ABOUT = `Reports under \`stats\` and the tools for assistants use the simple names. \`POST /query\` uses the names of Plausible’s stats API v2. Metrics
of recorded events are exact: nothing is sampled.

Imported daily totals are added where they fit the query: by default under \`stats\` (\`imports=false\` leaves them out), and in \`POST /query\` only with
\`"include": {"imports": true}\`. Their visitors of several days can only be added up, which \`visitors_estimated\` marks.

If the instance stores its events on ClickHouse, an answer contains \`late_events\` as long as events that were accepted more than ten seconds before may be missing.

A visit counts in the range in which it starts. Visitors, pageviews and events count at the time of each event. Rates are percentages from 0 to
100 with one decimal. A rate or mean whose divisor is 0 is 0, except \`time_on_page\`, \`scroll_depth\` and the web vitals, which are left out (\`null\` in \`POST /query\`) if nothing was
measured.`

const ADDING = `Visits, pageviews, events and conversions of buckets and pages can be added up. Visitors cannot: one person can view several pages and return on
several days.

If the range covers more than one day, the response names the \`visitor_window\`: the period within which a visitor is counted once. It is \`day\`
unless the site recognizes visitors for longer (\`week\`, \`month\`, \`identified\` or \`persistent\`). \`mixed\` means that this was changed within the range.`

const DIMENSIONS_ABOUT = `Dimensions of the event differ between the events of a visit. Dimensions of the visit are those of its first event. A missing
value is \`(none)\`, for source and referrer \`Direct\`. In \`POST /query\` it is \`(not set)\`, for source and referrer \`Direct / None\`, and \`(none)\` for
properties and host names.`

const TIMES = `\`POST /query\` also groups by time: \`time:minute\`, \`time:hour\`, \`time:day\`, \`time:week\` (from Monday), \`time:month\`, or \`time\` for the size that fits
the range. Days are those of the site’s time zone, or of \`timezone\` in the request.`

const code = (text: string): string => `<code>${text}</code>`
/** The name of revenue differs between the two forms. */
const flatName = (name: QueryMetric): string | undefined =>
  name === "total_revenue" ? "revenue" : FLAT_METRICS.find((flat) => flat === name)

function metricRows(): string[][] {
  return METRICS.map((name) => {
    const [unit, meaning] = METRIC_MEANINGS[name]
    const flat = flatName(name)
    const names = flat === name ? code(name) : `${flat ? `${code(flat)}<br>` : ""}${code(name)} <small>in queries</small>`
    return [names, unit, inline(meaning)]
  })
}

function dimensionRows(): string[][] {
  return (Object.keys(DIMENSIONS) as Dimension[]).map((name) => {
    const [meaning, example] = DIMENSION_MEANINGS[name]
    const { level, query } = dimensionFacts(name)
    const isFlat = FLAT_DIMENSIONS.some((flat) => flat === name)
    const queried = name === "property" ? ["event:props:<key>"] : query
    const names = `${isFlat ? `${code(name)}<br>` : ""}${queried.map((each) => code(each.replace("<", "&lt;"))).join("<br>")}`
    return [names, level, inline(meaning), code(example)]
  })
}

/** Explains each metric and each dimension. */
export const metricsGuide = (): Guide => ({
  id: "metrics",
  title: "Metrics and dimensions",
  html: `${prose(METRICS_ABOUT)}
<h3>Metrics</h3>${table(["Name", "Unit", "Meaning"], metricRows())}
<h3>Visitors of several days</h3>${prose(ADDING)}
<h3>Dimensions</h3>${prose(DIMENSIONS_ABOUT)}${table(["Name, and name in queries", "Of the", "Meaning", "Example"], dimensionRows())}
${prose(TIMES)}`,
})
