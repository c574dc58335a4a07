import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { Link } from "wouter"
import type { GoalSuggestion, OwnGoalResponse } from "../../../domain/goal.ts"
import type { GoalReport } from "../../../domain/report.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { get, post } from "../../api/api.ts"
import { toggledFilter, useSiteAddress } from "../../browser/address.ts"
import { useInView } from "../../browser/hooks.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Form } from "../../parts/form/form.tsx"
import { Card, Page } from "../../parts/page.tsx"
import { EmptyState, ErrorState, QueryResult } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { Sparkline } from "../../parts/values.tsx"
import { useReport, useStatsSource } from "../../report/data/reports.ts"
import { FilterBar, IgnoredAddressParts } from "../../report/filters/filter-bar.tsx"
import { ImportMark } from "../../report/trust.tsx"
import { exact, metricText, NO_VALUE, short } from "../../text/format.ts"
import { TruncatedText, visible } from "../../text/safe-text.tsx"
import GoalDialog from "./goal-dialog.tsx"
import { goalsPath, LastMatch, useDeleteGoal, useGoals, useRefreshGoals } from "./goal-requests.tsx"
import { draftOf, inputOf, ruleText } from "./goal-rule.ts"

type Counts = GoalReport["goals"][number]
interface GoalRow {
  goal: OwnGoalResponse
  /** Undefined until the report is loaded, and for a goal it does not contain yet. */
  counts: Counts | undefined
}

/** Lists the goals of the site with their conversions in the period. */
export default function GoalsScreen() {
  const { siteId, address } = useSiteAddress()
  const { can } = useStatsSource()
  const goals = useGoals(siteId)
  const report = useReport("goals", rangeArguments(address))
  const [open, setOpen] = useState<{ goal?: OwnGoalResponse }>()
  const mayWrite = can("goals:write")
  const counted = new Map(report.data?.goals.map((counts) => [counts.goal_id, counts]))
  return (
    <Page
      title="Goals"
      actions={
        mayWrite && (
          <Button kind="primary" icon="plus" onClick={() => setOpen({})}>
            Add goal
          </Button>
        )
      }
    >
      <FilterBar />
      <IgnoredAddressParts ownCards />
      <QueryResult of={goals} rows={6}>
        {(list) =>
          list.length === 0 ? (
            <div class="stack">
              <EmptyState
                action={
                  mayWrite && (
                    <Button icon="plus" onClick={() => setOpen({})}>
                      Add goal
                    </Button>
                  )
                }
              >
                No goals yet. Goals count the visits that matter, such as sign-ups.
              </EmptyState>
              {mayWrite && <GoalSuggestions siteId={siteId} />}
            </div>
          ) : (
            <div class="stack">
              <ImportMark of={report.data?.imports} />
              {report.error && !report.data && <ErrorState error={report.error} onRetry={() => void report.refetch()} />}
              <div aria-busy={report.isPlaceholderData || report.isPending}>
                <GoalTable
                  rows={list.map((goal) => ({ goal, counts: counted.get(goal.id) }))}
                  currency={report.data?.revenue_currency}
                  onEdit={mayWrite ? (goal) => setOpen({ goal }) : undefined}
                />
              </div>
            </div>
          )
        }
      </QueryResult>
      {open && <GoalDialog siteId={siteId} {...open} onClose={() => setOpen(undefined)} />}
    </Page>
  )
}

interface GoalTableProps {
  rows: readonly GoalRow[]
  currency: string | undefined
  /** Undefined if the user may not edit goals. */
  onEdit: ((goal: OwnGoalResponse) => void) | undefined
}

function GoalTable({ rows, currency, onEdit }: GoalTableProps) {
  const { siteId } = useSiteAddress()
  const hasRevenue = rows.some(({ counts }) => counts?.revenue !== undefined)
  const deleteGoal = useDeleteGoal(siteId)
  const number = (id: string, label: string, text: (counts: Counts) => string, whole = text): Column<GoalRow> => ({
    id,
    label,
    number: true,
    cell: ({ counts }) => <span title={counts && whole(counts)}>{counts ? text(counts) : NO_VALUE}</span>,
  })
  const columns: Column<GoalRow>[] = [
    { id: "name", label: "Goal", cell: (row) => <NameCell {...row} /> },
    number(
      "visitors",
      "Unique",
      ({ visitors }) => short(visitors),
      ({ visitors }) => exact(visitors),
    ),
    number(
      "conversions",
      "Total",
      ({ conversions }) => short(conversions),
      ({ conversions }) => exact(conversions),
    ),
    number("rate", "Rate", ({ conversion_rate }) => metricText("conversion_rate", conversion_rate)),
    ...(hasRevenue ? [number("revenue", "Revenue", ({ revenue }) => metricText("revenue", revenue, currency))] : []),
    { id: "spark", label: "28 days", cell: ({ goal }) => <GoalSpark name={goal.name} /> },
    ...(onEdit
      ? [{ id: "actions", label: "Actions", cell: ({ goal }: GoalRow) => <Actions goal={goal} onEdit={onEdit} onDelete={deleteGoal} /> }]
      : []),
  ]
  return <DataTable stacks caption="Goals" columns={columns} rows={rows} keyOf={({ goal }) => goal.id} />
}

