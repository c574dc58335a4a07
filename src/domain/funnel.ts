import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "./error.ts"
import { THINGS } from "./limits.ts"
import { Match, MatchValue, matcherFaults, type PageRules, ThingName } from "./match.ts"
import { CREATED_AT, field, orNull, textOf, UPDATED_AT, versioned } from "./response.ts"
import { inDocumentOrder, inspect, mergedWith } from "./shape.ts"
import { truncate } from "./text.ts"
import type { Versioned } from "./version.ts"

const FunnelStepInput = t.Object(
  {
    type: t.Union([t.Literal("page"), t.Literal("event")], { description: "Whether the value is a page path or an event name." }),
    match: t.Optional(Match),
    value: MatchValue,
    name: t.Optional(ThingName),
  },
  { additionalProperties: false },
)
type FunnelStepInput = Static<typeof FunnelStepInput>

const STEPS = {
  description: "Steps in the order in which visitors take them.",
  minItems: THINGS.funnelSteps.min,
  maxItems: THINGS.funnelSteps.max,
  "x-codes": { too_few: "too_few_steps", too_many: "too_many_steps" },
}

/** The writable fields of a funnel: ordered steps that visitors take. */
export const FunnelInput = t.Object(
  {
    name: ThingName,
    steps: t.Array(FunnelStepInput, STEPS),
    order: t.Optional(
      t.Union([t.Literal("sequential"), t.Literal("strict")], {
        description: "`sequential` allows other activity between two steps, `strict` does not. Default: `sequential`.",
      }),
    ),
    window_hours: t.Optional(
      t.Union([t.Integer({ minimum: THINGS.windowHours.min, maximum: THINGS.windowHours.max }), t.Null()], {
        description: "Maximum number of hours from the first to the last step. null means the whole range. Default: null.",
      }),
    ),
  },
  { additionalProperties: false, title: "FunnelInput" },
)
export type FunnelInput = Static<typeof FunnelInput>

/** A step of a saved funnel, with all defaults filled in. */
export interface SavedStep {
  type: FunnelStepInput["type"]
  match: NonNullable<FunnelStepInput["match"]>
  value: string
  name: string
}

/** The writable fields of a funnel, with all defaults filled in. */
export interface FunnelFields {
  name: string
  steps: readonly SavedStep[]
  order: NonNullable<FunnelInput["order"]>
  /** Null means the whole range. */
  window_hours: number | null
}

/** A stored funnel. Times are epoch milliseconds. */
export interface Funnel extends FunnelFields, Versioned {
  id: number
  site_id: number
  created_at: number
  updated_at: number
}

export const FunnelResponse = t.Object(
  {
    id: field.id("Id of the funnel."),
    site_id: field.id("Id of the site."),
    name: t.String({ description: "Display name." }),
    steps: t.Array(
      t.Object({
        type: textOf<SavedStep["type"]>({ description: "Type: `page` or `event`." }),
        match: textOf<SavedStep["match"]>({ description: "Comparison with `value`: `exact`, `prefix`, `contains` or `wildcard`." }),
        value: t.String({ description: "Page path or event name." }),
        name: t.String({ description: "Display name of the step." }),
      }),
      { description: "Steps in the order in which visitors take them." },
    ),
    order: textOf<FunnelFields["order"]>({
      description: "`sequential` allows other activity between two steps, `strict` does not.",
    }),
    window_hours: orNull(t.Integer(), {
      description: "Maximum number of hours from the first to the last step. null means the whole range.",
    }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Funnel" },
)
export type FunnelResponse = Static<typeof FunnelResponse>

/** A funnel in the private API. */
export const OwnFunnelResponse = versioned(FunnelResponse)
export type OwnFunnelResponse = Static<typeof OwnFunnelResponse>

export const funnelNotFound = () => new AppError("funnel_not_found", "This site has no funnel with this id.")

/** The shape of a funnel without its steps, which are validated one by one, so that all faults are reported. */
const FunnelShape = t.Object({ ...FunnelInput.properties, steps: t.Array(t.Unknown(), STEPS) }, { additionalProperties: false })

/** Reads a funnel from a request body and fills in the defaults. Throws `validation_failed` with all faults at once. */
export function parseFunnel(body: unknown, rules: PageRules): FunnelFields {
  const { fields, faults } = inspect(FunnelShape, body)
  const steps = (fields.steps ?? []).map((step, i) => inspectStep(step, rules, `/steps/${i}`))
  refuseFaults(inDocumentOrder([...faults, ...steps.flatMap((step) => step.faults)], body))
  return {
    name: fields.name!, // present, because no fault was found
    // The fields of each step are complete, because no fault was found.
    steps: steps.map((step) => completeStep(step.fields as FunnelStepInput)),
    order: fields.order ?? "sequential",
    window_hours: fields.window_hours ?? null,
  }
}

/** Applies a merge patch to a funnel and validates the result like a new one. */
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

const completeStep = ({ type, match = "exact", value, name = truncate(value, THINGS.nameChars) }: FunnelStepInput): SavedStep => ({
  type,
  match,
  value,
  name,
})
