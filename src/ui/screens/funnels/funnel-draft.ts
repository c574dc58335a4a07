/** A funnel as it stands in the form, and what of it is sent. */
import type { FunnelInput } from "../../../domain/funnel.ts"
import { THINGS } from "../../../domain/limits.ts"

type Step = FunnelInput["steps"][number]

/** A funnel as `GET /api/private/sites/{site}/funnels` shows it. */
export interface FunnelShown {
  id: number
  name: string
  steps: { type: Step["type"]; match: NonNullable<Step["match"]>; value: string; name: string }[]
  order: NonNullable<FunnelInput["order"]>
  window_hours: number | null
  version: number
}

export interface DraftStep {
  /** Stays with the step when it is moved. */
  key: number
  type: Step["type"]
  match: NonNullable<Step["match"]>
  value: string
  /** Empty: named after its value. */
  name: string
}

export interface FunnelDraft {
  name: string
  steps: readonly DraftStep[]
  order: FunnelShown["order"]
  /** As it is typed; empty: the whole period. */
  windowHours: string
}

export const STEPS = THINGS.funnelSteps

let lastKey = 0
export const newStep = (step: Partial<Omit<DraftStep, "key">> = {}): DraftStep => {
  lastKey += 1
  return { key: lastKey, type: "page", match: "exact", value: "", name: "", ...step }
}

export const emptyDraft = (): FunnelDraft => ({ name: "", steps: [newStep(), newStep()], order: "sequential", windowHours: "" })

export const draftOf = ({ name, steps, order, window_hours }: FunnelShown): FunnelDraft => ({
  name,
  // A name that repeats the value was not chosen: it goes when the value does.
  steps: steps.map((step) => newStep({ ...step, name: step.name === step.value ? "" : step.name })),
  order,
  windowHours: window_hours === null ? "" : String(window_hours),
})

/** The steps that say what they are. */
const completeSteps = ({ steps }: Pick<FunnelDraft, "steps">): DraftStep[] => steps.filter(({ value }) => value !== "")

export const inputOf = (draft: FunnelDraft): FunnelInput => ({
  name: draft.name.trim(),
  steps: draft.steps.map(stepInput),
  order: draft.order,
  window_hours: windowOf(draft),
})

const stepInput = ({ type, match, value, name }: DraftStep): Step => ({
  type,
  match,
  value,
  ...(name.trim() !== "" && { name: name.trim() }),
})

const windowOf = ({ windowHours }: Pick<FunnelDraft, "windowHours">): number | null =>
  windowHours.trim() === "" ? null : Number(windowHours)

/** What is asked to count the steps while they are written: those up to the first that says nothing. Undefined when that is the first one. */
export function countedInput(draft: FunnelDraft): Pick<FunnelInput, "steps" | "order" | "window_hours"> | undefined {
  const first = draft.steps.findIndex(({ value }) => value === "")
  const said = draft.steps.slice(0, first === -1 ? undefined : first).map(({ type, match, value }) => ({ type, match, value }))
  if (said.length === 0) return undefined
  // A funnel has at least two steps: a single one is asked for twice, and only the first of the two is read.
  return { steps: said.length === 1 ? [said[0]!, said[0]!] : said, order: draft.order, window_hours: windowOf(draft) }
}

/** Why it cannot be saved yet; undefined when it can. */
export function reasonAgainst(draft: FunnelDraft): string | undefined {
  const complete = completeSteps(draft).length
  if (complete < STEPS.min) return `A funnel has at least ${STEPS.min} steps; ${complete === 0 ? "none" : "one"} is complete.`
  if (complete < draft.steps.length) return "A step is empty. Fill it in or remove it."
  return draft.name.trim() === "" ? "The funnel has no name yet." : undefined
}

/** The list with one item at another place. */
export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const others = items.filter((_, index) => index !== from)
  const item = items[from]
  return item === undefined || to < 0 || to >= items.length ? [...items] : [...others.slice(0, to), item, ...others.slice(to)]
}
