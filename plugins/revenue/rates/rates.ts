import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AppError,
  cursorOf,
  field,
  Paged,
  parseCurrency,
  parseDay,
  type RowStatements,
  readPlace,
  readSortedPaging,
  type Site,
  sql,
  textOf,
} from "#plugin"
import type { RevenueHost } from "../host.ts"
import { readEcbFile } from "./ecb.ts"
import { createRateLookup, RATE_DAYS, type Rate, type RateLookup, rateLookup } from "./rate.ts"
import type { NewRate } from "./rate-input.ts"

export const RATE_SOURCES = ["manual", "csv", "ecb"] as const
type RateSource = (typeof RATE_SOURCES)[number]

export const RateResponse = t.Object(
  {
    day: field.text("Day of the rate."),
    base: field.text("Currency of which one unit is priced."),
    quote: field.text("Currency of the price."),
    rate: field.text("Price of one unit of `base` in `quote`, as decimal text."),
    source: textOf<RateSource>({ description: "`manual`, `csv`, or `ecb` for the daily file of the European Central Bank." }),
    scope: textOf<"site" | "instance">({ description: "`instance` for a rate of all sites. Rates of the site take precedence." }),
  },
  { title: "Rate" },
)
export type RateResponse = Static<typeof RateResponse>
export const RatePage = Paged(RateResponse)

/** Answer to a write of rates. */
export const RatesWritten = t.Object({ written: field.integer("Number of rates that were written.") }, { title: "RatesWritten" })

export const RatesInput = t.Object(
  {
    rates: t.Array(
      t.Object(
        {
          day: t.String({ description: "Day of the rate, as YYYY-MM-DD." }),
          base: t.String({ description: "Currency of which one unit is priced, as an ISO 4217 code." }),
          quote: t.String({ description: "Currency of the price, as an ISO 4217 code." }),
          rate: t.Union([t.String(), t.Number()], {
            description: "Price of one unit of `base` in `quote`: a positive decimal number of at most 12 significant digits.",
          }),
        },
        { additionalProperties: false, title: "NewRate" },
      ),
      { minItems: 1, maxItems: 10_000, description: "Rates. Each replaces the rate with the same day, base and quote." },
    ),
  },
  { additionalProperties: false, title: "RatesInput" },
)

/** Caller of a read: a query slot of the organization, which ends with the request. */
export interface RowsCaller {
  organizationId: number
  signal?: AbortSignal
}

interface StoredRate extends Rate {
  source: RateSource
}

/** Number of days of rates in memory per site. */
const MAX_DAYS = 4_000
const SLICE = 10_000

