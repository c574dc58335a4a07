import { Link } from "wouter"
import type { Realtime } from "../../domain/report.ts"
import { short } from "../format.ts"
import { useStatsSource } from "../stats/source.ts"
import { useReport } from "../stats/use-report.ts"

/** Visitors of the last five minutes; leads to what they do. */
export function CurrentVisitors() {
  const { siteId } = useStatsSource()
  const { data } = useReport("realtime", {}, { refetchMs: 30_000 })
  const visitors = (data as Realtime | undefined)?.visitors
  return (
    <Link href={`/sites/${siteId}/realtime`} class="button" data-kind="quiet">
      <span class="dot" data-state={visitors ? "on" : "quiet"} />
      {visitors === undefined ? "–" : short(visitors)} now
    </Link>
  )
}
