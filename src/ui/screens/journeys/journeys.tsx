import { Suspense } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import type { Journeys } from "../../../domain/journey.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { usePageChoices } from "../../browser/hooks.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Checkbox, SelectField } from "../../parts/form/fields.tsx"
import { lazyPart } from "../../parts/loading.ts"
import { Card, Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { CardResult } from "../../report/cards/card-answer.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { MatchValueField } from "../../report/filters/suggestion-fields.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { counted, exact, percent } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { emptyDraft } from "../funnels/funnel-draft.ts"
import { columnName, Flow, FlowTable, nodeName } from "./flow.tsx"
import {
  funnelSteps,
  inputOf,
  itemOfNode,
  itemText,
  type JourneyNode,
  type JourneyQuery,
  readJourneyQuery,
  STEPS,
  withPin,
  writeJourneyQuery,
} from "./journey-query.ts"

const FunnelDialog = lazyPart(() => import("../funnels/funnel-dialog.tsx"))

/** Shows the paths that visitors took. */
export default function JourneysScreen() {
  const { address } = useSiteAddress()
  const choices = usePageChoices()
  const query = readJourneyQuery(choices)
  const asTable = choices.of("view") === "table"
  const ask = (next: JourneyQuery) => choices.choose(writeJourneyQuery(next))
  const report = useReport("journeys", { ...rangeArguments(address), ...inputOf(query) })
  const [open, setOpen] = useState<{ node: JourneyNode; column: number }>()
  return (
    <Page title="Journeys">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <JourneyTools query={query} onQuery={ask} />
      {query.pins.length > 0 && <PinnedPath query={query} onQuery={ask} />}
      <Card
        title={`${query.mode === "start" ? "Paths starting at" : "Paths ending at"} ${visible(itemText(query.anchor))}`}
        full
        marks={<ImportMark of={(report.data as Journeys | undefined)?.imports} />}
        foot={
          <>
            <button
              type="button"
              class="text-button"
              aria-pressed={asTable}
              onClick={() => choices.choose({ view: asTable ? undefined : "table" }, { replace: true })}
            >
              {asTable ? "Show as diagram" : "Show as table"}
            </button>
            {report.data !== undefined && <span>{exact((report.data as Journeys).sample_visits)} visits</span>}
          </>
        }
      >
        <CardResult of={report}>
          {(data) => {
            const journeys = data as Journeys // the result of the journeys report
            if (journeys.sample_visits === 0) return <EmptyState>No visits match in this period.</EmptyState>
            return (
              <>
                {journeys.sparse && <Sparse visits={journeys.sample_visits} />}
                {asTable ? (
                  <FlowTable journeys={journeys} />
                ) : (
                  <Flow journeys={journeys} pins={query.pins} onNode={(node, column) => setOpen({ node, column })} />
                )}
              </>
            )
          }}
        </CardResult>
      </Card>
      {open && <NodeDialog {...open} mode={query.mode} query={query} onQuery={ask} onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

function Sparse({ visits }: { visits: number }) {
  const { address, go } = useSiteAddress()
  return (
    <div class="notice" data-kind="warn">
      <span>{`Only ${exact(visits)} ${visits === 1 ? "visit" : "visits"} in this period. Choose a longer period.`}</span>
      {address.period !== "91d" && <Button onClick={() => go({ period: "91d" })}>Show 91 days</Button>}
    </div>
  )
}

interface PinnedPathProps {
  query: JourneyQuery
  onQuery(query: JourneyQuery): void
}

/** Shows the pins that narrow the journeys and creates a funnel from them. */
function PinnedPath({ query, onQuery }: PinnedPathProps) {
  const { can } = useStatsSource()
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="filter-bar" role="group" aria-label="Pinned path">
      {query.pins.map((pin) => (
        <span class="pill" key={pin.column}>
          <span class="pill-text">{`${columnName(pin.column, query.mode)}: ${visible(itemText(pin))}`}</span>
          <IconButton icon="close" label={`Remove the pin on ${visible(itemText(pin))}`} onClick={() => onQuery(withPin(query, pin))} />
        </span>
      ))}
      {can("funnels:write") && (
        <Button icon="funnels" onClick={() => setOpen(true)}>
          Create funnel from path
        </Button>
      )}
      {isOpen && (
        <Suspense fallback={<div class="progress-line" />}>
          <FunnelDialog draft={{ ...emptyDraft(), steps: funnelSteps(query) }} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

interface JourneyToolsProps {
  query: JourneyQuery
  onQuery(query: JourneyQuery): void
}

const COUNTS = Array.from({ length: STEPS.max - STEPS.min + 1 }, (_, index) => String(STEPS.min + index))

/** Renders the choices of direction, page, depth and grouping. */
function JourneyTools({ query, onQuery }: JourneyToolsProps) {
  const { mode, anchor, steps, collapse, directories, events } = query
  const [typed, setTyped] = useState(itemText(anchor))
  useEffect(() => setTyped(itemText(anchor)), [itemText(anchor)])
  const isEvent = anchor.event !== undefined
  // Pins belong to the previous path, so they are removed.
  const set = (change: Partial<JourneyQuery>) => onQuery({ ...query, pins: [], ...change })
  return (
    <form
      class="journey-tools"
      aria-label="Journeys to show"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed.trim() !== "") set({ anchor: isEvent ? { event: typed.trim() } : { page: typed.trim() } })
      }}
    >
      <SelectField
        label="Direction"
        value={mode}
        options={[
          { value: "start", label: "Paths starting at" },
          { value: "end", label: "Paths ending at" },
        ]}
        onValue={(chosen) => set({ mode: chosen as JourneyQuery["mode"] })}
      />
      <MatchValueField label={isEvent ? "Event" : "Page"} of={isEvent ? "event" : "page"} value={typed} onValue={setTyped} />
      <SelectField
        label="Steps"
        value={String(steps)}
        options={COUNTS.map((count) => ({ value: count, label: count }))}
        onValue={(count) => onQuery({ ...query, steps: Number(count), pins: query.pins.filter(({ column }) => column < Number(count)) })}
      />
      <Button type="submit">Show paths</Button>
      <div class="row journey-choices">
        <Checkbox label="Ignore query parameters" checked={collapse} onChange={(checked) => set({ collapse: checked })} />
        <Checkbox label="Group by directory" checked={directories} onChange={(checked) => set({ directories: checked })} />
        <Checkbox
          label="Include custom events"
          checked={events}
          onChange={(checked) => set({ events: checked, ...(!checked && isEvent && { anchor: { page: "/" } }) })}
        />
      </div>
    </form>
  )
}

interface NodeDialogProps {
  node: JourneyNode
  column: number
  mode: Journeys["mode"]
  query: JourneyQuery
  onQuery(query: JourneyQuery): void
  onClose(): void
}

/** Offers the actions for a node of the journey. */
export function NodeDialog({ node, column, mode, query, onQuery, onClose }: NodeDialogProps) {
  const { base, address, go } = useSiteAddress()
  const item = itemOfNode(node)
  const change = (next: JourneyQuery) => {
    onClose()
    onQuery(next)
  }
  const isPinned = query.pins.some((pin) => pin.column === column && itemText(pin) === node.page)
  return (
    <Dialog title={nodeName(node)} onClose={onClose} small>
      <div class="stack">
        <p>
          {`${counted(node.visits, "visit")}, ${percent(node.conversion_rate)} of visits ${mode === "start" ? "from the start" : "to the end"}. ${columnName(column, mode)}.`}
        </p>
        {node.kind === "other" && <p class="quiet">All pages with fewer visits than those listed.</p>}
        {item && (
          <div class="stack">
            {column > 0 && (
              <Button icon="pin" onClick={() => change(withPin(query, { column, ...item }))}>
                {isPinned ? "Remove pin" : "Show only visits through here"}
              </Button>
            )}
            <Button onClick={() => change({ ...query, mode: "start", anchor: item, pins: [] })}>Show paths starting here</Button>
            <Button onClick={() => change({ ...query, mode: "end", anchor: item, pins: [] })}>Show paths ending here</Button>
            <Button
              icon="filter"
              onClick={() => {
                const dimension = item.event === undefined ? "page" : "event"
                const operator = item.page?.endsWith("/*") ? "matches_wildcard" : "is"
                const others = address.filters.filter((filter) => filter.dimension !== dimension)
                go({ filters: toggledFilter(others, { dimension, operator }, itemText(item)), cards: {} }, { path: base })
              }}
            >
              Filter overview by this
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