/** Rates of sites and of the instance. `changed` is called after rates of a site, or of all sites, from a day on were written. */
export function createRates(host: RevenueHost, changed: (from: string, siteId: number | undefined) => Promise<unknown>) {
  const { rows, audit, now } = host
  /** Lookups for the writer, of tables that no one else writes to. They are valid until a rate is written. */
  const lookups = new Map<number, WriterLookup>()

  async function store(siteId: number, rates: readonly NewRate[], source: RateSource): Promise<boolean> {
    const isNew = await rows.write((statements) => upsert(statements, siteId, rates, source).length > 0)
    if (siteId === 0) lookups.clear()
    else lookups.delete(siteId)
    return isNew
  }

  return {
    /** Returns the lookup of a site for days of a range, for reads of any size. */
    async lookup(site: Site, from: string, to: string, caller: RowsCaller): Promise<RateLookup> {
      const rates: Rate[] = []
      const first = parseDay(from)!.subtract({ days: RATE_DAYS }).toString()
      for (let after: Rate | undefined; ; ) {
        const slice: Rate[] = await rows.read(
          sql`select site_id, day, base, quote, rate from revenue_rates where site_id in (0, ${site.id}) and day between ${first} and ${to}
            and (site_id, day, base, quote) > (${after?.site_id ?? -1}, ${after?.day ?? ""}, ${after?.base ?? ""}, ${after?.quote ?? ""})
            order by site_id, day, base, quote limit ${SLICE}`,
          caller,
        )
        rates.push(...slice)
        if (slice.length < SLICE) return createRateLookup(rates)
        after = slice.at(-1)
      }
    },

    /** Returns the lookup of a site inside a transaction of the writer. It must not be used after it. */
    lookupIn(statements: RowStatements, siteId: number): RateLookup {
      const known = lookups.get(siteId)
      const lookup = known && known.days < MAX_DAYS ? known : createWriterLookup(siteId)
      lookup.statements = statements
      if (!rows.isShared) lookups.set(siteId, lookup)
      return lookup.find
    },

    /** Lists the rates of the site and of the instance, latest day first. */
    async list(site: Site, query: Record<string, unknown>, caller: RowsCaller): Promise<Static<typeof RatePage>> {
      const { list, limit, cursor, count, filters } = readSortedPaging("revenue-rates", query, RATE_FILTERS, (reader) => ({
        from: reader.day("from")?.toString() ?? "0000-01-01",
        to: reader.day("to")?.toString() ?? "9999-12-31",
        base: currencyIn(reader.text("base", CODE)),
        quote: currencyIn(reader.text("quote", CODE)),
        scope: reader.choice("scope", ["site", "instance"]),
      }))
      const place = cursor === undefined ? undefined : (readPlace(list, cursor) as [string, string, string, number])
      const sites = filters.scope === "site" ? sql`(${site.id})` : filters.scope === "instance" ? sql`(0)` : sql`(0, ${site.id})`
      const base = filters.base === undefined ? sql`` : sql`and base = ${filters.base}`
      const quote = filters.quote === undefined ? sql`` : sql`and quote = ${filters.quote}`
      const where = sql`where site_id in ${sites} and day between ${filters.from} and ${filters.to} ${base} ${quote}`
      const after = place
        ? sql`and (day < ${place[0]} or (day = ${place[0]} and (base, quote, site_id) > (${place[1]}, ${place[2]}, ${place[3]})))`
        : sql``
      const found: StoredRate[] = await rows.read(
        sql`select site_id, day, base, quote, rate, source from revenue_rates ${where} ${after}
          order by day desc, base, quote, site_id limit ${limit + 1}`,
        caller,
      )
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const total = count
        ? (await rows.read<{ total: number }>(sql`select count(*) as total from revenue_rates ${where}`, caller))[0]
        : undefined
      return {
        data: page.map(({ site_id, ...rate }) => ({ ...rate, scope: site_id === 0 ? ("instance" as const) : ("site" as const) })),
        has_more: found.length > limit,
        next_cursor: found.length > limit && last ? cursorOf(list, [last.day, last.base, last.quote, last.site_id]) : null,
        ...total,
      }
    },

    /** Writes rates of a site, each in place of an equal key, and lets its transactions be converted again. */
    async put(site: Site, rates: readonly NewRate[], source: "manual" | "csv", actor: Actor): Promise<void> {
      const days = rates.map(({ day }) => day).sort()
      await audit.writeAlone(actor, {
        action: "revenue.rates.update",
        target: { type: "revenue_rates", id: site.id, label: `${rates.length} rates from ${days[0]} to ${days.at(-1)}` },
        siteId: site.id,
        organizationId: site.organization_id,
      })
      if (await store(site.id, rates, source)) await changed(days[0]!, site.id)
    },

    /** Reads the file of the European Central Bank, if its URL is set, and stores its rates for all sites. */
    async fetchEcb(signal: AbortSignal): Promise<number> {
      const url = host.settings.ecb_url
      if (url === undefined || !host.outbound.enabled) return 0
      const { status, body } = await host.fetch(url, { byOperator: true, signal })
      if (status !== 200) throw new AppError("outbound_failed", `The file of exchange rates answered with the status ${status}.`)
      const rates = readEcbFile(new TextDecoder().decode(body))
      if (rates.length === 0) throw new AppError("outbound_failed", "The file of exchange rates has an unknown form.")
      const days = rates.map(({ day }) => day).sort()
      if (await store(0, rates, "ecb")) {
        host.log.info("exchange rates were read", { days: new Set(days).size, last: days.at(-1)!, at: now() })
        await changed(days[0]!, undefined)
      }
      return rates.length
    },

    removeSite: (siteId: number): Promise<void> =>
      rows.write((statements) => statements.run(sql`delete from revenue_rates where site_id = ${siteId}`)),
  }
}
export type Rates = ReturnType<typeof createRates>

/** Lookup that reads each day once, with the statements of the current transaction. */
interface WriterLookup {
  find: RateLookup
  days: number
  statements: RowStatements | undefined
}

function createWriterLookup(siteId: number): WriterLookup {
  const lookup: WriterLookup = {
    days: 0,
    statements: undefined,
    find: rateLookup((day) => {
      lookup.days++
      const rates = sql`select site_id, day, base, quote, rate from revenue_rates where site_id in (0, ${siteId}) and day = ${day}`
      return lookup.statements!.all<Rate>(rates) // set at the beginning of each transaction
    }),
  }
  return lookup
}

export const RATE_FILTERS = ["from", "to", "base", "quote", "scope"] as const
const CODE = { min: 3, max: 3 }
/** An unknown code matches no rate, like any other value that no row has. */
const currencyIn = (text: string | undefined): string | undefined => (text === undefined ? undefined : (parseCurrency(text) ?? text))

/** Writes rates, the last one of each day and pair, and returns those that are new or changed. */
const upsert = (statements: RowStatements, siteId: number, rates: readonly NewRate[], source: RateSource): object[] =>
  statements.all(sql`insert into revenue_rates (site_id, day, base, quote, rate, source)
    select ${siteId}, value ->> 'day', value ->> 'base', value ->> 'quote', value ->> 'rate', ${source}
    from json_each(${JSON.stringify(rates)}) where true order by key
    on conflict (site_id, day, base, quote) do update set rate = excluded.rate, source = excluded.source
    where rate <> excluded.rate or source <> excluded.source
    returning day`)
