import type { Fault } from "../domain/error.ts"
import { isClean } from "../domain/text.ts"
import { parseDay } from "./period.ts"

export interface Bounds {
  min: number
  max: number
}

/**
 * Reads arguments by name, one kind of value per method, and collects what is wrong with them: a fault never stops the
 * reading. An argument that is absent or at fault gives undefined; `default`s are the caller's.
 */
export interface ArgumentReader {
  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined
  /** Unique names of a closed list. */
  choices<T extends string>(name: string, allowed: readonly T[], size: Bounds): readonly T[] | undefined
  /** An integer, also written as digits. */
  integer(name: string, bounds: Bounds): number | undefined
  boolean(name: string): boolean | undefined
  text(name: string, length: Bounds): string | undefined
  day(name: string): Temporal.PlainDate | undefined
  has(name: string): boolean
  raw(name: string): unknown
  refuse(fault: Fault): undefined
  /** One per argument, the first found. */
  faults(): Fault[]
}

/** `allowed` are the arguments this question has; others are refused. A null is refused as a wrong type, never taken as absent. */
export function readArguments(given: Record<string, unknown>, allowed: readonly string[]): ArgumentReader {
  const found: Fault[] = []
  const refuse = (fault: Fault): undefined => void found.push(fault)
  const wrongType = (name: string, wanted: string) =>
    refuse({ pointer: `/${name}`, code: "invalid_type", detail: `${name} must be ${wanted}.` })

  for (const name of Object.keys(given)) {
    if (!allowed.includes(name)) refuse(unknownArgument(name, allowed))
  }
  return {
    choice(name, list) {
      const value = given[name]
      if (value === undefined) return undefined
      return list.find((item) => item === value) ?? refuse(noChoice(name, list))
    },
    choices(name, list, size) {
      const value = given[name]
      if (value === undefined) return undefined
      if (!Array.isArray(value)) return wrongType(name, "a list")
      const chosen = value.flatMap((item) => list.filter((known) => known === item))
      if (chosen.length < value.length) return refuse(noChoice(name, list))
      if (new Set(chosen).size < chosen.length)
        return refuse({ pointer: `/${name}`, code: "not_unique", detail: `${name} names one twice.` })
      return within(size, chosen.length) ? chosen : refuse(wrongSize(name, chosen.length < size.min ? "too_few" : "too_many", size))
    },
    integer(name, bounds) {
      const value = given[name]
      if (value === undefined) return undefined
      const number = typeof value === "string" && /^(0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value
      if (typeof number !== "number" || !Number.isSafeInteger(number)) return wrongType(name, "a whole number")
      if (within(bounds, number)) return number
      return refuse({
        pointer: `/${name}`,
        code: "out_of_range",
        detail: `${name} must be ${bounds.min} to ${bounds.max}.`,
        allowed: bounds,
      })
    },
    boolean(name) {
      const value = given[name]
      return value === undefined || typeof value === "boolean" ? value : wrongType(name, "true or false")
    },
    text(name, length) {
      const value = given[name]
      if (value === undefined) return undefined
      if (typeof value !== "string") return wrongType(name, "a text")
      if (!isClean(value)) return refuse(forbiddenCharacters(`/${name}`))
      return within(length, value.length) ? value : refuse(wrongSize(name, value.length < length.min ? "too_short" : "too_long", length))
    },
    day(name) {
      const value = given[name]
      if (value === undefined) return undefined
      if (typeof value !== "string") return wrongType(name, "a day, YYYY-MM-DD")
      return (
        parseDay(value) ??
        refuse({ pointer: `/${name}`, code: "invalid_date", detail: `${name} must be a day of the calendar, YYYY-MM-DD.` })
      )
    },
    has: (name) => given[name] !== undefined,
    raw: (name) => given[name],
    refuse,
    faults: () => found.filter(({ pointer }, i) => found.findIndex((other) => argumentOf(other) === argumentOf({ pointer })) === i),
  }
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

function fromText(name: string, text: string): unknown {
  if (name === "metrics") return text.split(",")
  if (name === "filters" || name === "steps") return jsonOr(text)
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
  const pointer = `/${name.slice(0, 100).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`
  return { pointer, code: "unknown_field", detail: "There is no such parameter.", allowed }
}

function wrongSize(name: string, code: string, allowed: Bounds): Fault {
  return { pointer: `/${name}`, code, detail: `${name} may have ${allowed.min} to ${allowed.max}.`, allowed }
}

const within = ({ min, max }: Bounds, size: number): boolean => size >= min && size <= max

const argumentOf = ({ pointer }: { pointer: string }): string | undefined => pointer.split("/")[1]
