import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import type { VisitResponse } from "../../../domain/visit-list.ts"
import { get, Problem } from "../../api/api.ts"
import { useMe } from "../../api/session.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { EmptyState, ErrorState, QueryResult } from "../../parts/states.tsx"
import { DescriptionList } from "../../parts/values.tsx"
import { valueText } from "../../report/data/figures.ts"
import { useStatsSource } from "../../report/data/reports.ts"
import { counted, duration, timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { Timeline } from "./timeline.tsx"
import { deviceText, moneyText, placeText, sourceText } from "./visit-texts.ts"

type Events = VisitResponse["timeline"]["data"]

/** Returns how the visitor is recognized. Without a lasting ID that is for a day, unless the site's mode says otherwise. */
function recognitionText({ visitor_kind, identity_mode }: VisitResponse): string {
  if (visitor_kind === "device") return "recognized by an ID on the device"
  if (visitor_kind === "user") return "recognized by a user ID"
  return `recognized for one ${identity_mode === "weekly" ? "week" : identity_mode === "monthly" ? "month" : "day"}`
}

/** Dialog with the facts of a visit and the timeline of its events. */
export default function VisitDialog({ visit, onClose }: { visit: string; onClose(): void }) {
  const { siteId } = useSiteAddress()
  const { timezone } = useStatsSource()
  const path = `/api/private/sites/${siteId}/stats/visits/${encodeURIComponent(visit)}?limit=200`
  const [more, setMore] = useState<{ events: Events; cursor: string | null }>()
  const [failure, setFailure] = useState<Error>()
  const answer = useQuery({ queryKey: ["visit", siteId, visit], queryFn: ({ signal }) => get<VisitResponse>(path, signal) })
  const cursor = more ? more.cursor : (answer.data?.timeline.next_cursor ?? null)
  const showMore = async () => {
    setFailure(undefined)
    try {
      const { timeline } = await get<VisitResponse>(`${path}&cursor=${encodeURIComponent(cursor ?? "")}`)
      setMore({ events: [...(more?.events ?? []), ...timeline.data], cursor: timeline.next_cursor })
    } catch (error) {
      setFailure(error as Error) // requests reject with errors
    }
  }
  const isGone = answer.error instanceof Problem && answer.error.code === "visit_not_found"
  return (
    <Dialog title={answer.data ? `Visit of ${timeText(answer.data.started_at, timezone)}` : "Visit"} onClose={onClose} drawer>
      {isGone ? (
        <EmptyState action={<Button onClick={onClose}>Show all visits</Button>}>
          This visit doesn't exist, or its data was removed.
        </EmptyState>
      ) : (
        <QueryResult of={answer}>
          {(found) => (
            <div class="stack">
              <VisitFacts of={found} />
              <h3>Timeline</h3>
              <Timeline events={[...found.timeline.data, ...(more?.events ?? [])]} timezone={timezone} />
              {failure && <ErrorState error={failure} />}
              {cursor !== null && (
                <div class="pager">
                  <Button onClick={() => void showMore()}>Show more events</Button>
                </div>
              )}
            </div>
          )}
        </QueryResult>
      )}
    </Dialog>
  )
}

function VisitFacts({ of: visit }: { of: VisitResponse }) {
  const { siteId } = useSiteAddress()
  const hasPeople = useMe()?.features.includes("cohorts") ?? false
  const versions = [
    [visit.browser, visit.browser_version],
    [visit.os, visit.os_version],
  ].flatMap(([name, version]) => (name ? [visible([name, version].filter(Boolean).join(" "))] : []))
  const campaign = [visit.utm_source, visit.utm_medium, visit.utm_campaign, visit.utm_term, visit.utm_content].filter(
    (part) => part !== null,
  )
  const facts: (readonly [string, preact.ComponentChildren])[] = [
    ["Source", visible(sourceText(visit))],
    ...(visit.referrer !== null && visit.referrer !== visit.source ? [["Referrer", visible(visit.referrer)] as const] : []),
    ...(campaign.length > 0 ? [["Campaign", campaign.map(visible).join(" / ")] as const] : []),
    ["Place", visible(placeText(visit))],
    ["Device", [visible(deviceText({ ...visit, browser: null })), ...versions].join(", ")],
    ...(visit.language === null ? [] : [["Language", visible(valueText("language", visit.language))] as const]),
    ["Duration", `${duration(visit.duration)}, ${counted(visit.pageviews, "view")}, ${counted(visit.events, "event")}`],
    ...(visit.goals.length > 0 ? [["Goals", visit.goals.map(visible).join(", ")] as const] : []),
    ...(visit.revenue && visit.revenue.length > 0 ? [["Revenue", visit.revenue.map(moneyText).join(", ")] as const] : []),
    [
      "Visitor",
      <span key="visitor">
        {hasPeople ? (
          <Link href={`/sites/${siteId}/power-users/${visit.visitor}`} aria-label={`All visits of visitor ${visit.visitor}`}>
            {visit.visitor}
          </Link>
        ) : (
          visit.visitor
        )}
        , {recognitionText(visit)}
      </span>,
    ],
  ]
  return <DescriptionList of={facts} />
}
