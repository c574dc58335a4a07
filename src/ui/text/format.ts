import { currencyStyle } from "../../domain/currency-style.ts"
import { boot } from "../api/session.ts"

/** Formats of numbers, money, times and days by `Intl` in the user's locale. A missing value is a dash. */

export const NO_VALUE = "–"
/** Returns the locale of the preferences, otherwise the browser's. */
export const locale = (): string => boot?.me?.user.locale ?? navigator.language
const MINUS = "−"
const signed = (text: string): string => text.replace("-", MINUS)

const numberFormat = memoize((locale: string, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options))
const momentFormat = memoize((locale: string, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options))

export const numberText = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  signed(numberFormat(locale(), options).format(value))
const momentText = (at: Date, options: Intl.DateTimeFormatOptions): string =>
  Number.isNaN(at.getTime()) ? NO_VALUE : momentFormat(locale(), options).format(at)

export const exact = (value: number | undefined): string => (value === undefined ? NO_VALUE : numberText(value))

/** Formats a number; 10,000 and more are shortened: 12.4k, 1.3M. */
export function short(value: number | undefined): string {
  if (value === undefined) return NO_VALUE
  const size = Math.abs(value)
  if (size < 10_000) return exact(value)
  const [unit, letter] = size < 999_950 ? ([1e3, "k"] as const) : size < 999_950_000 ? ([1e6, "M"] as const) : ([1e9, "G"] as const)
  return `${numberText(value / unit, { maximumFractionDigits: 1 })}${letter}`
}

/** Formats a percentage. A small one is not rounded to 0: it is below 0.1%. */
export function percent(value: number | undefined): string {
  if (value === undefined) return NO_VALUE
  const isTiny = value > 0 && value < 0.05
  return `${isTiny ? "<" : ""}${numberText(isTiny ? 0.1 : value, { maximumFractionDigits: value < 10 ? 1 : 0 })}%`
}

/** Formats seconds as `1m 52s`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return NO_VALUE
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole}s`
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${whole % 60}s`
  return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`
}

export const money = (value: number | undefined, currency: string | undefined): string =>
  value === undefined
    ? NO_VALUE
    : currency === undefined
      ? short(value)
      : numberText(value, {
          ...currencyStyle(currency),
          ...(Math.abs(value) >= 10_000 && { notation: "compact", minimumFractionDigits: 0, maximumFractionDigits: 1 }),
        })

type Shape = "count" | "ratio" | "percent" | "duration" | "money"
interface Words {
  label: string
  shape: Shape
  /** Set if more is better. Bounce rate and exit rate are neither good nor bad. */
  better?: "more"
}

/** Label and format of each metric. */
export const METRIC_FORMATS: Readonly<Record<string, Words>> = {
  visitors: { label: "Visitors", shape: "count", better: "more" },
  visits: { label: "Visits", shape: "count", better: "more" },
  pageviews: { label: "Views", shape: "count", better: "more" },
  events: { label: "Events", shape: "count", better: "more" },
  views_per_visit: { label: "Views per visit", shape: "ratio", better: "more" },
  bounce_rate: { label: "Bounce rate", shape: "percent" },
  visit_duration: { label: "Visit duration", shape: "duration", better: "more" },
  engaged_time: { label: "Engaged time", shape: "duration", better: "more" },
  time_on_page: { label: "Time on page", shape: "duration", better: "more" },
  scroll_depth: { label: "Scroll depth", shape: "percent", better: "more" },
  exit_rate: { label: "Exit rate", shape: "percent" },
  conversions: { label: "Conversions", shape: "count", better: "more" },
  conversion_rate: { label: "Conversion rate", shape: "percent", better: "more" },
  revenue: { label: "Revenue", shape: "money", better: "more" },
  share: { label: "Share", shape: "percent" },
}

export const metricLabel = (metric: string): string => METRIC_FORMATS[metric]?.label ?? metric

/** Formats the value of a metric. `exactly` disables shortening, for titles and assistive technology. */
export function metricText(metric: string, value: number | undefined, currency?: string, exactly = false): string {
  const shape = METRIC_FORMATS[metric]?.shape
  if (shape === "percent") return percent(value)
  if (shape === "duration") return duration(value)
  if (shape === "money") return money(value, currency)
  if (shape === "ratio") return value === undefined ? NO_VALUE : numberText(value, { maximumFractionDigits: 2 })
  return exactly ? exact(value) : short(value)
}

/** Formats `2026-11-21` as Sat 21 Nov 2026. */
export const dayText = (day: string, options: Intl.DateTimeFormatOptions = {}): string =>
  momentText(new Date(`${day.slice(0, 10)}T12:00:00Z`), {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    ...options,
  })

export const rangeText = (from: string, to: string): string => (from === to ? dayText(from) : `${dayText(from)} – ${dayText(to)}`)

/** Formats an instant in a time zone. Default: the browser's. */
export const timeText = (instant: string | number, timeZone?: string): string =>
  momentText(new Date(instant), {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    ...(timeZone && { timeZone }),
    ...hourCycle(),
  })

/** Formats hours and minutes of an instant in a time zone, with `seconds` on request. */
export const clockText = (instant: string | number, timeZone: string, seconds = false): string =>
  momentText(new Date(instant), {
    hour: "2-digit",
    minute: "2-digit",
    ...(seconds && { second: "2-digit" }),
    timeZone,
    ...hourCycle(),
  })

/** Returns the clock format of the preferences; empty for the locale's own. */
function hourCycle(): { hourCycle?: "h12" | "h23" } {
  const format = boot.me?.user.time_format
  return format === "12h" ? { hourCycle: "h12" } : format === "24h" ? { hourCycle: "h23" } : {}
}

/** Formats a count with its noun: `1 visit`, `1,204 visits`. */
export const counted = (count: number, thing: string): string => `${exact(count)} ${thing}${count === 1 ? "" : "s"}`

/** Memoizes a function by its arguments. `Intl` formatters are expensive to construct. */
export function memoize<Given extends unknown[], Result>(create: (...given: Given) => Result): (...given: Given) => Result {
  const all = new Map<string, Result>()
  return (...given) => {
    const key = JSON.stringify(given)
    const result = all.get(key) ?? create(...given)
    all.set(key, result)
    return result
  }
}
