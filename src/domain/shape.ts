import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox"
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value"
import { type Fault, MAX_COUNTED_FAULTS, refuseFaults } from "./error.ts"
import { countCharacters, isClean, normalizeText } from "./text.ts"

/** The result of validating an untrusted body against a schema. */
export interface Inspected<T> {
  /** The fields without a fault in or below them, with normalized texts. */
  fields: Partial<T>
  faults: Fault[]
}

/** Fields that only the server sets. They are ignored at the top level of a body, so that a GET response can be sent back. */
const SERVER_SET = ["id", "site_id", "created_at", "updated_at", "tracking_id", "snippet", "first_event_at"]

/**
 * Validates the shape of a body and returns all faults at once: missing and unknown fields, types, choices, lengths, bounds,
 * invalid characters. Rules about meaning are then applied to `fields`. Lengths are counted in characters, after trimming. A
 * hostile body is cheap to reject: validation stops after the maximum number of faults, or at an oversized list or object, and
 * then returns no fields.
 *
 * `ignored` are fields that the server sets. Pass an empty list for a body that refers to other records by id.
 *
 * A schema may define its own code for a fault: `"x-codes": { too_few: "too_few_steps" }`.
 */
export function inspect<T extends TObject>(
  schema: T,
  body: unknown,
  pointer = "",
  ignored: readonly string[] = SERVER_SET,
): Inspected<Static<T>> {
  if (!isObject(body)) return { fields: {}, faults: [fault(pointer, "invalid_type", "must be an object")] }
  const oversized = oversizedAt(body)
  if (oversized !== undefined)
    return { fields: {}, faults: [fault(pointer + oversized, "too_many", `must have at most ${MAX_ENTRIES} entries`)] }
  const sent = Object.entries(body).filter(([name]) => pointer !== "" || !ignored.includes(name))
  const normalized = normalizeTexts(Object.fromEntries(sent))
  const faults = firstPerPointer(formFaults(schema, normalized, pointer))
  if (faults.length > MAX_COUNTED_FAULTS) return { fields: {}, faults }
  const faulty = new Set(faults.map((found) => found.pointer.slice(pointer.length + 1).split("/")[0]))
  // Every remaining field is valid, because it has no fault.
  const fields = Object.fromEntries(Object.entries(normalized).filter(([name]) => !faulty.has(escaped(name)))) as Partial<Static<T>>
  return { fields, faults }
}

const Nothing = Type.Object({}, { additionalProperties: false })

/** Accepts an object without fields. Throws `validation_failed` for anything else. */
export const parseEmptyBody = (body: unknown): void => refuseFaults(inspect(Nothing, body).faults)

/** Creates a fault. The detail is the field's name and a predicate: `fault("/steps/0/value", "required", "is required")`. */
export function fault(pointer: string, code: string, predicate: string, allowed?: Fault["allowed"]): Fault {
  return { pointer, code, detail: `${nameOf(pointer)} ${predicate}.`, ...(allowed ? { allowed } : {}) }
}

/** Returns the name of the field for a message. For a list item, its number counted from 1. */
function nameOf(pointer: string): string {
  const [list = "", name = ""] = pointer.split("/").slice(-2)
  if (/^\d+$/.test(list) && /^\d+$/.test(name)) return pointer.slice(1)
  return /^\d+$/.test(name) ? `Item ${Number(name) + 1} of ${list}` : name || (pointer === "" ? "The body" : "A field without a name")
}

/** Sorts faults by the position of their fields in the body. Missing fields come last. */
export function inDocumentOrder(faults: readonly Fault[], body: unknown): Fault[] {
  const placesIn = cachedPlaces()
  const places = faults.map((found) => ({ found, place: placeOf(found.pointer, body, placesIn) }))
  return places.sort((a, b) => comparePlaces(a.place, b.place)).map(({ found }) => found)
}

/**
 * Applies a merge patch. The fields of the patch come first, in their order, which determines the order of faults. A patch that
 * is not an object is returned unchanged, so that validation rejects it.
 */
export const mergedWith = (current: object, patch: unknown): unknown => (isObject(patch) ? { ...patch, ...current, ...patch } : patch)

/** Returns whether a value is a JSON object, neither an array nor null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Escapes a name for use in a JSON pointer. */
export const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")
const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~")

function normalizeTexts<T>(value: T): T
function normalizeTexts(value: unknown): unknown {
  if (typeof value === "string") return normalizeText(value)
  if (Array.isArray(value)) return value.map((item) => normalizeTexts(item))
  if (!isObject(value)) return value
  const defined = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(defined.map(([name, inner]) => [name, normalizeTexts(inner)]))
}

/** The maximum number of entries of any list or object. No schema allows more. */
const MAX_ENTRIES = 2_000

/** Returns the pointer to the first list or object with more entries, or undefined. */
function oversizedAt(value: object): string | undefined {
  if ((Array.isArray(value) ? value : Object.keys(value)).length > MAX_ENTRIES) return ""
  for (const [name, inner] of Object.entries(value)) {
    const below = typeof inner === "object" && inner !== null ? oversizedAt(inner) : undefined
    if (below !== undefined) return `/${escaped(name)}${below}`
  }
  return undefined
}

/** Yields faults one by one, so that the caller can stop early. */
function* formFaults(schema: TSchema, value: unknown, pointer: string): Iterable<Fault> {
  yield* uncleanTexts(value, pointer)
  yield* shapeFaults(schema, value, pointer)
}

function* uncleanTexts(value: unknown, pointer: string): Iterable<Fault> {
  if (holdsCleanTexts(value)) return
  if (!isObject(value) && !Array.isArray(value)) yield fault(pointer, "invalid_characters", INVALID_CHARACTERS)
  else if (!Object.keys(value).every(isClean)) yield fault(pointer, "invalid_characters", INVALID_CHARACTERS)
  else
    for (const [name, inner] of Object.entries(value))
      if (!holdsCleanTexts(inner)) yield* uncleanTexts(inner, `${pointer}/${escaped(name)}`)
}

