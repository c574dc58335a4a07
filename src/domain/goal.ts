import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "./error.ts"
import { COLLECT, THINGS } from "./limits.ts"
import { Match, MatchValue, matcherFaults, type PageRules, ThingName } from "./match.ts"
import { CREATED_AT, field, textOf, UPDATED_AT, versioned } from "./response.ts"
import { fault, type Inspected, inDocumentOrder, inspect, mergedWith } from "./shape.ts"
import { truncate } from "./text.ts"
import type { Versioned } from "./version.ts"

/** The writable fields of a goal: a definition of an event or page worth counting. */
export const GoalInput = t.Object(
  {
    kind: t.Union([t.Literal("event"), t.Literal("page"), t.Literal("scroll")], {
      description: "What counts as a conversion: an event, a pageview, or scrolling on a page.",
    }),
    match: t.Optional(Match),
    value: MatchValue,
    name: t.Optional(ThingName),
    threshold: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: 100,
        description: "Minimum scroll depth in percent. Required for kind `scroll`, not allowed for other kinds.",
      }),
    ),
    props: t.Optional(
      t.Record(t.String(), t.String({ minLength: 1, maxLength: COLLECT.propValueBytes }), {
        maxProperties: 3,
        description: "Property values that an event must have, by key. Not allowed for kind `scroll`.",
      }),
    ),
  },
  { additionalProperties: false, title: "GoalInput" },
)
export type GoalInput = Static<typeof GoalInput>

/** The writable fields of a goal, with all defaults filled in. */
export interface GoalFields {
  kind: GoalInput["kind"]
  match: NonNullable<GoalInput["match"]>
  value: string
  name: string
  /** Only for kind `scroll`. */
  threshold?: number
  /** Absent when empty. The keys are sorted, so that equal properties have equal JSON. */
  props?: Readonly<Record<string, string>>
}

/** A stored goal. Times are epoch milliseconds. */
export interface Goal extends GoalFields, Versioned {
  id: number
  site_id: number
  created_at: number
  updated_at: number
}

export const GoalResponse = t.Object(
  {
    id: field.id("Id of the goal."),
    site_id: field.id("Id of the site."),
    kind: textOf<GoalInput["kind"]>({ description: "Kind: `event`, `page` or `scroll`." }),
    match: textOf<NonNullable<GoalInput["match"]>>({
      description: "Comparison with `value`: `exact`, `prefix`, `contains` or `wildcard`.",
    }),
    value: t.String({ description: "Event name, or page path for the other kinds." }),
    name: t.String({ description: "Display name." }),
    threshold: t.Optional(t.Integer({ description: "Minimum scroll depth in percent. Present only for kind `scroll`." })),
    props: t.Optional(t.Record(t.String(), t.String(), { description: "Property values that an event must have, by key." })),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Goal" },
)
export type GoalResponse = Static<typeof GoalResponse>

/** A goal in the private API. */
export const OwnGoalResponse = versioned(GoalResponse)
export type OwnGoalResponse = Static<typeof OwnGoalResponse>

/** The conversions that a goal would have had. */
export const GoalTrial = t.Object(
  {
    conversions_7d: t.Integer({ description: "Number of conversions in the last 7 days." }),
    visitors_7d: t.Integer({ description: "Number of converting visitors in the last 7 days." }),
    last_match_at: t.Union([t.String({ format: "date-time" }), t.Null()], {
      description: "Time of the latest conversion ever. null if there is none.",
    }),
  },
  { title: "GoalTrial" },
)
export type GoalTrial = Static<typeof GoalTrial>

const GoalSuggestion = t.Object({
  kind: t.Literal("event", { description: "Kind of the goal, always `event`." }),
  match: t.Literal("exact", { description: "Comparison with `value`, always `exact`." }),
  value: t.String({ description: "Name of the custom event." }),
  name: t.String({ description: "Suggested display name." }),
  events_30d: t.Integer({ description: "Number of these events in the last 30 days." }),
  visitors_30d: t.Integer({ description: "Number of visitors with such an event in the last 30 days." }),
})
export type GoalSuggestion = Static<typeof GoalSuggestion>
export const GoalSuggestions = t.Object(
  { data: t.Array(GoalSuggestion, { description: "Suggested goals, most frequent event first." }) },
  { title: "GoalSuggestions" },
)
export type GoalSuggestions = Static<typeof GoalSuggestions>

export const goalNotFound = () => new AppError("goal_not_found", "This site has no goal with this id.")

/** Reads a goal from a request body and fills in the defaults. Throws `validation_failed` with all faults at once. */
export function parseGoal(body: unknown, rules: PageRules): GoalFields {
  const inspected = inspect(GoalInput, body)
  refuseFaults(inDocumentOrder([...inspected.faults, ...meaningFaults(inspected, rules)], body))
  // The fields are complete, because no fault was found.
  const input = inspected.fields as GoalInput
  const { kind, match = "exact", value, threshold, name = defaultName(input) } = input
  const props = Object.entries(input.props ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    kind,
    match,
    value,
    name,
    ...(threshold === undefined ? {} : { threshold }),
    ...(props.length === 0 ? {} : { props: Object.fromEntries(props) }),
  }
}

/** Applies a merge patch to a goal and validates the result like a new one. When the kind changes, fields of the old kind are dropped. */
export function patchGoal(goal: GoalFields, patch: unknown, rules: PageRules): GoalFields {
  const { kind, match, value, name, threshold, props } = goal
  const merged = mergedWith({ kind, match, value, name }, patch)
  const wanted = typeof merged === "object" && merged !== null && "kind" in merged ? merged.kind : kind
  const fieldsOfKind = { ...(wanted === "scroll" ? { threshold } : {}), ...(wanted === "scroll" ? {} : { props }) }
  return parseGoal(mergedWith({ kind, match, value, name, ...fieldsOfKind }, patch), rules)
}

function meaningFaults({ fields, faults }: Inspected<GoalInput>, rules: PageRules): Fault[] {
  const { kind, match = "exact", value, threshold, props = {} } = fields
  if (kind === undefined) return []
  const found: Fault[] = []
  const isMatchKnown = !faults.some(({ pointer }) => pointer === "/match")
  if (value !== undefined && isMatchKnown)
    found.push(...matcherFaults({ of: kind === "event" ? "event" : "page", match, value }, rules, "/value"))
  if (kind !== "scroll" && threshold !== undefined)
    found.push(fault("/threshold", "unsupported_combination", "is only allowed for goals of kind scroll"))
  if (kind === "scroll" && threshold === undefined && !faults.some(({ pointer }) => pointer === "/threshold"))
    found.push(fault("/threshold", "required", "is required"))
  if (kind === "scroll" && Object.keys(props).length > 0)
    found.push(fault("/props", "unsupported_combination", "is not allowed for goals of kind scroll"))
  const isKey = (key: string) => key !== "" && Buffer.byteLength(key) <= COLLECT.propKeyBytes
  if (!Object.keys(props).every(isKey))
    found.push(fault("/props", "too_long", `has a name that is empty or longer than ${COLLECT.propKeyBytes} bytes`))
  return found
}

function defaultName({ kind, value, threshold }: GoalInput): string {
  const name = kind === "event" ? value : kind === "page" ? `Visit ${value}` : `Scroll ${threshold} % on ${value}`
  return truncate(name, THINGS.nameChars)
}
