import { Suspense } from "preact/compat"
import { useEffect, useState } from "preact/hooks"
import type { Journeys } from "../../../domain/insight.ts"
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
  type JourneyQuestion,
  pinned,
  readQuestion,
  STEPS,
  writtenQuestion,
} from "./journey-question.ts"

const FunnelDialog = lazyPart(() => import("../funnels/funnel-dialog.tsx"))

/** Shows the paths that visitors took. */
export default function JourneysScreen() {
  const { address } = useSiteAddress()
  const choices = usePageChoices()
  const question = readQuestion(choices)
  const asTable = choices.of("view") === "table"
  const ask = (next: JourneyQuestion) => choices.choose(writtenQuestion(next))
  const report = useReport("journeys", { ...rangeArguments(address), ...inputOf(question) })
  const [open, setOpen] = useState<{ node: JourneyNode; column: number }>()
  return (
    <Page title="Journeys">
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <JourneyTools question={question} onQuestion={ask} />
      {question.pins.length > 0 && <PinnedPath question={question} onQuestion={ask} />}
      <Card
        title={`${question.mode === "start" ? "Paths starting at" : "Paths ending at"} ${visible(itemText(question.anchor))}`}
        full
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
                  <Flow journeys={journeys} pins={question.pins} onNode={(node, column) => setOpen({ node, column })} />
                )}
              </>
            )
          }}
        </CardResult>
      </Card>
      {open && <NodeDialog {...open} mode={question.mode} question={question} onQuestion={ask} onClose={() => setOpen(undefined)} />}
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
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
}

/** Shows the pins that narrow the journeys and creates a funnel from them. */
function PinnedPath({ question, onQuestion }: PinnedPathProps) {
  const { can } = useStatsSource()
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="filter-bar" role="group" aria-label="Pinned path">
      {question.pins.map((pin) => (
        <span class="pill" key={pin.column}>
          <span class="pill-text">{`${columnName(pin.column, question.mode)}: ${visible(itemText(pin))}`}</span>
          <IconButton
            icon="close"
            label={`Remove the pin on ${visible(itemText(pin))}`}
            onClick={() => onQuestion(pinned(question, pin))}
          />
        </span>
      ))}
      {can("funnels:write") && (
        <Button icon="funnels" onClick={() => setOpen(true)}>
          Create funnel from path
        </Button>
      )}
      {isOpen && (
        <Suspense fallback={<div class="progress-line" />}>
          <FunnelDialog draft={{ ...emptyDraft(), steps: funnelSteps(question) }} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

interface JourneyToolsProps {
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
}

const COUNTS = Array.from({ length: STEPS.max - STEPS.min + 1 }, (_, index) => String(STEPS.min + index))

/** Renders the choices of direction, page, depth and grouping. */
function JourneyTools({ question, onQuestion }: JourneyToolsProps) {
  const { mode, anchor, steps, collapse, directories, events } = question
  const [typed, setTyped] = useState(itemText(anchor))
  useEffect(() => setTyped(itemText(anchor)), [itemText(anchor)])
  const isEvent = anchor.event !== undefined
  // Pins belong to the previous path, so they are removed.
  const set = (change: Partial<JourneyQuestion>) => onQuestion({ ...question, pins: [], ...change })
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
        onValue={(chosen) => set({ mode: chosen as JourneyQuestion["mode"] })}
      />
      <MatchValueField label={isEvent ? "Event" : "Page"} of={isEvent ? "event" : "page"} value={typed} onValue={setTyped} />
      <SelectField
        label="Steps"
        value={String(steps)}
        options={COUNTS.map((count) => ({ value: count, label: count }))}
        onValue={(count) =>
          onQuestion({ ...question, steps: Number(count), pins: question.pins.filter(({ column }) => column < Number(count)) })
        }
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
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
  onClose(): void
}

/** Offers the actions for a node of the journey. */
export function NodeDialog({ node, column, mode, question, onQuestion, onClose }: NodeDialogProps) {
  const { base, address, go } = useSiteAddress()
  const item = itemOfNode(node)
  const change = (next: JourneyQuestion) => {
    onClose()
    onQuestion(next)
  }
  const isPinned = question.pins.some((pin) => pin.column === column && itemText(pin) === node.page)
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
              <Button icon="pin" onClick={() => change(pinned(question, { column, ...item }))}>
                {isPinned ? "Remove pin" : "Show only visits through here"}
              </Button>
            )}
            <Button onClick={() => change({ ...question, mode: "start", anchor: item, pins: [] })}>Show paths starting here</Button>
            <Button onClick={() => change({ ...question, mode: "end", anchor: item, pins: [] })}>Show paths ending here</Button>
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
