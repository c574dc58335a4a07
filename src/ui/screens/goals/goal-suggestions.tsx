import { useQuery } from "@tanstack/react-query"
import { get, post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { Form } from "../../parts/form/form.tsx"
import { Card } from "../../parts/page.tsx"
import { Answer, EmptyState } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { exact } from "../../text/format.ts"
import { CutText, visible } from "../../text/safe-text.tsx"
import { goalsPath, useRefreshGoals } from "./goal-requests.tsx"

interface Suggestion {
  kind: "event"
  match: "exact"
  value: string
  name: string
  events_30d: number
  visitors_30d: number
}

const SHOWN = 4

/** Suggests goals for recorded events that no goal counts yet, one click each. */
export function GoalSuggestions({ siteId }: { siteId: number }) {
  const refresh = useRefreshGoals(siteId)
  const suggestions = useQuery({
    queryKey: ["goal-suggestions", siteId],
    queryFn: ({ signal }) => get<{ data: Suggestion[] }>(`${goalsPath(siteId)}/suggestions`, signal),
  })
  const add = async ({ kind, match, value, name }: Suggestion) => {
    await post(goalsPath(siteId), { kind, match, value, name })
    await refresh()
    toast(`Goal ${visible(name)} saved`)
  }
  return (
    <Card title="Suggestions" marks={<span class="small quiet">events in the last 30 days</span>}>
      <Answer of={suggestions} rows={SHOWN}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>No custom events yet. You can also use a page as a goal.</EmptyState>
          ) : (
            <DataTable
              caption="Suggested goals"
              rows={data.slice(0, SHOWN)}
              keyOf={({ value }) => value}
              columns={[
                { id: "name", label: "Event", cell: ({ name }) => <CutText text={name} /> },
                { id: "visitors", label: "Visitors", number: true, cell: ({ visitors_30d }) => exact(visitors_30d) },
                { id: "events", label: "Events", number: true, cell: ({ events_30d }) => exact(events_30d) },
                { id: "add", label: "Actions", cell: (one) => <Add suggestion={one} onAdd={() => add(one)} /> },
              ]}
            />
          )
        }
      </Answer>
    </Card>
  )
}

const Add = ({ suggestion: { name }, onAdd }: { suggestion: Suggestion; onAdd(): Promise<void> }) => (
  <Form submit={onAdd}>
    {({ busy }) => (
      <Button type="submit" icon="plus" busy={busy} aria-label={`Add ${visible(name)} as a goal`}>
        Add goal
      </Button>
    )}
  </Form>
)
