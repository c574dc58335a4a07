import type { Static, TObject, TSchema } from "@sinclair/typebox"
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value"
import { COUNTED_FAULTS, type Fault } from "./error.ts"
import { characters, isClean, tidied } from "./text.ts"

/** What an untrusted body holds of a schema. */
export interface Inspected<T> {
  /** The fields, with tidied texts, that have no fault in or below them. */
  fields: Partial<T>
  faults: Fault[]
}

/** Set by the server alone, and ignored at the top of a body, so that what GET gave can be sent back. */
const SERVER_SET = ["id", "site_id", "created_at", "updated_at", "tracking_id", "snippet", "first_event_at"]

/**
 * Finds all faults of form at once: missing and unknown fields, types, choices, lengths, bounds, unclean texts. Rules about
 * meaning go on with `fields`. Lengths count after trimming, and in characters. A body that is made to be refused costs little:
 * behind more faults than are counted, or in a list or object that is absurdly full, nothing is looked at, and no field is
 * taken for sound.
 *
 * `ignored` are fields that the server sets; none where a body names things by their ids.
 *
 * A schema may name its own code for a fault: `"x-codes": { too_few: "too_few_steps" }`.
 */
export function inspect<T extends TObject>(
  schema: T,
  body: unknown,
  pointer = "",
  ignored: readonly string[] = SERVER_SET,
): Inspected<Static<T>> {
  if (!isObject(body)) return { fields: {}, faults: [fault(pointer, "invalid_type", "must be an object")] }
  const overfull = overfullAt(body)
  if (overfull !== undefined) return { fields: {}, faults: [fault(pointer + overfull, "too_many", `may have ${MOST_ENTRIES} entries`)] }
  const sent = Object.entries(body).filter(([name]) => pointer !== "" || !ignored.includes(name))
  const tidy = tidiedValue(Object.fromEntries(sent))
  const faults = firstPerPointer(formFaults(schema, tidy, pointer))
  if (faults.length > COUNTED_FAULTS) return { fields: {}, faults }
  const faulty = new Set(faults.map((found) => found.pointer.slice(pointer.length + 1).split("/")[0]))
  // Every field left fits its part of the schema, as just shown.
  const fields = Object.fromEntries(Object.entries(tidy).filter(([name]) => !faulty.has(escaped(name)))) as Partial<Static<T>>
  return { fields, faults }
}

/** A fault with a sentence that begins with the field's name: `fault("/steps/0/value", "required", "is required")`. */
export function fault(pointer: string, code: string, says: string, allowed?: Fault["allowed"]): Fault {
  return { pointer, code, detail: `${nameOf(pointer)} ${says}.`, ...(allowed ? { allowed } : {}) }
}

/** Of an item of a list its number, as people count; in a list without a name where it stands. */
function nameOf(pointer: string): string {
  const [list = "", name = ""] = pointer.split("/").slice(-2)
  if (/^\d+$/.test(list) && /^\d+$/.test(name)) return pointer.slice(1)
  return /^\d+$/.test(name) ? `Item ${Number(name) + 1} of ${list}` : name || (pointer === "" ? "The body" : "A field without a name")
}

/** As the fields stand in the body; what is missing comes after what is there. */
export function inDocumentOrder(faults: readonly Fault[], body: unknown): Fault[] {
  const placesIn = rememberedPlaces()
  const places = faults.map((found) => ({ found, place: placeOf(found.pointer, body, placesIn) }))
  return places.sort((a, b) => comparePlaces(a.place, b.place)).map(({ found }) => found)
}

/**
 * A merge patch applied to what is there, with the fields of the patch first and in its order, which is that of their faults.
 * A patch that is no object stays what it is, and is refused as that.
 */
export const mergedWith = (present: object, patch: unknown): unknown => (isObject(patch) ? { ...patch, ...present, ...patch } : patch)

/** A JSON object: no list, and not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A name as a step of a JSON pointer. */
export const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")
const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~")

function tidiedValue<T>(value: T): T
function tidiedValue(value: unknown): unknown {
  if (typeof value === "string") return tidied(value)
  if (Array.isArray(value)) return value.map((item) => tidiedValue(item))
  if (!isObject(value)) return value
  const present = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(present.map(([name, inner]) => [name, tidiedValue(inner)]))
}

/** More than any schema lets a list or an object have. */
const MOST_ENTRIES = 2_000

/** Where the first list or object stands that has more. */
function overfullAt(value: object): string | undefined {
  if ((Array.isArray(value) ? value : Object.keys(value)).length > MOST_ENTRIES) return ""
  for (const [name, inner] of Object.entries(value)) {
    const below = typeof inner === "object" && inner !== null ? overfullAt(inner) : undefined
    if (below !== undefined) return `/${escaped(name)}${below}`
  }
  return undefined
}

/** Found as they are asked for: nobody asks for thousands. */
function* formFaults(schema: TSchema, value: unknown, pointer: string): Iterable<Fault> {
  yield* uncleanTexts(value, pointer)
  yield* shapeFaults(schema, value, pointer)
}

