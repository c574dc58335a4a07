import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import { OPERATORS } from "../../domain/filter.ts"
import { parseHost } from "../../domain/host.ts"
import { COLLECT, QUERY, THINGS } from "../../domain/limits.ts"
import { matcherFaults, type PageRules } from "../../domain/match.ts"
import { fault, inspect } from "../../domain/shape.ts"
import { RULE_DIMENSIONS, type RuleCondition, SHIELD_KINDS, type Shield, type ShieldKind } from "../../domain/shield.ts"
import { truncate } from "../../domain/text.ts"
import { isRange } from "../../ingest/address/client-address.ts"
import { isShortPattern, PATTERN_BOUNDS } from "../../query/parse/array-filters.ts"

const Condition = t.Object(
  {
    dimension: t.Union(
      RULE_DIMENSIONS.map((dimension) => t.Literal(dimension)),
      { description: "Dimension of the event or its visit." },
    ),
    property: t.Optional(
      t.String({ minLength: 1, maxLength: QUERY.propertyChars, description: "Key of the property. Only with the dimension `property`." }),
    ),
    operator: t.Optional(
      t.Union(
        OPERATORS.map((operator) => t.Literal(operator)),
        { description: "Comparison with the values. Default: `is`." },
      ),
    ),
    values: t.Array(t.String({ minLength: 1, maxLength: QUERY.valueChars }), {
      minItems: 1,
      maxItems: QUERY.flatValues,
      description: "Values of which one must match.",
    }),
  },
  { additionalProperties: false },
)
type ConditionInput = Static<typeof Condition>

/** A shield as a caller sends it. Id and version may be sent back as they were read and have no effect. */
export const ShieldInput = t.Object(
  {
    id: t.Optional(t.Integer({ description: "Read-only. Accepted and ignored." })),
    version: t.Optional(
      t.Integer({
        description: "In a change: version that you have read. If the shield was changed since, the response is 409. Otherwise ignored.",
      }),
    ),
    kind: t.Union(
      SHIELD_KINDS.map((kind) => t.Literal(kind)),
      { description: "What the shield matches." },
    ),
    value: t.Optional(
      t.String({
        minLength: 1,
        maxLength: COLLECT.pageBytes,
        description: "Value to match: an IP address or range, a country, a page, a host or a referrer. For kind `rule`: name of the rule.",
      }),
    ),
    conditions: t.Optional(
      t.Array(Condition, {
        minItems: 1,
        maxItems: THINGS.shieldConditions,
        description: "Conditions that must all match. Required for kind `rule`, not allowed for other kinds.",
      }),
    ),
    note: t.Optional(t.String({ maxLength: THINGS.shieldNoteChars, description: "Reason for the shield. Default: empty." })),
    enabled: t.Optional(t.Boolean({ description: "Whether the shield drops events. Default: true." })),
  },
  { additionalProperties: false, title: "ShieldInput" },
)
type ShieldInput = Static<typeof ShieldInput>

/** A shield without an id. */
type NewShield = Omit<Shield, "id" | "version">

/** Returns whether two shields are the same. Drops are counted by kind and value. */
const isSameShield = (a: Pick<Shield, "kind" | "value">, b: Pick<Shield, "kind" | "value">): boolean =>
  a.kind === b.kind && a.value === b.value

/** Reads the complete list of a site's shields. A shield with the same kind and value as before keeps its id. */
export function readShields(
  current: readonly Shield[],
  sent: readonly ShieldInput[],
  rules: PageRules,
): { shields: Shield[]; faults: Fault[] } {
  const faults: Fault[] = []
  const shields: Shield[] = []
  let lastId = Math.max(0, ...current.map(({ id }) => id))
  for (const [i, input] of sent.entries()) {
    const read = readShield(input, rules, `/shields/${i}`)
    if ("faults" in read) faults.push(...read.faults)
    else if (shields.some((other) => isSameShield(other, read.shield))) faults.push(takenShield(`/shields/${i}`))
    else {
      const before = current.find((other) => isSameShield(other, read.shield))
      shields.push(before ? changedShield(before, read.shield) : { id: ++lastId, ...read.shield })
    }
  }
  const isTooMany = SHIELD_KINDS.some((kind) => sent.filter((shield) => shield.kind === kind).length > THINGS.shieldsOfKind)
  if (isTooMany) faults.push(fault("/shields", "too_many", `can contain at most ${THINGS.shieldsOfKind} shields of each kind`))
  return { shields, faults }
}

function changedShield({ id, version, ...before }: Shield, after: NewShield): Shield {
  if (Bun.deepEquals(before, after)) return { id, ...after, ...(version !== undefined && { version }) }
  return { id, ...after, version: (version ?? 1) + 1 }
}

const takenShield = (pointer: string): Fault => fault(pointer, "not_unique", "is already in the list")

/**
 * Reads one shield, with its value in the form that ingestion compares, or returns its faults. `pointer` is the JSON pointer to
 * the shield.
 */
