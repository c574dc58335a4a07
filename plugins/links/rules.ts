import { parseDay, parseInstant, type SenderFacts } from "#plugin"
import type { LinkFields, Rule, When } from "./link.ts"

/** The facts about a request that rules match. */
export interface Situation extends Pick<SenderFacts, "device" | "os" | "country" | "language"> {
  /** Epoch ms. */
  at: number
  /** Without the question mark. */
  query: string
}

/** Returns the number of the first rule that matches, starting at 1; 0 if the destination of the link applies. */
export function ruleFor({ rules }: Pick<LinkFields, "rules">, timezone: string, situation: Situation): number {
  return rules.length === 0 ? 0 : rules.findIndex(({ when }: Rule) => matches(when, timezone, situation)) + 1
}

function matches({ device, os, country, language, query, date }: When, timezone: string, given: Situation): boolean {
  return (
    isOneOf(device, given.device) &&
    isOneOf(os, given.os) &&
    isOneOf(country, given.country) &&
    hasLanguage(language, given.language) &&
    (!query || hasPair(given.query, query)) &&
    (!date || isWithin(date, timezone, given.at))
  )
}

const isOneOf = (values: readonly string[] | undefined, value: string): boolean =>
  !values || values.some((one) => one.toLowerCase() === value.toLowerCase())

const hasLanguage = (values: readonly string[] | undefined, language: string): boolean =>
  !values || values.some((one) => `${language}-`.toLowerCase().startsWith(`${one}-`.toLowerCase()))

const hasPair = (text: string, { name, value }: NonNullable<When["query"]>): boolean => {
  const found = new URLSearchParams(text).getAll(name)
  return value === undefined ? found.length > 0 : found.includes(value)
}

function isWithin(date: NonNullable<When["date"]>, timezone: string, at: number): boolean {
  const { begins, ends } = momentsOf(date, timezone)
  return begins <= at && at < ends
}

/** Returns the half-open range of a date condition in epoch ms. Days are days in the time zone of the site; the last one is included. */
export const momentsOf = ({ from, to }: NonNullable<When["date"]>, timezone: string): { begins: number; ends: number } => ({
  begins: from === undefined ? Number.NEGATIVE_INFINITY : (parseInstant(from) ?? midnight(from, 0, timezone)),
  ends: to === undefined ? Number.POSITIVE_INFINITY : (parseInstant(to) ?? midnight(to, 1, timezone)),
})

const midnight = (day: string, later: number, timezone: string): number =>
  parseDay(day)!.add({ days: later }).toZonedDateTime(timezone).epochMilliseconds // checked when it was saved
