import type { FlatMetric } from "../../domain/metric.ts"
import type { Timeseries } from "../../domain/report.ts"
import { rangeArguments, type SiteAddress, summaryArguments, timeseriesArguments } from "../../domain/site-address.ts"
import { Problem, post, remove } from "../api/api.ts"
import { useMe, useSite } from "../api/session.ts"
import { useSiteAddress } from "../browser/address.ts"
import { saveFile } from "../browser/files.ts"
import { copyText } from "../parts/copy.tsx"
import { useFirstItem } from "../parts/first-item.ts"
import { MenuItem } from "../parts/menu.tsx"
import { toast } from "../parts/toasts.tsx"
import { metricLabel, rangeText } from "../text/format.ts"
import { visible } from "../text/safe-text.tsx"
import type { RowMenuProps } from "./cards/ranked-list.tsx"
import { daysBetween, hoursBetween } from "./chart/days-between.ts"
import { type CardTab, detailsName, filtersWithout, openPage, pageAddress } from "./data/card-tabs.ts"
import { stripMetrics } from "./data/figures.ts"
import { rangeOf, todayIn } from "./data/ranges.ts"
import { asQuery, useStatsSource } from "./data/reports.ts"
import { openDialog } from "./dialogs.tsx"

export function RowMenuItems({ tab, value, close }: RowMenuProps & { close(): void }) {
  const { siteId, base, address, go } = useSiteAddress()
  const source = useStatsSource()
  const box = useFirstItem()
  const { data: site } = useSite(source.siteId)
  const page = pageAddress(tab, value, site?.hosts[0])
  const after = (act: () => void) => () => {
    close()
    act()
  }
  return (
    <div ref={box}>
      {source.filters && tab.dimension !== "goal" && (
        <MenuItem onSelect={after(() => go({ filters: filtersWithout(address.filters, tab, value) }))}>Exclude value</MenuItem>
      )}
      <MenuItem onSelect={after(() => void copyText(value))}>Copy value</MenuItem>
      {source.siteId !== undefined && (
        <MenuItem onSelect={after(() => go({}, { path: `${base}/details/${detailsName(tab)}` }))}>View details</MenuItem>
      )}
      {page && <MenuItem onSelect={after(() => openPage(page))}>Open page</MenuItem>}
      {source.siteId !== undefined && isBlockable(tab, value) && source.can("site:write") && (
        <MenuItem kind="danger" onSelect={after(() => void block(siteId, tab, value))}>
          Block source
        </MenuItem>
      )}
    </div>
  )
}

const isNoValue = (value: string): boolean => value === "Direct" || value.startsWith("(")

const isBlockable = ({ dimension }: CardTab, value: string): boolean =>
  (dimension === "source" || dimension === "referrer") && !isNoValue(value)

/** Creates a shield that drops new visits from the source. Recorded visits are kept. */
async function block(siteId: number, { dimension }: CardTab, value: string): Promise<void> {
  const path = `/api/private/sites/${siteId}/shields`
  const conditions = [{ dimension, operator: "is", values: [value] }]
  try {
    const { id } = await post<{ id: number }>(path, {
      kind: "rule",
      value: `${dimension} ${value}`,
      conditions,
      note: "Blocked on the dashboard",
    })
    toast(`New visits from ${visible(value)} are blocked`, () => void remove(`${path}/${id}`))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    toast(error.message)
  }
}

interface PointItemsProps {
  series: Timeseries
  time: string
  close(): void
}

/** Menu items for a point of the chart. */
export function PointItems({ series, time, close }: PointItemsProps) {
  const { siteId, go } = useSiteAddress()
  const { can } = useStatsSource()
  const box = useFirstItem()
  const { interval } = series
  const day = time.slice(0, 10)
  const point = series.points.findIndex((one) => one.time === time)
  const days = daysBetween(series, point, point)
  const hours = !Number.isNaN(siteId) && can("people:read") ? hoursBetween(series, point, point) : undefined
  return (
    <div ref={box}>
      {hours && (
        <MenuItem
          onSelect={() => {
            close()
            go(hours, { path: `/sites/${siteId}/visits` })
          }}
        >
          Show visits of this hour
        </MenuItem>
      )}
      {days && (
        <MenuItem
          onSelect={() => {
            close()
            go({ period: "custom", ...days })
          }}
        >
          {interval === "week" ? "Show this week" : interval === "month" ? "Show this month" : "Show this day"}
        </MenuItem>
      )}
      {!Number.isNaN(siteId) && (
        <MenuItem
          onSelect={() => {
            close()
            openDialog.set({ name: "notes", day })
          }}
        >
          Add note
        </MenuItem>
      )}
    </div>
  )
}

