import { Suspense } from "preact/compat"
import { useId, useState } from "preact/hooks"
import { comparisonArguments, rangeArguments } from "../../../domain/site-address.ts"
import type { OwnSiteResponse } from "../../../domain/site-response.ts"
import { useSite } from "../../api/session.ts"
import { isFiltered, isFilteredBy, toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { CopyButton, copyText } from "../../parts/copy.tsx"
import { Icon } from "../../parts/icon.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { MenuItem, Popover } from "../../parts/menu.tsx"
import { Card, Page, Tabs } from "../../parts/page.tsx"
import { QueryResult } from "../../parts/states.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import EmptyCard from "../../report/cards/empty-card.tsx"
import { RankedList, type RankedRow } from "../../report/cards/ranked-list.tsx"
import { OTHER } from "../../report/data/figures.ts"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { exact } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { collectOrigin, examplePage, SERVER_NOTE } from "../sites/snippets.tsx"
import { PropertyExplorer } from "./property-explorer.tsx"

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
      <div class="bands" data-fits>
        {isEmpty && !isFiltered(address) ? (
          <SendExample siteId={siteId} />
        ) : (
          <EventList report={report} onGoal={setGoalFor} onExplore={(event) => choose({ event })} />
        )}
        {!isEmpty && (
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
      marks={<ImportMark of={report.data?.imports} />}
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
      <CardResult of={report}>
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
      </CardResult>
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

/** Shows how to send the first custom event. */
export function SendExample({ siteId }: { siteId: number }) {
  const site = useSite(siteId)
  const [tab, setTab] = useState<ExampleTab>("html")
  const panel = useId()
  return (
    <Card title="Send your first event" full>
      <QueryResult of={site} rows={4}>
        {(data) => {
          const text = exampleText(tab, data as unknown as OwnSiteResponse) // the private API returns the snippet with the site
          return (
            <div class="stack">
              <p class="quiet">
                Events count actions other than page views, such as sign-ups, orders or clicks. The tracker sends outbound links, downloads
                and forms automatically.
              </p>
              <Tabs<ExampleTab> label="Method" tabs={EXAMPLE_TABS} chosen={tab} onChoose={setTab} panel={panel} />
              <div id={panel} class="stack" role="tabpanel" aria-label={EXAMPLE_TABS.find(({ id }) => id === tab)?.label}>
                <p class="small quiet">{EXAMPLE_NOTES[tab]}</p>
                <pre>{text}</pre>
                <div class="row">
                  <CopyButton text={text} />
                </div>
              </div>
            </div>
          )
        }}
      </QueryResult>
    </Card>
  )
}

const EXAMPLE_TABS = [
  { id: "html", label: "HTML attribute" },
  { id: "js", label: "JavaScript" },
  { id: "server", label: "Server API" },
] as const
type ExampleTab = (typeof EXAMPLE_TABS)[number]["id"]

const EXAMPLE_NOTES: Readonly<Record<ExampleTab, string>> = {
  html: "Add the attributes to a clickable element or form. The tracker sends the event.",
  js: "Call it anywhere on a page with the tracker. Properties and revenue are optional.",
  server: SERVER_NOTE,
}

function exampleText(tab: ExampleTab, site: OwnSiteResponse): string {
  if (tab === "html") return '<button data-footfall-event="signup" data-footfall-prop-plan="team">Sign up</button>'
  if (tab === "js") return 'footfall("signup", { props: { plan: "team" }, revenue: { amount: 49.5, currency: "EUR" } })'
  return `curl ${collectOrigin(site)}/api/public/v1/sites/${site.id}/events \\
  -H "Authorization: Bearer $FOOTFALL_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"events": [{"name": "signup", "url": "${examplePage(site)}", "props": {"plan": "team"}}]}'`
}