function readShield(input: ShieldInput, rules: PageRules, pointer: string): { shield: NewShield } | { faults: Fault[] } {
  const { kind, note = "", enabled = true } = input
  const faults = kind === "rule" ? ruleFaults(input, pointer) : plainFaults(input, rules, pointer)
  if (faults.length > 0) return { faults }
  if (kind !== "rule") return { shield: { kind, value: shieldValue(kind, input.value!, rules)!, note, enabled } }
  const conditions = input.conditions!.map(completed)
  return { shield: { kind, value: input.value ?? nameOf(conditions), conditions, note, enabled } }
}

/** Reads one shield that is added to others. Throws `validation_failed` with all faults at once. */
export function readOneShield(input: unknown, others: readonly Shield[], rules: PageRules): NewShield {
  const { fields, faults } = inspect(ShieldInput, input)
  refuseFaults(faults)
  // Without faults every field matches the schema.
  const read = readShield(fields as ShieldInput, rules, "")
  if ("faults" in read) refuseFaults(read.faults)
  const { shield } = read as { shield: NewShield } // faults have been thrown above
  if (others.some((other) => isSameShield(other, shield))) refuseFaults([takenShield("")])
  if (others.filter(({ kind }) => kind === shield.kind).length >= THINGS.shieldsOfKind)
    refuseFaults([fault("/kind", "too_many", `is limited to ${THINGS.shieldsOfKind} shields of each kind`)])
  return shield
}

export const shieldNotFound = (id: number) => new AppError("shield_not_found", `Shield ${id} does not exist.`)

const completed = ({ dimension, property, operator = "is", values }: ConditionInput): RuleCondition => ({
  dimension,
  ...(property !== undefined && { property }),
  operator,
  values,
})

/** Describes a rule in words. Drops of an unnamed rule are counted under this description. */
function nameOf(conditions: readonly RuleCondition[]): string {
  const parts = conditions.map(({ dimension, property, operator, values }) => `${property ?? dimension} ${operator} ${values.join(" or ")}`)
  return truncate(parts.join(" and "), THINGS.shieldNameChars)
}

function ruleFaults({ value = "", conditions }: ShieldInput, pointer: string): Fault[] {
  const faults: Fault[] = []
  if (value.length > THINGS.shieldNameChars)
    faults.push(fault(`${pointer}/value`, "too_long", `must have at most ${THINGS.shieldNameChars} characters`))
  if (!conditions) return [...faults, fault(`${pointer}/conditions`, "required", "is required")]
  return [...faults, ...conditions.flatMap((condition, i) => conditionFaults(condition, `${pointer}/conditions/${i}`))]
}

function conditionFaults({ dimension, property, operator, values }: ConditionInput, pointer: string): Fault[] {
  const faults: Fault[] = []
  const isProperty = dimension === "property"
  if (isProperty && property === undefined)
    faults.push(fault(`${pointer}/property`, "required", "is required for the dimension property: the property's key"))
  if (!isProperty && property !== undefined)
    faults.push(fault(`${pointer}/property`, "unsupported_combination", "is only allowed with the dimension property"))
  if (operator !== "matches_wildcard" && operator !== "matches_wildcard_not") return faults
  const tooLong = values.flatMap((value, i) => (isShortPattern(value) ? [] : [i]))
  return [...faults, ...tooLong.map((i) => fault(`${pointer}/values/${i}`, "invalid_pattern", `is too long. ${PATTERN_BOUNDS}`))]
}

function plainFaults({ kind, value, conditions }: ShieldInput, rules: PageRules, pointer: string): Fault[] {
  const faults = conditions ? [fault(`${pointer}/conditions`, "unsupported_combination", "is only allowed with the kind rule")] : []
  if (value === undefined) return [...faults, fault(`${pointer}/value`, "required", "is required")]
  return shieldValue(kind, value, rules) === undefined ? [...faults, ...valueFaults(kind, value, rules, `${pointer}/value`)] : faults
}

/** Returns the value in the form that ingestion compares, or undefined for a value that can never match. */
function shieldValue(kind: ShieldKind, text: string, rules: PageRules): string | undefined {
  if (kind === "ip") return isRange(text) ? text : undefined
  if (kind === "country") return /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : undefined
  if (kind === "page") return valueFaults(kind, text, rules, "").length === 0 ? text : undefined
  return text.includes("*") ? hostPattern(text.toLowerCase()) : parseHost(text)
}

function hostPattern(text: string): string | undefined {
  const stars = text.split("*").length - 1
  return /^[a-z0-9.*-]+$/.test(text) && stars <= QUERY.wildcardStars && text.length <= QUERY.wildcardChars ? text : undefined
}

function valueFaults(kind: ShieldKind, value: string, rules: PageRules, pointer: string): Fault[] {
  if (kind === "page") return matcherFaults({ of: "page", match: value.includes("*") ? "wildcard" : "exact", value }, rules, pointer)
  if (kind === "ip") return [fault(pointer, "invalid_choice", "must be an address or a range such as 203.0.113.0/24")]
  if (kind === "country") return [fault(pointer, "invalid_choice", "must be a country code of two letters")]
  return [fault(pointer, "invalid_host", "must be a host name; * stands for any run of characters")]
}