function* uncleanTexts(value: unknown, pointer: string): Iterable<Fault> {
  if (holdsCleanTexts(value)) return
  if (!isObject(value) && !Array.isArray(value)) yield fault(pointer, "invalid_characters", UNCLEAN)
  else if (!Object.keys(value).every(isClean)) yield fault(pointer, "invalid_characters", UNCLEAN)
  else
    for (const [name, inner] of Object.entries(value))
      if (!holdsCleanTexts(inner)) yield* uncleanTexts(inner, `${pointer}/${escaped(name)}`)
}

const UNCLEAN = "holds characters that no text may have"

/** Names count as texts: those of properties are stored. */
function holdsCleanTexts(value: unknown): boolean {
  if (typeof value === "string") return isClean(value)
  if (Array.isArray(value)) return value.every(holdsCleanTexts)
  return !isObject(value) || Object.entries(value).every(([name, inner]) => isClean(name) && holdsCleanTexts(inner))
}

/** The first of each, and one more than are counted. */
export function firstPerPointer(faults: Iterable<Fault>): Fault[] {
  const found = new Map<string, Fault>()
  for (const each of faults) {
    if (!found.has(each.pointer)) found.set(each.pointer, each)
    if (found.size > COUNTED_FAULTS) break
  }
  return [...found.values()]
}

/** Faults of form alone, one after the other. */
export function* shapeFaults(schema: TSchema, value: unknown, pointer: string): Generator<Fault, undefined> {
  for (const error of Value.Errors(schema, value)) yield* toFaults(error, pointer)
}

/** What TypeBox reports, in our words and without the value that was sent: it may be a secret. */
export function toFaults(error: ValueError, pointer: string): Iterable<Fault> {
  const at = pointer + error.path
  const { schema, value } = error
  if (error.type === ValueErrorType.Union) return unionFaults(schema, value, at)
  if (error.type === ValueErrorType.StringMaxLength && characters(String(value)) <= schema.maxLength) return []
  const known = WORDS[error.type]
  if (!known || isNoInteger(value)) return [fault(at, "invalid_type", `must be ${typeName(schema)}`)]
  const [code, says] = known(schema)
  const allowed = code === "out_of_range" ? { min: schema.minimum, max: schema.maximum } : undefined
  return [fault(at, schema["x-codes"]?.[code] ?? code, says, allowed)]
}

/** A closed list of texts, or something that may be null. */
function unionFaults({ anyOf }: TSchema, value: unknown, at: string): Iterable<Fault> {
  const choices = (anyOf as TSchema[]).map((choice) => choice.const)
  if (choices.every((choice) => typeof choice === "string")) {
    const says = `must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`
    return [fault(at, typeof value === "string" ? "invalid_choice" : "invalid_type", says, choices)]
  }
  return shapeFaults((anyOf as TSchema[])[0]!, value, at)
}

/** Beyond 2^53 a number is not the one that was sent. */
const isNoInteger = (value: unknown): boolean => typeof value === "number" && !Number.isSafeInteger(value)

const WORDS: { [type in ValueErrorType]?: (schema: TSchema) => [code: string, says: string] } = {
  [ValueErrorType.ObjectRequiredProperty]: () => ["required", "is required"],
  [ValueErrorType.ObjectAdditionalProperties]: () => ["unknown_field", "does not exist"],
  [ValueErrorType.ObjectMaxProperties]: ({ maxProperties }) => ["too_many", `may have ${maxProperties} entries`],
  [ValueErrorType.StringMinLength]: ({ minLength }) => [
    "too_short",
    minLength > 1 ? `needs at least ${minLength} characters` : "must not be empty",
  ],
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => ["too_long", `may have ${maxLength} characters`],
  [ValueErrorType.ArrayMinItems]: ({ minItems }) => ["too_few", `needs at least ${minItems} item${minItems === 1 ? "" : "s"}`],
  [ValueErrorType.ArrayMaxItems]: ({ maxItems }) => ["too_many", `may have ${maxItems} items`],
  [ValueErrorType.ArrayUniqueItems]: () => ["not_unique", "holds the same item twice"],
  [ValueErrorType.IntegerMinimum]: ({ minimum, maximum }) => ["out_of_range", `must lie between ${minimum} and ${maximum}`],
  [ValueErrorType.IntegerMaximum]: ({ minimum, maximum }) => ["out_of_range", `must lie between ${minimum} and ${maximum}`],
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  array: "a list",
  object: "an object",
  boolean: "true or false",
}
const typeName = ({ type }: TSchema): string => TYPE_NAMES[type] ?? "of another type"

/** The position of each step of a pointer among its neighbours. */
function placeOf(pointer: string, body: unknown, placesIn: ReturnType<typeof rememberedPlaces>): number[] {
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

/** Where a name stands in an object. Looked at once for all faults: a body may be made of thousands of wrong fields. */
function rememberedPlaces() {
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
