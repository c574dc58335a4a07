import type { ListedVisitResponse } from "../../../domain/visit-list.ts"
import { countryName, UNKNOWN, valueText } from "../../report/data/figures.ts"
import { todayIn } from "../../report/data/ranges.ts"
import { clockText, dayText, money } from "../../text/format.ts"

/** Readable texts of a visit. */

/** Formats the start of a visit without the weekday, and without the year if it is this one. */
export function startText(instant: string, timezone: string): string {
  const day = todayIn(timezone, Date.parse(instant))
  const isThisYear = day.slice(0, 4) === todayIn(timezone).slice(0, 4)
  return `${dayText(day, { weekday: undefined, ...(isThisYear && { year: undefined }) })}, ${clockText(instant, timezone)}`
}

export const sourceText = ({ source }: Pick<ListedVisitResponse, "source">): string => source ?? "Direct"

/** Returns city and country, or as much of it as is known. */
export function placeText({ city, region, country }: Pick<ListedVisitResponse, "city" | "region" | "country">): string {
  const parts = [city ?? region, country && (countryName(country) ?? country)]
  return parts.filter((part) => part !== null).join(", ") || UNKNOWN
}

export const deviceText = ({ device, browser }: Pick<ListedVisitResponse, "device" | "browser">): string =>
  [device && valueText("device", device), browser].filter((part) => part !== null).join(", ") || UNKNOWN

/** Formats an amount, with all of its digits. */
export const moneyText = ({ amount, currency }: { amount: string; currency: string }): string => money(Number(amount), currency)
