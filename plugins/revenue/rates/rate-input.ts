import { type Fault, fault, isObject, parseCurrency, parseDay, refuseFaults } from "#plugin"
import { lineFault, parseCsv } from "../csv.ts"
import { LIMITS } from "../host.ts"
import { parseRate, type Rate } from "./rate.ts"

export const RATE_FIELDS = ["day", "base", "quote", "rate"] as const

export type NewRate = Omit<Rate, "site_id">

/** Reads rates from a JSON body `{rates: […]}`. Throws `validation_failed` with all faults. */
export function readRates(body: unknown): NewRate[] {
  if (!isObject(body)) refuseFaults([fault("", "invalid_type", "must be an object")])
  const { rates, ...others } = body as Record<string, unknown>
  const faults: Fault[] = Object.keys(others).map((name) => fault(`/${name}`, "unknown_field", "is not a known field"))
  if (rates === undefined) faults.push(fault("/rates", "required", "is required"))
  else if (!Array.isArray(rates)) faults.push(fault("/rates", "invalid_type", "must be a list"))
  else if (rates.length === 0) faults.push(fault("/rates", "too_few", "must have at least 1 item"))
  else if (rates.length > LIMITS.rates) faults.push(fault("/rates", "too_many", `must have at most ${LIMITS.rates} items`))
  refuseFaults(faults)
  return checked(
    rates as unknown[],
    (index) => (column, code, predicate) => fault(`/rates/${index}${column === "" ? "" : `/${column}`}`, code, predicate),
  )
}

/** Reads rates from a CSV body with the columns `date`, `base`, `quote` and `rate`. Throws `validation_failed`, with lines. */
export function readRatesCsv(bytes: Uint8Array): NewRate[] {
  const { rows, faults } = parseCsv(bytes, { required: ["date", "base", "quote", "rate"], optional: [], maximum: LIMITS.rates })
  if (faults.length === 0 && rows.length === 0) faults.push(fault("", "too_few", "must have at least 1 row"))
  refuseFaults(faults)
  const sent = rows.map(({ values: { date, ...others } }) => ({ ...(date !== undefined && { day: date }), ...others }))
  return checked(
    sent,
    (index) => (column, code, predicate) => lineFault(rows[index]!.line, column === "day" ? "date" : column, code, predicate),
  )
}

type Refuse = (column: string, code: string, predicate: string) => Fault

function checked(sent: readonly unknown[], refusing: (index: number) => Refuse): NewRate[] {
  const faults: Fault[] = []
  const rates: NewRate[] = []
  const seen = new Set<string>()
  for (const [index, each] of sent.entries()) {
    if (faults.length > 20) break
    const found = checkRate(each, refusing(index))
    if (Array.isArray(found)) faults.push(...found)
    else {
      const key = `${found.day}${found.base}${found.quote}`
      if (seen.has(key)) faults.push(refusing(index)("", "not_unique", "repeats the day, base and quote of an earlier rate"))
      seen.add(key)
      rates.push(found)
    }
  }
  refuseFaults(faults)
  return rates
}

function checkRate(sent: unknown, refuse: Refuse): NewRate | Fault[] {
  if (!isObject(sent)) return [refuse("", "invalid_type", "must be an object")]
  const faults = Object.keys(sent)
    .filter((name) => !(RATE_FIELDS as readonly string[]).includes(name))
    .map((name) => refuse(name, "unknown_field", "is not a known field"))
  for (const name of RATE_FIELDS) if (sent[name] === undefined) faults.push(refuse(name, "required", "is required"))
  if (faults.length > 0) return faults
  const day = typeof sent.day === "string" ? parseDay(sent.day) : undefined
  if (!day || day.year < FIRST_YEAR) faults.push(refuse("day", "invalid_date", "must be a calendar date since 1999"))
  const [base, quote] = [codeOf(sent.base), codeOf(sent.quote)]
  if (base === undefined) faults.push(refuse("base", "unknown_currency", "must be an active ISO 4217 code"))
  if (quote === undefined) faults.push(refuse("quote", "unknown_currency", "must be an active ISO 4217 code"))
  if (base !== undefined && base === quote) faults.push(refuse("quote", "unsupported_combination", "must differ from base"))
  const rate = parseRate(sent.rate)
  if (rate === undefined) faults.push(refuse("rate", "invalid_rate", "must be a positive decimal number of at most 12 significant digits"))
  return faults.length > 0 ? faults : { day: day!.toString(), base: base!, quote: quote!, rate: rate! } // without faults all are valid
}

/** Year of the first reference rates of the European Central Bank. */
const FIRST_YEAR = 1999

const codeOf = (sent: unknown): string | undefined => (typeof sent === "string" ? parseCurrency(sent.trim()) : undefined)
