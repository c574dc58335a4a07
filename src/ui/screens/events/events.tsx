import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { comparisonArguments, rangeArguments } from "../../../domain/site-address.ts"
import { isFiltered, isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { copyText } from "../../parts/copy.tsx"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { MenuItem, Popover } from "../../parts/menu.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { CardAnswer } from "../../report/cards/card-answer.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { OTHER } from "../../report/data/value-text.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { RankedList, type RankedRow } from "../../report/rows/ranked-list.tsx"
import { exact } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { PropertyExplorer } from "./property-explorer.tsx"
import { SendExample } from "./send-example.tsx"

const GoalDialog = lazyPart(() => import("../goals/goal-dialog.tsx"))
const ROWS = 100
const METRICS = ["events", "visitors", "conversion_rate"]

/** Shows custom events with totals and properties. */
export default function EventsScreen() {
  const { siteId, address } = useSiteAddress()
  const { of, choose } = usePageChoices()
  const [goalFor, setGoalFor] = useState<string>()
  const report = useReport("breakdown", {
    ...rangeArguments(address),
    ...comparisonArguments(address),
    dimension: "event",
    metrics: METRICS,
    limit: ROWS,
  })
  const rows = report.data?.rows ?? []
  const isEmpty = report.data !== undefined && rows.length === 0 && !report.isPlaceholderData
  return (
    <Page title="Events">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <div class="bands">
        <EventList report={report} onGoal={setGoalFor} onExplore={(event) => choose({ event })} />
        {isEmpty && !isFiltered(address) ? (
          <SendExample siteId={siteId} />
        ) : (
          <PropertyExplorer events={rows.map(({ value }) => value)} event={of("event")} onEvent={(event) => choose({ event })} />
        )}
      </div>
      {goalFor !== undefined && (
        <Suspense fallback={<div class="progress-line" />}>
          <GoalDialog siteId={siteId} draft={{ kind: "event", match: "exact", value: goalFor }} onClose={() => setGoalFor(undefined)} />
        </Suspense>
      )}
    </Page>
  )
}

interface EventListProps {
  report: ReturnType<typeof useReport<"breakdown">>
  onGoal(event: string): void
  onExplore(event: string): void
}

function EventList({ report, onGoal, onExplore }: EventListProps) {
  const { siteId, address, searchWith } = useSiteAddress()
  const { exportAddress } = useStatsSource()
  return (
    <Card
      title="Events"
      full
      foot={
        <>
          {exportAddress && (
            <a href={exportAddress("event", rangeArguments(address))} download>
              CSV
            </a>
          )}
          {report.data && <span>{exact(report.data.total_rows)} total</span>}
        </>
      }
    >
      <CardAnswer of={report}>
        {({ rows }) =>
          rows.length === 0 ? (
            <EmptyCard />
          ) : (
            <RankedList
              title="Event"
              rows={rows as RankedRow[]}
              metrics={METRICS}
              isChosen={(value) => isFilteredBy(address.filters, "event", value)}
              addressOf={(value) =>
                `/sites/${siteId}/events${searchWith({ filters: toggledFilter(address.filters, { dimension: "event" }, value) })}`
              }
              menuOf={({ value }) => <EventMenu event={value} onGoal={onGoal} onExplore={onExplore} />}
            />
          )
        }
      </CardAnswer>
    </Card>
  )
}

function EventMenu({ event, onGoal, onExplore }: { event: string } & Pick<EventListProps, "onGoal" | "onExplore">) {
  const { address, go } = useSiteAddress()
  const { can } = useStatsSource()
  const after = (close: () => void, act: () => void) => () => {
    close()
    act()
  }
  return (
    <span class="ranked-menu">
      <Popover iconOnly kind="quiet" label={`Actions for ${visible(event)}`} button={<Icon name="more" />}>
        {(close) => (
          <>
            <MenuItem onSelect={after(close, () => onExplore(event))}>Show properties</MenuItem>
            {can("goals:write") && event !== OTHER && <MenuItem onSelect={after(close, () => onGoal(event))}>Create goal</MenuItem>}
            <MenuItem
              onSelect={after(close, () =>
                go({ filters: toggledFilter(address.filters, { dimension: "event", operator: "is_not" }, event) }),
              )}
            >
              Exclude value
            </MenuItem>
            <MenuItem onSelect={after(close, () => void copyText(event))}>Copy value</MenuItem>
          </>
        )}
      </Popover>
    </span>
  )
}
