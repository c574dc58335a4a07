import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, type Fault, refuseFaults } from "../domain/error.ts"
import { OPERATORS } from "../domain/filter.ts"
import { parseHost } from "../domain/host.ts"
import { COLLECT, QUERY, THINGS } from "../domain/limits.ts"
import { matcherFaults, type PageRules } from "../domain/match.ts"
import { fault, inspect } from "../domain/shape.ts"
import { RULE_DIMENSIONS, type RuleCondition, SHIELD_KINDS, type Shield, type ShieldKind } from "../domain/shield.ts"
import { cutTo } from "../domain/text.ts"
import { isRange } from "../ingest/client-address.ts"
import { isShortPattern, PATTERN_BOUNDS } from "../query/filter-values.ts"

const Condition = t.Object(
  {
    dimension: t.Union(RULE_DIMENSIONS.map((dimension) => t.Literal(dimension))),
    property: t.Optional(t.String({ minLength: 1, maxLength: QUERY.propertyChars })),
    operator: t.Optional(t.Union(OPERATORS.map((operator) => t.Literal(operator)))),
    values: t.Array(t.String({ minLength: 1, maxLength: QUERY.valueChars }), { minItems: 1, maxItems: QUERY.flatValues }),
  },
  { additionalProperties: false },
)
type ConditionInput = Static<typeof Condition>

