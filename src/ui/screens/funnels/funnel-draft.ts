/** Form entries of a funnel and its request body. */

import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { FunnelInput, OwnFunnelResponse } from "../../../domain/funnel.ts"
import { THINGS } from "../../../domain/limits.ts"
import { getAll } from "../../api/api.ts"

type Step = FunnelInput["steps"][number]

export interface DraftStep {
  /** Identity of the step, unchanged when it is moved. */
  key: number
  type: Step["type"]
  match: NonNullable<Step["match"]>
  value: string
  /** Empty to use the value as the name. */
  name: string
}

export interface FunnelDraft {
  name: string
  steps: readonly DraftStep[]
  order: OwnFunnelResponse["order"]
  /** As typed. Empty for no limit within the period. */
  windowHours: string
}

export const STEPS = THINGS.funnelSteps

let lastKey = 0
export const newStep = (step: Partial<Omit<DraftStep, "key">> = {}): DraftStep => {
  lastKey += 1
  return { key: lastKey, type: "page", match: "exact", value: "", name: "", ...step }
}

export const emptyDraft = (): FunnelDraft => ({ name: "", steps: [newStep(), newStep()], order: "sequential", windowHours: "" })

export const draftOf = ({ name, steps, order, window_hours }: OwnFunnelResponse): FunnelDraft => ({
  name,
  // A name equal to the value was not chosen, so it must follow changes of the value.
  steps: steps.map((step) => newStep({ ...step, name: step.name === step.value ? "" : step.name })),
  order,
  windowHours: window_hours === null ? "" : String(window_hours),
})

/** Returns the steps that have a value. */
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

/** Returns the query that counts the steps during editing: those before the first empty one. Undefined if the first step is empty. */
export function countedInput(draft: FunnelDraft): Pick<FunnelInput, "steps" | "order" | "window_hours"> | undefined {
  const first = draft.steps.findIndex(({ value }) => value === "")
  const filled = draft.steps.slice(0, first === -1 ? undefined : first).map(({ type, match, value }) => ({ type, match, value }))
  if (filled.length === 0) return undefined
  // A query needs at least two steps, so a single step is sent twice and only its first count is read.
  return { steps: filled.length === 1 ? [filled[0]!, filled[0]!] : filled, order: draft.order, window_hours: windowOf(draft) }
}

/** Returns why the funnel can't be saved yet, or undefined. */
export function reasonAgainst(draft: FunnelDraft): string | undefined {
  const complete = completeSteps(draft).length
  if (complete < STEPS.min) return "Fill in at least two steps."
  if (complete < draft.steps.length) return "Fill in or remove the empty step."
  return draft.name.trim() === "" ? "Enter a name for the funnel." : undefined
}

/** Returns the list with one item moved. */
export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const others = items.filter((_, index) => index !== from)
  const item = items[from]
  return item === undefined || to < 0 || to >= items.length ? [...items] : [...others.slice(0, to), item, ...others.slice(to)]
}

export const funnelsPath = (siteId: number): string => `/api/private/sites/${siteId}/funnels`

export const useFunnels = (siteId: number): UseQueryResult<OwnFunnelResponse[], Error> =>
  useQuery({
    queryKey: ["funnels", siteId],
    queryFn: ({ signal }) => getAll<OwnFunnelResponse>(`${funnelsPath(siteId)}?`, signal),
    staleTime: 60_000,
  })

/** Returns a function that reloads the funnels and the reports. */
export function useRefreshFunnels(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all([["funnels", siteId], ["report"]].map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}
