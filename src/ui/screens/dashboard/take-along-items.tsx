import { rangeArguments, timeseriesArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { copyText } from "../../clipboard.ts"
import { metricLabel, rangeText } from "../../format.ts"
import { useMe } from "../../me.ts"
import { MenuItem } from "../../parts/menu.tsx"
import { visible } from "../../safe-text.ts"
import { rangeOf, todayIn } from "../../stats/ranges.ts"
import { useStatsSource } from "../../stats/source.ts"
import { useFirstItem } from "../../stats/use-first-item.ts"
import { toast } from "../../toasts.ts"
import { apiCall, mcpPrompt } from "./api-call.ts"
import { savePicture } from "./save-picture.ts"
import { stripMetrics } from "./strip-metrics.ts"

/** What can be taken: a call, a prompt, files, a link. */
export default function TakeAlongItems({ close }: { close(): void }) {
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
    if (!savePicture(title, `${from}-${to}-${address.metric}.png`)) toast("There is no chart to save now. Show the chart first.")
  }
  const { metrics: _, ...range } = { ...rangeArguments(address), ...pick(timeseriesArguments(address)) }
  return (
    <div ref={box}>
      <MenuItem onSelect={after(() => void copyText(location.href))}>Copy link</MenuItem>
      <MenuItem onSelect={after(() => void copyText(apiCall(location.origin, asked)))}>Copy as API call</MenuItem>
      <MenuItem onSelect={after(() => void copyText(mcpPrompt(asked)))}>Copy as MCP prompt</MenuItem>
      {exportAddress && <MenuItem href={exportAddress("timeseries", { ...range, metrics: [address.metric] })}>Figures as CSV</MenuItem>}
      {exportAddress && <MenuItem onSelect={after(picture)}>Chart as PNG</MenuItem>}
      <MenuItem onSelect={after(() => print())}>Print</MenuItem>
      {can("dashboards:share") && <MenuItem href={`/sites/${siteId}/settings/sharing`}>Share a view</MenuItem>}
    </div>
  )
}

/** Of the arguments of a series those that its file takes: files are not compared. */
const pick = ({ interval, metrics }: ReturnType<typeof timeseriesArguments>) => ({ metrics, ...(interval !== undefined && { interval }) })
