import { Link } from "wouter"
import type { Realtime } from "../../domain/report.ts"
import { useStatsSource } from "../report/data/source.ts"
import { useReport } from "../report/data/use-report.ts"
import { short } from "../text/format.ts"

/** Shows the number of visitors in the last five minutes and links to the realtime page. */
export function CurrentVisitors() {
  const { siteId } = useStatsSource()
  const { data } = useReport("realtime", {}, { refetchMs: 30_000 })
  const visitors = (data as Realtime | undefined)?.visitors
  return (
    <Link href={`/sites/${siteId}/realtime`} class="button" data-kind="quiet">
      <span class="dot" data-state={visitors ? "on" : "quiet"} />
      {visitors === undefined ? "–" : short(visitors)} online
    </Link>
  )
}