/** Items of the export menu: link, API call, MCP prompt, CSV, PNG, print, share. */
export function ExportItems({ close }: { close(): void }) {
  const { siteId, address } = useSiteAddress()
  const { timezone, exportAddress, can } = useStatsSource()
  const me = useMe()
  const box = useFirstItem()
  const after = (act: () => void) => () => {
    close()
    act()
  }
  const asked = { siteId, address, metrics: stripMetrics(address, can("revenue:read")) }
  const { from, to } = rangeOf(address, todayIn(timezone))
  const name = visible(me?.sites.find(({ id }) => id === siteId)?.name ?? "Site")
  const picture = () => {
    const title = `${name}: ${metricLabel(address.metric)}${address.period === "all" ? "" : `, ${rangeText(from, to)}`}`
    if (!savePicture(title, `${from}-${to}-${address.metric}.png`))
      toast("There is no chart to save. Switch from the table to the chart first.")
  }
  const { metrics: _, ...range } = { ...rangeArguments(address), ...pick(timeseriesArguments(address)) }
  return (
    <div ref={box}>
      <MenuItem onSelect={after(() => void copyText(location.href))}>Copy link</MenuItem>
      <MenuItem onSelect={after(() => void copyText(apiCall(location.origin, asked)))}>Copy as API call</MenuItem>
      <MenuItem onSelect={after(() => void copyText(mcpPrompt(asked)))}>Copy as MCP prompt</MenuItem>
      {exportAddress && <MenuItem href={exportAddress("timeseries", { ...range, metrics: [address.metric] })}>Download CSV</MenuItem>}
      {exportAddress && <MenuItem onSelect={after(picture)}>Download PNG</MenuItem>}
      <MenuItem onSelect={after(() => print())}>Print</MenuItem>
      {can("dashboards:share") && <MenuItem href={`/sites/${siteId}/settings/sharing`}>Share a view</MenuItem>}
    </div>
  )
}

/** Picks the arguments that a CSV export accepts: no comparison. */
const pick = ({ interval, metrics }: ReturnType<typeof timeseriesArguments>) => ({ metrics, ...(interval !== undefined && { interval }) })

interface AskedSummary {
  siteId: number
  address: SiteAddress
  metrics: readonly FlatMetric[]
}

/** Returns the page's summary as a curl command for the public API. The key is taken from an environment variable. */
function apiCall(origin: string, { siteId, address, metrics }: AskedSummary): string {
  const query = asQuery(summaryArguments(address, metrics))
  return `curl -H "Authorization: Bearer $FOOTFALL_KEY" ${quoted(`${origin}/api/public/v1/sites/${siteId}/stats/summary?${query}`)}`
}

/** Quotes a text for the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the page's summary as a prompt for an assistant with the MCP tools of this instance. */
const mcpPrompt = ({ siteId, address, metrics }: AskedSummary): string =>
  `Call the Footfall tool get_summary with ${JSON.stringify({ site_id: siteId, ...summaryArguments(address, metrics) })} and tell me what stands out.`

const MARGIN = 16
const TITLE = 32

/** Saves the page's chart with a title as a PNG file. Returns false if no chart is shown. */
function savePicture(title: string, fileName: string): boolean {
  const chart = document.querySelector<HTMLCanvasElement>(".chart-canvas canvas")
  if (!chart || chart.width === 0) return false
  const scale = devicePixelRatio
  const picture = document.createElement("canvas")
  picture.width = chart.width + 2 * MARGIN * scale
  picture.height = chart.height + (2 * MARGIN + TITLE) * scale
  const ctx = picture.getContext("2d")
  if (!ctx) return false
  const style = getComputedStyle(document.documentElement)
  ctx.fillStyle = style.getPropertyValue("--surface").trim()
  ctx.fillRect(0, 0, picture.width, picture.height)
  ctx.fillStyle = style.getPropertyValue("--ink").trim()
  ctx.font = `600 ${15 * scale}px ${getComputedStyle(document.body).fontFamily}`
  ctx.textBaseline = "top"
  ctx.fillText(title, MARGIN * scale, MARGIN * scale, picture.width - 2 * MARGIN * scale)
  ctx.drawImage(chart, MARGIN * scale, (MARGIN + TITLE) * scale)
  picture.toBlob((blob) => blob && saveFile(fileName, blob), "image/png")
  return true
}
