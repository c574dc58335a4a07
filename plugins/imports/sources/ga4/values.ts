import { ImportFault } from "../../source.ts"
import { dateOf } from "../times.ts"
import { type DayAndHour, dayOf, ValueFault } from "../totals-rows.ts"
import { countryOf, languageTag } from "../traits.ts"

/** The values of reports of Google Analytics: days, numbers with separators of any language, and names of countries and languages. */

const DAY_MS = 86_400_000
const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10)
const timeOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** Reads a day such as `20260131`. */
export const readDate = (text: string): DayAndHour => ({ day: dayOf(text) })

/** Reads an hour such as `2026013123`, in the zone of the property. */
export function readDateHour(text: string): DayAndHour {
  const [, day, hour = ""] = /^(\d{8}) ?(\d\d)$/.exec(text.trim()) ?? []
  if (day === undefined || Number(hour) > 23) throw new ValueFault("bad_date", text)
  return { day: dayOf(day), hour: Number(hour) }
}

interface Range {
  from: string
  to: string
}

/** Reads a number of days since the first day of the report, such as `0023`. */
export function nthDayReader({ from, to }: Range): (text: string) => DayAndHour {
  const [first, last] = [timeOf(dayOf(from)), timeOf(dayOf(to))]
  return (text) => {
    const time = /^\d{1,6}$/.test(text.trim()) ? first + Number(text) * DAY_MS : Number.NaN
    if (!(time <= last)) throw new ValueFault("bad_date", text)
    return { day: dayText(time) }
  }
}

const SLASHED = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{2}|\d{4})$/

/**
 * Reads the days of a Universal Analytics report, such as `1/31/23`, whose order of day and month depends on the account. The report has a
 * row for each day of its range, so the order is that in which the row is its day. Throws `ambiguous_date` if that does not decide.
 */
export function dayIndexReader(file: string, range: Range | undefined): (text: string, index: number) => DayAndHour {
  const [first, last] = range ? [timeOf(dayOf(range.from)), timeOf(dayOf(range.to))] : [Number.NaN, Number.NaN]
  return (text, index) => {
    const [, one = "", two = "", yearText = ""] = SLASHED.exec(text.trim()) ?? []
    const year = Number(yearText) + (yearText.length === 2 ? 2_000 : 0)
    const orders = [dateOf(year, Number(one), Number(two)), dateOf(year, Number(two), Number(one))]
    const times = [...new Set(orders.filter((time) => time !== undefined))]
    const inRange = range ? times.filter((time) => time >= first && time <= last) : times
    const time = times.find((one) => one === first + index * DAY_MS) ?? (inRange.length === 1 ? inRange[0] : undefined)
    if (time !== undefined) return { day: dayText(time) }
    if (inRange.length === 0) throw new ValueFault("bad_date", text)
    const message = `Whether ${text} in ${file} begins with the day or the month is unclear. Export it with the comment lines at its top.`
    throw new ImportFault("ambiguous_date", message)
  }
}

const GROUPED = /^\d{1,3}(?:[.,'’\s]\d{3})+$/u
const SEPARATORS = /[\s'’]/gu

/** Reads a count, with separators of thousands. */
export function readCount(text: string): number {
  const trimmed = text.trim()
  if (GROUPED.test(trimmed) && new Set(trimmed.replace(/\d/g, "")).size === 1) return Number(trimmed.replace(/\D/g, ""))
  return Math.round(readNumber(text))
}

/** Reads a number with decimals. Of a comma and a point the last one separates them. */
export function readNumber(text: string): number {
  const plain = text.trim().replace(SEPARATORS, "")
  if (plain === "") return 0
  const [comma, point] = [plain.lastIndexOf(","), plain.lastIndexOf(".")]
  const number = comma > point ? plain.replaceAll(".", "").replace(",", ".") : plain.replaceAll(",", "")
  if (!/^[+-]?\d{1,15}(?:\.\d+)?$/.test(number)) throw new ValueFault("bad_number", text)
  if (Number(number) < 0) throw new ValueFault("negative_count", text)
  return Number(number)
}

/** Reads a rate as a fraction from 0 to 1: GA4 writes `0.36`, Universal Analytics `36.00%`. */
export function readRate(text: string): number {
  const isPercent = text.trim().endsWith("%")
  const rate = readNumber(text.replace("%", "")) / (isPercent ? 100 : 1)
  if (rate > 1) throw new ValueFault("bad_number", text)
  return rate
}

/** Reads a duration in seconds: `83.5` or `00:01:23`. */
export function readSeconds(text: string): number {
  const parts = text.trim().split(":")
  if (parts.length === 1) return readNumber(text)
  if (parts.length > 3 || !parts.every((part) => /^\d{1,4}$/.test(part))) throw new ValueFault("bad_number", text)
  return parts.reduce((seconds, part) => seconds * 60 + Number(part), 0)
}

const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl"]
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"]
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
let countries: ReadonlyMap<string, string> | undefined
let languages: ReadonlyMap<string, string> | undefined

/** Returns the codes of all names that `Intl` has in the languages of reports. */
function namesOf(type: "region" | "language", isValid: (code: string) => boolean): ReadonlyMap<string, string> {
  const names = LANGUAGES.map((language) => new Intl.DisplayNames(language, { type, fallback: "none" }))
  const codes = type === "region" ? CODES.map((code) => code.toUpperCase()) : CODES
  return new Map(codes.filter(isValid).flatMap((code) => names.map((name) => [name.of(code)?.toLowerCase() ?? "", code] as const)))
}

/** Returns the ISO code of a country by its code, or by its name in one of the languages of reports; otherwise "". */
export function readCountry(text: string): string {
  const code = countryOf(text)
  if (code !== "") return code
  // `countryOf` knows which codes are in use: those that it finds by their English names.
  const english = new Intl.DisplayNames("en", { type: "region", fallback: "none" })
  countries ??= namesOf("region", (one) => countryOf(english.of(one) ?? "") === one)
  return countries.get(text.trim().toLowerCase()) ?? ""
}

/** Returns the tag of a language by its code, such as `en-us`, or by its name in one of the languages of reports; otherwise "". */
export function readLanguage(text: string): string {
  if (/^[a-z]{2,3}(?:[-_][a-z0-9]+)*$/i.test(text.trim())) return languageTag(text)
  languages ??= namesOf("language", () => true)
  return languages.get(text.trim().toLowerCase()) ?? ""
}
