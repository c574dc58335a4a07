import { parseDay, parseInstant, type SenderFacts } from "#plugin"
import type { LinkFields, Rule, When } from "./link.ts"

/** What rules are asked about. */
export interface Situation extends Pick<SenderFacts, "device" | "os" | "country" | "language"> {
  /** Epoch ms. */
  at: number
  /** Without the question mark. */
  query: string
}

/** The number of the first rule that holds, from 1; 0 when the link's own destination is the one. */
export function ruleFor({ rules }: Pick<LinkFields, "rules">, timezone: string, situation: Situation): number {
  return rules.length === 0 ? 0 : rules.findIndex(({ when }: Rule) => holds(when, timezone, situation)) + 1
}

function holds({ device, os, country, language, query, date }: When, timezone: string, given: Situation): boolean {
  return (
    isOneOf(device, given.device) &&
    isOneOf(os, given.os) &&
    isOneOf(country, given.country) &&
    speaks(language, given.language) &&
    (!query || hasPair(given.query, query)) &&
    (!date || isWithin(date, timezone, given.at))
  )
}

const isOneOf = (values: readonly string[] | undefined, value: string): boolean =>
  !values || values.some((one) => one.toLowerCase() === value.toLowerCase())

const speaks = (values: readonly string[] | undefined, language: string): boolean =>
  !values || values.some((one) => `${language}-`.toLowerCase().startsWith(`${one}-`.toLowerCase()))

const hasPair = (text: string, { name, value }: NonNullable<When["query"]>): boolean => {
  const found = new URLSearchParams(text).getAll(name)
  return value === undefined ? found.length > 0 : found.includes(value)
}

function isWithin(date: NonNullable<When["date"]>, timezone: string, at: number): boolean {
  const { begins, ends } = momentsOf(date, timezone)
  return begins <= at && at < ends
}

/** From when, and until before when, in epoch ms. A day is one of the site's zone, and its last moment belongs to it. */
export const momentsOf = ({ from, to }: NonNullable<When["date"]>, timezone: string): { begins: number; ends: number } => ({
  begins: from === undefined ? Number.NEGATIVE_INFINITY : (parseInstant(from) ?? midnight(from, 0, timezone)),
  ends: to === undefined ? Number.POSITIVE_INFINITY : (parseInstant(to) ?? midnight(to, 1, timezone)),
})

const midnight = (day: string, later: number, timezone: string): number =>
  parseDay(day)!.add({ days: later }).toZonedDateTime(timezone).epochMilliseconds // judged when it was saved
