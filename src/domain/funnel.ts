import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { Match, MatchValue, matcherFaults, type PageRules, ThingName } from "./match.ts"
import { inDocumentOrder, inspect, mergedWith } from "./shape.ts"
import { cutTo } from "./text.ts"
import type { Versioned } from "./version.ts"

const FunnelStepInput = t.Object(
  {
    type: t.Union([t.Literal("page"), t.Literal("event")]),
    match: t.Optional(Match),
    value: MatchValue,
    name: t.Optional(ThingName),
  },
  { additionalProperties: false },
)
type FunnelStepInput = Static<typeof FunnelStepInput>

const STEPS = {
  minItems: THINGS.funnelSteps.min,
  maxItems: THINGS.funnelSteps.max,
  "x-codes": { too_few: "too_few_steps", too_many: "too_many_steps" },
}

/** What a caller may send of a funnel: ordered steps that visitors take. */
export const FunnelInput = t.Object(
  {
    name: ThingName,
    steps: t.Array(FunnelStepInput, STEPS),
    order: t.Optional(
      t.Union([t.Literal("sequential"), t.Literal("strict")], { description: "strict: no other activity between two steps" }),
    ),
    window_hours: t.Optional(
      t.Union([t.Integer({ minimum: THINGS.windowHours.min, maximum: THINGS.windowHours.max }), t.Null()], {
        description: "Longest time from the first to the last step; null = the whole range",
      }),
    ),
  },
  { additionalProperties: false, title: "FunnelInput" },
)
export type FunnelInput = Static<typeof FunnelInput>

/** A step of a saved funnel, complete. */
export interface SavedStep {
  type: FunnelStepInput["type"]
  match: NonNullable<FunnelStepInput["match"]>
  value: string
  name: string
}

/** What of a funnel a caller decides, complete. */
export interface FunnelFields {
  name: string
  steps: readonly SavedStep[]
  order: NonNullable<FunnelInput["order"]>
  /** Null: the whole range. */
  window_hours: number | null
}

/** Times are epoch milliseconds. */
export interface Funnel extends FunnelFields, Versioned {
  id: number
  site_id: number
  created_at: number
  updated_at: number
}

export const funnelNotFound = () => new AppError("funnel_not_found", "The site has no funnel with this id")

/** Steps are looked at one by one, so that one bad step hides no other. */
const FunnelShape = t.Object({ ...FunnelInput.properties, steps: t.Array(t.Unknown(), STEPS) }, { additionalProperties: false })

/** Throws `validation_failed` with all faults at once. Fills in what the caller left out. */
export function parseFunnel(body: unknown, rules: PageRules): FunnelFields {
  const { fields, faults } = inspect(FunnelShape, body)
  const steps = (fields.steps ?? []).map((step, i) => inspectStep(step, rules, `/steps/${i}`))
  refuseFaults(inDocumentOrder([...faults, ...steps.flatMap((step) => step.faults)], body))
  return {
    name: fields.name!, // no fault: it is there
    // Without faults the fields of each step are a whole input.
    steps: steps.map((step) => completeStep(step.fields as FunnelStepInput)),
    order: fields.order ?? "sequential",
    window_hours: fields.window_hours ?? null,
  }
}

/** The funnel with a merge patch applied, by the same rules as a new one. */
export function patchFunnel({ name, steps, order, window_hours }: FunnelFields, patch: unknown, rules: PageRules): FunnelFields {
  return parseFunnel(mergedWith({ name, steps, order, window_hours }, patch), rules)
}

function inspectStep(step: unknown, rules: PageRules, pointer: string): { fields: Partial<FunnelStepInput>; faults: Fault[] } {
  const { fields, faults } = inspect(FunnelStepInput, step, pointer)
  const { type, match = "exact", value } = fields
  const isMatchKnown = !faults.some((found) => found.pointer === `${pointer}/match`)
  if (type === undefined || value === undefined || !isMatchKnown) return { fields, faults }
  return { fields, faults: [...faults, ...matcherFaults({ of: type, match, value }, rules, `${pointer}/value`)] }
}

const completeStep = ({ type, match = "exact", value, name = cutTo(value, THINGS.nameChars) }: FunnelStepInput): SavedStep => ({
  type,
  match,
  value,
  name,
})
