import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { Problem } from "../../api/api.ts"
import { NO_FILTERS, useSiteAddress } from "../../browser/address.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { SelectField, TextField } from "../../parts/form/fields.tsx"
import { useReport } from "../../report/data/reports.ts"
import { MatchValueField } from "../../report/filters/suggestion-fields.tsx"
import { exact, NO_VALUE } from "../../text/format.ts"
import { MATCH_LABELS } from "../goals/goal-rule.ts"
import { countedInput, type DraftStep, type FunnelDraft, moved, newStep, STEPS } from "./funnel-draft.ts"

interface StepListProps {
  steps: readonly DraftStep[]
  onSteps(steps: readonly DraftStep[]): void
  counts: StepCounts
  errorOf(pointer: string): string | undefined
}

/** Renders the steps in order. They are moved by dragging, by buttons or by arrow keys on their handle, and keep the focus. */
export function StepList({ steps, onSteps, counts, errorOf }: StepListProps) {
  const list = useRef<HTMLOListElement>(null)
  const dragged = useRef<number>(undefined)
  const [focus, setFocus] = useState<{ key: number; part: string }>()
  const [announcement, setAnnouncement] = useState("")
  useLayoutEffect(() => {
    if (focus) list.current?.querySelector<HTMLElement>(`[data-step="${focus.key}"] [data-part="${focus.part}"]`)?.focus()
  }, [focus])
  const move = (from: number, to: number, part: string) => {
    if (to < 0 || to >= steps.length || from === to) return
    onSteps(moved(steps, from, to))
    setFocus({ key: steps[from]!.key, part })
    setAnnouncement(`Step moved to position ${to + 1} of ${steps.length}`)
  }
  return (
    <div class="stack">
      <ol class="step-list" ref={list} aria-label="Steps">
        {steps.map((step, index) => (
          <li
            key={step.key}
            class="step-row"
            data-step={step.key}
            onDragOver={(event) => dragged.current !== undefined && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              if (dragged.current !== undefined) move(dragged.current, index, "handle")
              dragged.current = undefined
            }}
          >
            <StepMoves
              index={index}
              count={steps.length}
              onMove={(to, part) => move(index, to, part)}
              onDrag={(isDragged) => {
                dragged.current = isDragged ? index : undefined
              }}
              {...(steps.length > STEPS.min && { onRemove: () => onSteps(steps.filter((one) => one !== step)) })}
            />
            <StepFields
              step={step}
              index={index}
              onStep={(changed) => onSteps(steps.map((one) => (one === step ? changed : one)))}
              error={counts.faultOf(index) ?? errorOf(`/steps/${index}/value`)}
            />
            <p class="step-count" aria-busy={counts.isCounting}>
              <strong>{counts.visitors[index] === undefined ? NO_VALUE : exact(counts.visitors[index])}</strong>
              <span class="small quiet">visitors</span>
            </p>
          </li>
        ))}
      </ol>
      <span class="visually-hidden" role="status">
        {announcement}
      </span>
      {steps.length < STEPS.max && (
        <div>
          <Button icon="plus" onClick={() => onSteps([...steps, newStep()])}>
            Add step
          </Button>
        </div>
      )}
    </div>
  )
}

interface StepMovesProps {
  index: number
  count: number
  onMove(to: number, part: string): void
  onDrag(isDragged: boolean): void
  onRemove?: () => void
}

function StepMoves({ index, count, onMove, onDrag, onRemove }: StepMovesProps) {
  const name = `step ${index + 1}`
  return (
    <div class="step-moves">
      <button
        type="button"
        class="button step-handle"
        data-kind="quiet"
        data-icon
        data-part="handle"
        draggable
        aria-label={`Position of ${name}. Use the arrow keys to move it.`}
        title="Drag or use the arrow keys to move"
        onDragStart={(event) => {
          event.dataTransfer?.setData("text/plain", name) // some browsers don't drag without data
          onDrag(true)
        }}
        onDragEnd={() => onDrag(false)}
        onKeyDown={(event) => {
          const to = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: count - 1 }[event.key]
          if (to === undefined) return
          event.preventDefault()
          onMove(to, "handle")
        }}
      >
        {index + 1}
      </button>
      <IconButton icon="up" data-part="up" label={`Move ${name} up`} disabled={index === 0} onClick={() => onMove(index - 1, "up")} />
      <IconButton
        icon="down"
        data-part="down"
        label={`Move ${name} down`}
        disabled={index === count - 1}
        onClick={() => onMove(index + 1, "down")}
      />
      {onRemove && <IconButton icon="trash" label={`Remove ${name}`} onClick={onRemove} />}
    </div>
  )
}

interface StepFieldsProps {
  step: DraftStep
  index: number
  onStep(step: DraftStep): void
  error: string | undefined
}

function StepFields({ step, index, onStep, error }: StepFieldsProps) {
  const set = (change: Partial<DraftStep>) => onStep({ ...step, ...change })
  const labelled = (label: string) => (
    <>
      {label} <span class="visually-hidden">of step {index + 1}</span>
    </>
  )
  return (
    <div class="step-fields">
      <SelectField
        label={labelled("Type")}
        value={step.type}
        options={[
          { value: "page", label: "Page" },
          { value: "event", label: "Event" },
        ]}
        onValue={(type) => set({ type: type as DraftStep["type"] })}
      />
      <SelectField
        label={labelled("Match")}
        value={step.match}
        options={Object.entries(MATCH_LABELS).map(([value, label]) => ({ value, label }))}
        onValue={(match) => set({ match: match as DraftStep["match"] })}
      />
      <MatchValueField
        label={labelled(step.type === "page" ? "Page" : "Event")}
        of={step.type}
        value={step.value}
        onValue={(value) => set({ value })}
        error={error && `It ${error}.`}
      />
      <TextField
        label={labelled("Name")}
        value={step.name}
        onValue={(name) => set({ name })}
        maxLength={120}
        placeholder={step.value}
        autocomplete="off"
      />
    </div>
  )
}

const WAIT_MS = 300

interface StepCounts {
  /** Visitors in the period who reached each step. Undefined while unknown. */
  visitors: readonly (number | undefined)[]
  /** Returns the error of a step's value. */
  faultOf(index: number): string | undefined
  isCounting: boolean
}

/** Counts the visitors of each step during editing, a moment after the last change. */
export function useStepCounts(draft: FunnelDraft): StepCounts {
  const { address } = useSiteAddress()
  const text = JSON.stringify(countedInput(draft))
  const asked = useDebouncedValue<string | undefined>(text, WAIT_MS)
  const input = useMemo(() => (asked === undefined ? undefined : (JSON.parse(asked) as object)), [asked])
  const { data, error, isPlaceholderData, isFetching } = useReport(
    "funnel",
    { ...rangeArguments({ ...address, ...NO_FILTERS }), ...input },
    { enabled: input !== undefined, refetchMs: false },
  )
  const isCurrent = asked === text && !isPlaceholderData && !error
  const steps = isCurrent ? ((data as FunnelInsight | undefined)?.steps ?? []) : [] // the result of the funnel report
  const faults = error instanceof Problem && asked === text ? (error.members.errors ?? []) : []
  return {
    visitors: draft.steps.map(({ value }, index) => (value === "" ? undefined : steps[index]?.visitors)),
    faultOf: (index) => faults.find(({ pointer }) => pointer === `/steps/${index}/value`)?.detail,
    isCounting: isFetching,
  }
}