/** Links the name to the dashboard filtered by the goal. */
function NameCell({ goal, counts }: GoalRow) {
  const { siteId, base, address, searchWith } = useSiteAddress()
  const filters = toggledFilter(
    address.filters.filter(({ dimension }) => dimension !== "goal"),
    { dimension: "goal" },
    goal.name,
  )
  return (
    <div class="goal-name">
      <Link href={`${base}${searchWith({ filters, cards: {} })}`}>
        <TruncatedText text={goal.name} />
      </Link>
      <span class="small quiet">{ruleText(goal)}</span>
      {counts?.conversions === 0 && <LastMatch siteId={siteId} input={inputOf(draftOf(goal))} />}
    </div>
  )
}

interface ActionsProps {
  goal: OwnGoalResponse
  onEdit(goal: OwnGoalResponse): void
  onDelete(goal: OwnGoalResponse): Promise<void>
}

function Actions({ goal, onEdit, onDelete }: ActionsProps) {
  const [problem, setProblem] = useState<Error>()
  return (
    <div class="goal-acts">
      <IconButton icon="pencil" label={`Edit ${visible(goal.name)}`} onClick={() => onEdit(goal)} />
      <IconButton icon="trash" label={`Delete ${visible(goal.name)}`} onClick={() => void onDelete(goal).catch(setProblem)} />
      {problem && <ErrorState error={problem} />}
    </div>
  )
}

/** Draws the conversions of a goal in the last 28 days. Fetches them only when the row becomes visible, because there may be 200 rows. */
function GoalSpark({ name }: { name: string }) {
  const { place, seen } = useInView<HTMLSpanElement>()
  const { data, error } = useReport(
    "timeseries",
    { period: "28d", metrics: ["conversions"], interval: "day", filters: [{ dimension: "goal", operator: "is", values: [name] }] },
    { enabled: seen, refetchMs: false },
  )
  return (
    <span ref={place} class="goal-spark">
      {data ? (
        <Sparkline values={data.points.map((point) => Number(point.conversions ?? 0))} label="Conversions in the last 28 days" />
      ) : error ? (
        NO_VALUE
      ) : null}
    </span>
  )
}

const SHOWN = 4

/** Suggests goals for recorded events that no goal counts yet, one click each. */
export function GoalSuggestions({ siteId }: { siteId: number }) {
  const refresh = useRefreshGoals(siteId)
  const suggestions = useQuery({
    queryKey: ["goal-suggestions", siteId],
    queryFn: ({ signal }) => get<{ data: GoalSuggestion[] }>(`${goalsPath(siteId)}/suggestions`, signal),
  })
  const add = async ({ kind, match, value, name }: GoalSuggestion) => {
    await post(goalsPath(siteId), { kind, match, value, name })
    await refresh()
    toast(`Goal ${visible(name)} saved`)
  }
  // Without custom events there is nothing to suggest.
  if (suggestions.data?.data.length === 0) return null
  return (
    <Card title="Suggestions" marks={<span class="small quiet">events in the last 30 days</span>}>
      <QueryResult of={suggestions} rows={SHOWN}>
        {({ data }) => (
          <DataTable
            caption="Suggested goals"
            rows={data.slice(0, SHOWN)}
            keyOf={({ value }) => value}
            columns={[
              { id: "name", label: "Event", cell: ({ name }) => <TruncatedText text={name} /> },
              { id: "visitors", label: "Visitors", number: true, cell: ({ visitors_30d }) => exact(visitors_30d) },
              { id: "events", label: "Events", number: true, cell: ({ events_30d }) => exact(events_30d) },
              { id: "add", label: "Actions", cell: (one) => <Add suggestion={one} onAdd={() => add(one)} /> },
            ]}
          />
        )}
      </QueryResult>
    </Card>
  )
}

const Add = ({ suggestion: { name }, onAdd }: { suggestion: GoalSuggestion; onAdd(): Promise<void> }) => (
  <Form submit={onAdd}>
    {({ busy }) => (
      <Button type="submit" icon="plus" busy={busy} aria-label={`Add ${visible(name)} as a goal`}>
        Add goal
      </Button>
    )}
  </Form>
)
