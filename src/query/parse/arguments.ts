import { AppError, type Fault, MAX_COUNTED_FAULTS } from "../../domain/error.ts"
import { COLLECT, QUERY } from "../../domain/limits.ts"
import { parseDay } from "../../domain/moment.ts"
import { isClean } from "../../domain/text.ts"
import { END_FORMS, type End, parseEnd } from "./period.ts"

/** Whether arguments came as text of a query string (400 `invalid_query`) or as JSON (422 `validation_failed`). */
export type Form = "text" | "json"

export interface Bounds {
  min: number
  max: number
}

/**
 * Reads the arguments of a query by name, with one method per kind of value, and collects all faults instead of stopping at the
 * first. An absent or invalid argument is read as undefined. A null is refused as a wrong type and never counts as absent.
 */
export class ArgumentReader {
  readonly #given: Record<string, unknown>
  readonly #found: Fault[] = []

  /** Refuses every argument that is not in `allowed`. */
  constructor(given: Record<string, unknown>, allowed: readonly string[]) {
    this.#given = given
    for (const name of Object.keys(given)) {
      if (this.#found.length > MAX_COUNTED_FAULTS) break
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

  /** Reads a list of distinct names from a closed set. */
  choices<T extends string>(name: string, allowed: readonly T[], size: Bounds): readonly T[] | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.refuse(wrongType(name, "a list"))
    const isKnown = (item: unknown): item is T => allowed.some((known) => known === item)
    // One fault for the whole list, because it can have thousands of wrong names.
    if (!value.every(isKnown)) return this.refuse(noChoice(name, allowed))
    const chosen: readonly T[] = value
    if (new Set(chosen).size < chosen.length) {
      return this.refuse({ pointer: `/${name}`, code: "not_unique", detail: `${name} contains a duplicate.` })
    }
    return within(size, chosen.length)
      ? chosen
      : this.refuse(wrongSize(name, chosen.length < size.min ? "too_few" : "too_many", size, "names"))
  }

  /** Reads an integer, which may also be a string of digits. */
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
    if (typeof value !== "string") return this.refuse(wrongType(name, "a string"))
    if (!isClean(value)) return this.refuse(forbiddenCharacters(`/${name}`))
    return within(length, value.length)
      ? value
      : this.refuse(wrongSize(name, value.length < length.min ? "too_short" : "too_long", length, "characters"))
  }

  day(name: string): Temporal.PlainDate | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== "string") return this.refuse(wrongType(name, "a date, YYYY-MM-DD"))
    const detail = `${name} must be a calendar date, YYYY-MM-DD.`
    return parseDay(value) ?? this.refuse({ pointer: `/${name}`, code: "invalid_date", detail })
  }

  /** Reads the start or end of a range: a day, or a time with or without an offset. */
  end(name: string, timezone: string): End | undefined {
    const value = this.raw(name)
    if (value === undefined) return undefined
    if (typeof value !== "string") return this.refuse(wrongType(name, "a date, YYYY-MM-DD, or a time"))
    const detail = `${name} must be ${END_FORMS}.`
    return parseEnd(value, timezone) ?? this.refuse({ pointer: `/${name}`, code: "invalid_date", detail })
  }

  refuse(fault: Fault): undefined {
    this.#found.push(fault)
  }

  /** Returns the first fault of each argument in the order in which the arguments were sent, faults of missing arguments last. */
  faults(): Fault[] {
    const found = Array.from(
      Map.groupBy(this.#found, ({ pointer }) => pointer.split("/")[1]!),
      ([name, [first]]) => ({ name, first: first! }),
    )
    const places = this.#placesOf(found.map(({ name }) => name))
    const placeOf = ({ name }: { name: string }) => places.get(name) ?? Number.MAX_SAFE_INTEGER
    return found.sort((a, b) => placeOf(a) - placeOf(b)).map(({ first }) => first)
  }

  /** Returns the positions of arguments among those sent. Stops once all are found, because a hostile caller can send thousands. */
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

/** Throws all faults of the arguments at once. Does nothing when there are none. */
export function refuseArguments(reader: ArgumentReader, form: Form): void {
  refuse(reader.faults().slice(0, 20), form)
}

/** Refuses parameters of a query string that the report sets itself. */
export function refuseNames(given: Record<string, unknown>, names: readonly string[]): void {
  const taken = names.filter((name) => given[name] !== undefined)
  refuse(taken.map(noArgument), "text")
}

/** Refuses a value of a query string that is not in a closed list. */
export function refuseChoice(name: string, allowed: readonly string[]): never {
  refuseArgument(noChoice(name, allowed))
}

/** Refuses a query string for a reason that concerns more than one value. */
export function refuseArgument(found: Fault): never {
  throw notValid([found], "text")
}

/**
 * Converts the values of a query string to JSON arguments: comma-separated lists, JSON text, true and false. Other values stay
 * text and are refused when they are read.
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
  detail: "Control characters and unpaired surrogates are not allowed.",
})

function noChoice(name: string, allowed: readonly string[]): Fault {
  return { pointer: `/${name}`, code: "invalid_choice", detail: `${name} must be one of: ${allowed.join(", ")}.`, allowed }
}

function unknownArgument(name: string, allowed: readonly string[]): Fault {
  return { ...noArgument(name), allowed }
}

const noArgument = (name: string): Fault => ({
  pointer: `/${segment(name)}`,
  code: "unknown_field",
  detail: "This parameter does not exist.",
})

/** Returns a name as a segment of a JSON pointer, cut to 100 characters. */
const segment = (name: string): string => name.slice(0, 100).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")

const wrongType = (name: string, wanted: string): Fault => ({
  pointer: `/${name}`,
  code: "invalid_type",
  detail: `${name} must be ${wanted}.`,
})

function wrongSize(name: string, code: string, allowed: Bounds, unit: string): Fault {
  return { pointer: `/${name}`, code, detail: `${name} must have ${allowed.min} to ${allowed.max} ${unit}.`, allowed }
}

const within = ({ min, max }: Bounds, size: number): boolean => size >= min && size <= max

/** Reads the arguments of the property report: an event name and the maximum number of properties. */
export function readProperties(given: Record<string, unknown>, form: Form): { event: string | undefined; limit: number } {
  const reader = new ArgumentReader(given, ["event", "limit"])
  const event = reader.text("event", { min: 1, max: COLLECT.nameChars })
  const limit = reader.integer("limit", QUERY.propertyKeys) ?? QUERY.propertyKeys.default
  refuseArguments(reader, form)
  return { event, limit }
}
