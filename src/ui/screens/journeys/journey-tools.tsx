import { useEffect, useState } from "preact/hooks"
import { Button } from "../../parts/button.tsx"
import { Choice, SelectField } from "../../parts/fields.tsx"
import { MatchValueField } from "../../stats/match-value-field.tsx"
import { itemText, type JourneyQuestion, STEPS } from "./journey-question.ts"

interface JourneyToolsProps {
  question: JourneyQuestion
  onQuestion(question: JourneyQuestion): void
}

const COUNTS = Array.from({ length: STEPS.max - STEPS.min + 1 }, (_, index) => String(STEPS.min + index))

/** From or to where journeys are shown, how deep, and what counts as the same page. */
export function JourneyTools({ question, onQuestion }: JourneyToolsProps) {
  const { mode, anchor, steps, collapse, directories, events } = question
  const [typed, setTyped] = useState(itemText(anchor))
  useEffect(() => setTyped(itemText(anchor)), [itemText(anchor)])
  const isEvent = anchor.event !== undefined
  // What was pinned was pinned on another path.
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
          { value: "start", label: "Onward from" },
          { value: "end", label: "On the way to" },
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
      <Button type="submit">Show</Button>
      <div class="row journey-choices">
        <Choice label="Leave out parameters" checked={collapse} onChange={(checked) => set({ collapse: checked })} />
        <Choice label="By directory" checked={directories} onChange={(checked) => set({ directories: checked })} />
        <Choice
          label="With events"
          checked={events}
          onChange={(checked) => set({ events: checked, ...(!checked && isEvent && { anchor: { page: "/" } }) })}
        />
      </div>
    </form>
  )
}
