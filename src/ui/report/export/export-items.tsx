import type { FlatMetric } from "../../../domain/metric.ts"
import { rangeArguments, type SiteAddress, summaryArguments, timeseriesArguments } from "../../../domain/site-address.ts"
import { useMe } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { saveFile } from "../../browser/files.ts"
import { copyText } from "../../parts/copy.tsx"
import { MenuItem } from "../../parts/menu.tsx"
import { toast } from "../../parts/toasts.tsx"
import { metricLabel, rangeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { rangeOf, todayIn } from "../data/ranges.ts"
import { asQuery, useStatsSource } from "../data/source.ts"
import { stripMetrics } from "../data/strip-metrics.ts"
import { useFirstItem } from "../use-first-item.ts"

/** Items of the export menu: link, API call, MCP prompt, CSV, PNG, print, share. */
export default function ExportItems({ close }: { close(): void }) {
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