/** A shield as a caller sends it. An id and a version are taken along from what was read, and decide nothing. */
export const ShieldInput = t.Object(
  {
    id: t.Optional(t.Integer()),
    version: t.Optional(t.Integer()),
    kind: t.Union(SHIELD_KINDS.map((kind) => t.Literal(kind))),
    value: t.Optional(t.String({ minLength: 1, maxLength: COLLECT.pageBytes })),
    conditions: t.Optional(t.Array(Condition, { minItems: 1, maxItems: THINGS.shieldConditions })),
    note: t.Optional(t.String({ maxLength: THINGS.shieldNoteChars })),
    enabled: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
)
type ShieldInput = Static<typeof ShieldInput>

/** A shield that has no id yet. */
type NewShield = Omit<Shield, "id" | "version">

/** Whether two shields are one: drops are counted by kind and value. */
const isSameShield = (a: Pick<Shield, "kind" | "value">, b: Pick<Shield, "kind" | "value">): boolean =>
  a.kind === b.kind && a.value === b.value

/** The whole list of a site's shields. One of the same kind and value as before keeps its id. */
export function readShields(
  present: readonly Shield[],
  sent: readonly ShieldInput[],
  rules: PageRules,
): { shields: Shield[]; faults: Fault[] } {
  const faults: Fault[] = []
  const shields: Shield[] = []
  let lastId = Math.max(0, ...present.map(({ id }) => id))
  for (const [i, input] of sent.entries()) {
    const read = readShield(input, rules, `/shields/${i}`)
    if ("faults" in read) faults.push(...read.faults)
    else if (shields.some((other) => isSameShield(other, read.shield))) faults.push(takenShield(`/shields/${i}`))
    else {
      const before = present.find((other) => isSameShield(other, read.shield))
      shields.push(before ? changedShield(before, read.shield) : { id: ++lastId, ...read.shield })
    }
  }
  const isTooMany = SHIELD_KINDS.some((kind) => sent.filter((shield) => shield.kind === kind).length > THINGS.shieldsOfKind)
  if (isTooMany) faults.push(fault("/shields", "too_many", `may have ${THINGS.shieldsOfKind} of each kind`))
  return { shields, faults }
}

function changedShield({ id, version, ...before }: Shield, after: NewShield): Shield {
  if (Bun.deepEquals(before, after)) return { id, ...after, ...(version !== undefined && { version }) }
  return { id, ...after, version: (version ?? 1) + 1 }
}

const takenShield = (pointer: string): Fault => fault(pointer, "not_unique", "is in the list already")

/** One shield with its value as ingestion compares it, or what is wrong with it. `pointer` leads to it. */
function readShield(input: ShieldInput, rules: PageRules, pointer: string): { shield: NewShield } | { faults: Fault[] } {
  const { kind, note = "", enabled = true } = input
  const faults = kind === "rule" ? ruleFaults(input, pointer) : plainFaults(input, rules, pointer)
  if (faults.length > 0) return { faults }
  if (kind !== "rule") return { shield: { kind, value: shieldValue(kind, input.value!, rules)!, note, enabled } }
  const conditions = input.conditions!.map(completed)
  return { shield: { kind, value: input.value ?? nameOf(conditions), conditions, note, enabled } }
}

/** One shield that is to stand beside others. Throws `validation_failed` with all faults at once. */
export function readOneShield(input: unknown, others: readonly Shield[], rules: PageRules): NewShield {
  const { fields, faults } = inspect(ShieldInput, input)
  refuseFaults(faults)
  // Without a fault every field is what the schema says.
  const read = readShield(fields as ShieldInput, rules, "")
  if ("faults" in read) refuseFaults(read.faults)
  const { shield } = read as { shield: NewShield } // faults have just been thrown
  if (others.some((other) => isSameShield(other, shield))) refuseFaults([takenShield("")])
  if (others.filter(({ kind }) => kind === shield.kind).length >= THINGS.shieldsOfKind)
    refuseFaults([fault("/kind", "too_many", `may stand ${THINGS.shieldsOfKind} times`)])
  return shield
}

export const shieldNotFound = (id: number) => new AppError("shield_not_found", `There is no shield ${id}`)

const completed = ({ dimension, property, operator = "is", values }: ConditionInput): RuleCondition => ({
  dimension,
  ...(property !== undefined && { property }),
  operator,
  values,
})

/** Said in words: what drops are counted under when nobody has named the rule. */
function nameOf(conditions: readonly RuleCondition[]): string {
  const said = conditions.map(({ dimension, property, operator, values }) => `${property ?? dimension} ${operator} ${values.join(" or ")}`)
  return cutTo(said.join(" and "), THINGS.shieldNameChars)
}

function ruleFaults({ value = "", conditions }: ShieldInput, pointer: string): Fault[] {
  const faults: Fault[] = []
  if (value.length > THINGS.shieldNameChars)
    faults.push(fault(`${pointer}/value`, "too_long", `may have ${THINGS.shieldNameChars} characters`))
  if (!conditions) return [...faults, fault(`${pointer}/conditions`, "required", "is required")]
  return [...faults, ...conditions.flatMap((condition, i) => conditionFaults(condition, `${pointer}/conditions/${i}`))]
}

function conditionFaults({ dimension, property, operator, values }: ConditionInput, pointer: string): Fault[] {
  const faults: Fault[] = []
  const isProperty = dimension === "property"
  if (isProperty && property === undefined) faults.push(fault(`${pointer}/property`, "required", "names the key"))
  if (!isProperty && property !== undefined)
    faults.push(fault(`${pointer}/property`, "unsupported_combination", "goes with the dimension property alone"))
  if (operator !== "matches_wildcard" && operator !== "matches_wildcard_not") return faults
  const tooLong = values.flatMap((value, i) => (isShortPattern(value) ? [] : [i]))
  return [...faults, ...tooLong.map((i) => fault(`${pointer}/values/${i}`, "invalid_pattern", `is too long. ${PATTERN_BOUNDS}`))]
}

function plainFaults({ kind, value, conditions }: ShieldInput, rules: PageRules, pointer: string): Fault[] {
  const faults = conditions ? [fault(`${pointer}/conditions`, "unsupported_combination", "goes with the kind rule alone")] : []
  if (value === undefined) return [...faults, fault(`${pointer}/value`, "required", "is required")]
  return shieldValue(kind, value, rules) === undefined ? [...faults, ...valueFaults(kind, value, rules, `${pointer}/value`)] : faults
}

/** The value as ingestion compares it; undefined for what could never match. */
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