const INVALID_CHARACTERS = "contains control characters or invalid Unicode"

/** Returns whether all texts are clean, including names of properties, which are stored, too. */
function holdsCleanTexts(value: unknown): boolean {
  if (typeof value === "string") return isClean(value)
  if (Array.isArray(value)) return value.every(holdsCleanTexts)
  return !isObject(value) || Object.entries(value).every(([name, inner]) => isClean(name) && holdsCleanTexts(inner))
}

/** Returns the first fault for each pointer, and stops one after the maximum number. */
export function firstPerPointer(faults: Iterable<Fault>): Fault[] {
  const found = new Map<string, Fault>()
  for (const each of faults) {
    if (!found.has(each.pointer)) found.set(each.pointer, each)
    if (found.size > MAX_COUNTED_FAULTS) break
  }
  return [...found.values()]
}

/** Yields the faults that TypeBox finds. */
export function* shapeFaults(schema: TSchema, value: unknown, pointer: string): Generator<Fault, undefined> {
  for (const error of Value.Errors(schema, value)) yield* toFaults(error, pointer)
}

/** Converts an error of TypeBox to faults. The details do not contain the value, which may be a secret. */
export function toFaults(error: ValueError, pointer: string): Iterable<Fault> {
  const at = pointer + error.path
  const { schema, value } = error
  if (error.type === ValueErrorType.Union) return unionFaults(schema, value, at)
  if (error.type === ValueErrorType.StringMaxLength && countCharacters(String(value)) <= schema.maxLength) return []
  const message = MESSAGES[error.type]
  if (!message || isUnsafeInteger(value)) return [fault(at, "invalid_type", `must be ${typeName(schema)}`)]
  const [code, predicate] = message(schema)
  const allowed = code === "out_of_range" ? { min: schema.minimum, max: schema.maximum } : undefined
  return [fault(at, schema["x-codes"]?.[code] ?? code, predicate, allowed)]
}

/** Yields the faults of a union: a closed list of texts, or a nullable type. */
function unionFaults({ anyOf }: TSchema, value: unknown, at: string): Iterable<Fault> {
  const choices = (anyOf as TSchema[]).map((choice) => choice.const)
  if (choices.every((choice) => typeof choice === "string")) {
    const predicate = `must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`
    return [fault(at, typeof value === "string" ? "invalid_choice" : "invalid_type", predicate, choices)]
  }
  return shapeFaults((anyOf as TSchema[])[0]!, value, at)
}

/** Returns whether a number is not a safe integer. Beyond 2^53, it may differ from the number that was sent. */
const isUnsafeInteger = (value: unknown): boolean => typeof value === "number" && !Number.isSafeInteger(value)

const MESSAGES: { [type in ValueErrorType]?: (schema: TSchema) => [code: string, predicate: string] } = {
  [ValueErrorType.ObjectRequiredProperty]: () => ["required", "is required"],
  [ValueErrorType.ObjectAdditionalProperties]: () => ["unknown_field", "is not a known field"],
  [ValueErrorType.ObjectMaxProperties]: ({ maxProperties }) => ["too_many", `must have at most ${maxProperties} entries`],
  [ValueErrorType.StringMinLength]: ({ minLength }) => [
    "too_short",
    minLength > 1 ? `must have at least ${minLength} characters` : "must not be empty",
  ],
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => ["too_long", `must have at most ${maxLength} characters`],
  [ValueErrorType.ArrayMinItems]: ({ minItems }) => ["too_few", `must have at least ${minItems} item${minItems === 1 ? "" : "s"}`],
  [ValueErrorType.ArrayMaxItems]: ({ maxItems }) => ["too_many", `must have at most ${maxItems} items`],
  [ValueErrorType.ArrayUniqueItems]: () => ["not_unique", "contains the same item twice"],
  [ValueErrorType.IntegerMinimum]: (schema) => ["out_of_range", rangeOf(schema)],
  [ValueErrorType.IntegerMaximum]: (schema) => ["out_of_range", rangeOf(schema)],
}

function rangeOf({ minimum, maximum }: TSchema): string {
  if (maximum === undefined) return `must be at least ${minimum}`
  return minimum === undefined ? `must be at most ${maximum}` : `must be between ${minimum} and ${maximum}`
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  array: "a list",
  object: "an object",
  boolean: "true or false",
}
const typeName = ({ type }: TSchema): string => TYPE_NAMES[type] ?? "of another type"

/** Returns the position of each step of a pointer within its object or list. */
function placeOf(pointer: string, body: unknown, placesIn: ReturnType<typeof cachedPlaces>): number[] {
  let inner = body
  return pointer
    .split("/")
    .slice(1)
    .map((step) => {
      const name = unescaped(step)
      const place = typeof inner === "object" && inner !== null ? placesIn(inner)(name) : undefined
      inner = place === undefined ? undefined : (inner as Record<string, unknown>)[name]
      return place ?? Number.MAX_SAFE_INTEGER
    })
}

/** Returns a function for the position of a name in an object. Positions are cached: a body may have thousands of invalid fields. */
function cachedPlaces() {
  const known = new Map<object, Map<string, number>>()
  return (of: object) => {
    if (Array.isArray(of)) return (name: string) => (Object.hasOwn(of, name) && name !== "length" ? Number(name) : undefined)
    const places = known.get(of) ?? new Map(Object.keys(of).map((name, place) => [name, place]))
    known.set(of, places)
    return (name: string) => places.get(name)
  }
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? -1) - (b[i] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}
