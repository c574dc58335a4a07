import { useEffect, useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { Choice, SelectField } from "../../parts/form/fields.tsx"
import { MatchValueField } from "../../report/filters/suggestion-fields.tsx"
import { itemText, type JourneyQuestion, STEPS } from "./journey-question.ts"

interface JourneyToolsProps {
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
}

const COUNTS = Array.from({ length: STEPS.max - STEPS.min + 1 }, (_, index) => String(STEPS.min + index))

/** Renders the choices of direction, page, depth and grouping. */
export function JourneyTools({ question, onQuestion }: JourneyToolsProps) {
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
        <Choice label="Ignore query parameters" checked={collapse} onChange={(checked) => set({ collapse: checked })} />
        <Choice label="Group by directory" checked={directories} onChange={(checked) => set({ directories: checked })} />
        <Choice
          label="Include custom events"
          checked={events}
          onChange={(checked) => set({ events: checked, ...(!checked && isEvent && { anchor: { page: "/" } }) })}
        />
      </div>
    </form>
  )
}
