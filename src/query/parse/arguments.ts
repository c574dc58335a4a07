import { AppError, COUNTED_FAULTS, type Fault } from "../domain/error.ts"
import { parseDay } from "../domain/moment.ts"
import { isClean } from "../domain/text.ts"

/** Whether arguments came as text of a query string (400 `invalid_query`) or as JSON (422 `validation_failed`). */
export type Form = "text" | "json"

export interface Bounds {
  min: number
  max: number
}

/**
 * Reads arguments by name, one kind of value per method, and collects what is wrong with them: a fault never stops the
 * reading. An argument that is absent or at fault gives undefined; a null is refused as a wrong type, never taken as absent.
 */
export class ArgumentReader {
  readonly #given: Record<string, unknown>
  readonly #found: Fault[] = []

  /** `allowed` are the arguments this question has; others are refused. */
  constructor(given: Record<string, unknown>, allowed: readonly string[]) {
    this.#given = given
    for (const name of Object.keys(given)) {
      if (this.#found.length > COUNTED_FAULTS) break
      if (!allowed.includes(name)) this.refuse(unknownArgument(name, allowed))
    }
  }

  has(name: string): boolean {
    return this.#given[name] !== undefined
  }

  raw(name: string): unknown {
    return this.#given[name]
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    if (!this.has(name)) return undefined
    return allowed.find((item) => item === this.raw(name)) ?? this.refuse(noChoice(name, allowed))
  }

  /** Unique names of a closed list. */
  choices<T extends string>(name: string, allowed: readonly T[], size: Bounds): readonly T[] | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.refuse(wrongType(name, "a list"))
    const isKnown = (item: unknown): item is T => allowed.some((known) => known === item)
    // Up to the first wrong one: there may be thousands.
    if (!value.every(isKnown)) return this.refuse(noChoice(name, allowed))
    const chosen: readonly T[] = value
    if (new Set(chosen).size < chosen.length) {
      return this.refuse({ pointer: `/${name}`, code: "not_unique", detail: `${name} names one twice.` })
    }
    return within(size, chosen.length)
      ? chosen
      : this.refuse(wrongSize(name, chosen.length < size.min ? "too_few" : "too_many", size, "names"))
  }

  /** An integer, also written as digits. */
  integer(name: string, { min, max }: Bounds): number | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    const number = typeof value === "string" && /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value
    if (typeof number !== "number" || !Number.isSafeInteger(number)) return this.refuse(wrongType(name, "a whole number"))
    const allowed = { min, max }
    if (within(allowed, number)) return number
    return this.refuse({ pointer: `/${name}`, code: "out_of_range", detail: `${name} must be ${min} to ${max}.`, allowed })
  }

  boolean(name: string): boolean | undefined {
    const value = this.raw(name)
    return value === undefined || typeof value === "boolean" ? value : this.refuse(wrongType(name, "true or false"))
  }

  text(name: string, length: Bounds): string | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== "string") return this.refuse(wrongType(name, "a text"))
    if (!isClean(value)) return this.refuse(forbiddenCharacters(`/${name}`))
    return within(length, value.length)
      ? value
      : this.refuse(wrongSize(name, value.length < length.min ? "too_short" : "too_long", length, "characters"))
  }

  day(name: string): Temporal.PlainDate | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== "string") return this.refuse(wrongType(name, "a day, YYYY-MM-DD"))
    const detail = `${name} must be a day of the calendar, YYYY-MM-DD.`
    return parseDay(value) ?? this.refuse({ pointer: `/${name}`, code: "invalid_date", detail })
  }

  refuse(fault: Fault): undefined {
    this.#found.push(fault)
  }

  /** One per argument, the first found, in the order the arguments came in; those that are missing last. */
  faults(): Fault[] {
    const found = Array.from(
      Map.groupBy(this.#found, ({ pointer }) => pointer.split("/")[1]!),
      ([name, [first]]) => ({ name, first: first! }),
    )
    const places = this.#placesOf(found.map(({ name }) => name))
    const placeOf = ({ name }: { name: string }) => places.get(name) ?? Number.MAX_SAFE_INTEGER
    return found.sort((a, b) => placeOf(a) - placeOf(b)).map(({ first }) => first)
  }

  /** Where arguments stand among those given, looked for until all are found: a hostile caller gives thousands. */
  #placesOf(names: readonly string[]): ReadonlyMap<string, number> {
    const wanted = new Set(names)
    const places = new Map<string, number>()
    for (const [place, given] of Object.keys(this.#given).entries()) {
      if (places.size === wanted.size) break
      const name = segment(given)
      if (wanted.has(name) && !places.has(name)) places.set(name, place)
    }
    return places
  }
}

/** Throws all faults of the arguments, if there are any. */
export function refuseArguments(reader: ArgumentReader, form: Form): void {
  refuse(reader.faults().slice(0, 20), form)
}

/** Names of a query string that a report fills in by itself: nobody gives them. */
export function refuseNames(given: Record<string, unknown>, names: readonly string[]): void {
  const taken = names.filter((name) => given[name] !== undefined)
  refuse(taken.map(noArgument), "text")
}

/** For a value of a query string that none of a closed list is. */
export function refuseChoice(name: string, allowed: readonly string[]): never {
  refuseArgument(noChoice(name, allowed))
}

/** For what is wrong with a query string beyond its single values. */
export function refuseArgument(found: Fault): never {
  throw notValid([found], "text")
}

/**
 * Query-string values in the form of JSON arguments: comma lists, JSON text, true and false. What is none stays text, and
 * is refused when it is read.
 */
export function fromQueryString(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? fromText(name, value) : value]),
  )
}

function refuse(errors: readonly Fault[], form: Form): void {
  if (errors.length > 0) throw notValid(errors, form)
}

function notValid(errors: readonly Fault[], form: Form): AppError {
  const count = errors.length === 1 ? "1 parameter is" : `${errors.length} parameters are`
  return new AppError(form === "text" ? "invalid_query" : "validation_failed", `${count} not valid.`, { errors })
}

function fromText(name: string, text: string): unknown {
  if (name === "metrics") return text.split(",")
  if (name === "filters") return jsonOr(text)
  if (name === "imports" || name === "match_weekday") return text === "true" ? true : text === "false" ? false : text
  return text
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const forbiddenCharacters = (pointer: string): Fault => ({
  pointer,
  code: "invalid_characters",
  detail: "Control characters and halves of surrogate pairs are not allowed.",
})

function noChoice(name: string, allowed: readonly string[]): Fault {
  return { pointer: `/${name}`, code: "invalid_choice", detail: `${name} must be of: ${allowed.join(", ")}.`, allowed }
}

function unknownArgument(name: string, allowed: readonly string[]): Fault {
  return { ...noArgument(name), allowed }
}

const noArgument = (name: string): Fault => ({
  pointer: `/${segment(name)}`,
  code: "unknown_field",
  detail: "There is no such parameter.",
})

/** A name as part of a JSON pointer, cut where nobody reads on. */
const segment = (name: string): string => name.slice(0, 100).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")

const wrongType = (name: string, wanted: string): Fault => ({
  pointer: `/${name}`,
  code: "invalid_type",
  detail: `${name} must be ${wanted}.`,
})

function wrongSize(name: string, code: string, allowed: Bounds, unit: string): Fault {
  return { pointer: `/${name}`, code, detail: `${name} has ${allowed.min} to ${allowed.max} ${unit}.`, allowed }
}

const within = ({ min, max }: Bounds, size: number): boolean => size >= min && size <= max
