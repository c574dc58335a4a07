import {
  dayStart,
  type ErasedVisits,
  type Exporter,
  type PluginJob,
  parseDay,
  type Removed,
  raw,
  type SaleEvent,
  type Site,
  type Sql,
  sql,
} from "#plugin"
import type { Area } from "./area.ts"
import { FOLD_JOB } from "./folding/following.ts"
import { DAY_MS } from "./folding/touches.ts"
import { EVENT } from "./orders/aliases.ts"
import { deleteRefund } from "./orders/refunds.ts"
import { forgetEvents, refoldSale } from "./orders/removal.ts"
import { deleteSale } from "./orders/sales.ts"
import { COLUMNS, NO_VISIT, type TransactionRow } from "./orders/transaction.ts"
import type { RevenueWriter } from "./orders/writer.ts"
import { RECOMPUTE_JOB } from "./settings.ts"
import { formatDetail } from "./transactions/responses.ts"

/** Number of rows that one transaction of the writer changes. */
const SLICE = 500

export const jobsOf = ({ host, settings, rates, recompute, following, visibility }: Area): Readonly<Record<string, PluginJob>> => ({
  // The sites that wait are known to the node that has stored their sales.
  [FOLD_JOB]: { interrupted: "resume", onDisk: true, attempts: 5, run: ({ signal }) => inOrder(signal, following.run, visibility.run) },
  "follow-visits": {
    interrupted: "resume",
    schedule: { cron: "*/5 * * * *" },
    async run({ signal }) {
      await inOrder(signal, following.catchUp, visibility.catchUp)
      for (const site of await host.services.allSites()) if (!signal.aborted) await settings.followCurrency(site)
    },
  },
  [RECOMPUTE_JOB]: { interrupted: "resume", attempts: 5, run: recompute.run },
  "fetch-rates": {
    interrupted: "resume",
    attempts: 5,
    // The European Central Bank publishes at about 16:00 in Frankfurt, on working days.
    schedule: { cron: "30 16,18 * * *", timezone: "Europe/Berlin" },
    run: ({ signal }) => rates.fetchEcb(signal),
  },
})

async function inOrder(signal: AbortSignal, ...steps: readonly ((signal: AbortSignal) => Promise<void>)[]): Promise<void> {
  for (const step of steps) await step(signal)
}

/** Deletes all rows of a deleted site. Returns the number of transactions. */
export async function removeSite(area: Area, siteId: number): Promise<Removed> {
  const transactions = await removeTransactions(area, siteId)
  await area.rates.removeSite(siteId)
  await area.host.db.run(sql`delete from revenue_settings where site_id = ${siteId}`)
  return { transactions }
}

/** Deletes the transactions, aliases and position of a site. Settings and rates remain. */
const removeTransactions = ({ host, writing }: Area, siteId: number): Promise<number> =>
  writing.inTurn(siteId, async () => {
    const transactions = await inSlices(() =>
      host.rows.write(
        ({ all }) =>
          all(sql`delete from revenue_transactions
            where id in (select id from revenue_transactions where site_id = ${siteId} limit ${SLICE}) returning id`).length,
      ),
    )
    await host.rows.write(({ run }) => {
      run(sql`delete from revenue_chunks where site_id = ${siteId}`)
      run(sql`delete from revenue_unpacked where site_id = ${siteId}`)
      run(sql`delete from revenue_aliases where site_id = ${siteId}`)
      run(sql`delete from revenue_voided where site_id = ${siteId}`)
      run(sql`delete from revenue_cursor where site_id = ${siteId}`)
    })
    return transactions
  })

/** Deletes the transactions of days before a cutoff. Those after it keep what they have of a visit that started before it. */
export async function retain(area: Area, siteId: number, cutoffDay: string): Promise<Removed> {
  const site = area.host.services.sites.directory.byId(siteId)
  const cutoff = cutoffOf(area, siteId, cutoffDay)
  if (!site || cutoff === undefined) return {}
  // Removed rows are gone, so that each slice is the earliest one.
  const transactions = await changeAll(
    area,
    siteId,
    () => sql`site_id = ${siteId} and occurred_at < ${cutoff} order by occurred_at, id`,
    remove,
  )
  await loseVisits(area, site, cutoff)
  return { transactions }
}

/** A place in the order of time. */
type Place = Pick<TransactionRow, "occurred_at" | "id">

/** Marks the transactions after a cutoff whose visit started before it. They occurred within a day: no visit lasts longer. */
async function loseVisits({ writing }: Area, site: Site, cutoff: number): Promise<void> {
  const markAfter = ({ book }: RevenueWriter, { occurred_at: at, id }: Place): Place | undefined => {
    const found = book.select(sql`site_id = ${site.id} and (occurred_at, id) > (${at}, ${id}) and occurred_at < ${cutoff + DAY_MS}
      order by occurred_at, id limit ${SLICE}`)
    for (const { id, sale_sequence, visit_started_at } of found)
      if (sale_sequence !== null && visit_started_at !== null && visit_started_at < cutoff) book.update(id, { visit_sequence: null })
    return found.at(-1)
  }
  for (let place: Place | undefined = { occurred_at: cutoff, id: 0 }; place; await Bun.sleep(0)) {
    const after: Place = place
    place = await writing.writeInTurn(site, (writer) => markAfter(writer, after))
  }
}

export async function countOverdue(area: Area, siteId: number, cutoffDay: string): Promise<Removed> {
  const cutoff = cutoffOf(area, siteId, cutoffDay)
  if (cutoff === undefined) return {}
  const count = sql`select count(*) as n from revenue_transactions where site_id = ${siteId} and occurred_at < ${cutoff}`
  return { transactions: await area.host.rows.write(({ get }) => get<{ n: number }>(count)!.n) }
}

function cutoffOf({ host }: Area, siteId: number, day: string): number | undefined {
  const site = host.services.sites.directory.byId(siteId)
  return site && dayStart(parseDay(day)!, site.timezone)
}

/** Removes a person from the transactions of a site, whose amounts stay. */
export async function erasePerson(area: Area, siteId: number, visitor: string): Promise<Removed> {
  const site = area.host.services.sites.directory.byId(siteId)
  if (!site) return {}
  await area.following.settle(site)
  const ofPerson = await idsOfVisitor(area, siteId, visitor)
  const { touches } = await area.host.sales.touches(site, { visitors: [visitor], from: 0, to: Number.MAX_SAFE_INTEGER })
  const visits = new Set(touches.map(({ sequence }) => sequence))
  const reported = reportedBy(siteId, await area.host.sales.byVisit(siteId, [...visits]))
  const isOfPerson = (row: TransactionRow) => row.visitor === visitor || row.person === visitor
  const transactions = await changeAll(
    area,
    siteId,
    (after) => sql`id in (select value from json_each(${JSON.stringify(ofPerson)}) union ${reported}) and id > ${after} order by id`,
    (writer, row) => {
      writer.book.update(row.id, { stated_at: row.import_id === 0 ? row.occurred_at : null, ...(isOfPerson(row) && NO_VISIT) })
      forgetEvents(writer, writer.book.byId(row.id)!, (visit) => visits.has(visit)) // updated above
    },
  )
  return { transactions }
}

const WEEK_MS = 604_800_000

/**
 * Returns the ids of the transactions with a visitor or person. Visitors are not indexed by themselves, so the index by time is read, in
 * weeks, between which incoming events pass.
 */
async function idsOfVisitor({ host }: Area, siteId: number, visitor: string): Promise<number[]> {
  const read = (condition: Sql) =>
    host.rows.write(({ all }) =>
      all<{ id: number }>(sql`select id from revenue_transactions where site_id = ${siteId} and ${condition}`).map(({ id }) => id),
    )
  const ids = new Set(await read(sql`person = ${visitor} and person is not null`))
  const end = (order: string) =>
    sql`(select occurred_at from revenue_transactions where site_id = ${siteId} order by occurred_at ${raw(order)} limit 1)`
  const { first, last } = await host.rows.write(
    ({ get }) => get<{ first: number | null; last: number | null }>(sql`select ${end("asc")} as first, ${end("desc")} as last`)!, // it returns a row
  )
  if (first === null || last === null) return []
  for (let from = first; from <= last; from += WEEK_MS)
    for (const id of await read(sql`occurred_at >= ${from} and occurred_at < ${from + WEEK_MS} and visitor = ${visitor}`)) ids.add(id)
  return [...ids]
}

/** Removes what was derived from erased visits: tracked transactions, and what other transactions have of these visits. */
export async function eraseVisits(area: Area, siteId: number, removed: ErasedVisits): Promise<Removed> {
  if ("all" in removed) return { transactions: await removeTransactions(area, siteId) }
  const site = area.host.services.sites.directory.byId(siteId)
  if (!site) return {}
  await area.following.settle(site)
  const sequences = new Set(removed.visits.map(({ sequence }) => sequence))
  const isLeft = (event: SaleEvent) => !sequences.has(event.visit_sequence)
  const events = await area.host.sales.byVisit(siteId, [...sequences])
  const tracked = sql`select id from revenue_transactions
    where site_id = ${siteId} and sale_sequence in (select value from json_each(${JSON.stringify(events.map(({ sequence }) => sequence))}))`
  const ofVisits = sql`select id from revenue_transactions
    where site_id = ${siteId} and visit_sequence in (select value from json_each(${JSON.stringify([...sequences])})) and sale_sequence is null`
  // An order can have the visit of one event and the amount of another one.
  const reported = reportedBy(siteId, events)
  const transactions = await changeAll(
    area,
    siteId,
    (after) => sql`id in (${tracked} union ${ofVisits} union ${reported}) and id > ${after} order by id`,
    (writer, row) =>
      isKnownWithoutEvents(row) ? forgetEvents(writer, row, (visit) => sequences.has(visit)) : removeReports(area, writer, row, isLeft),
  )
  if (transactions > 0) area.following.soon(siteId)
  return { transactions }
}

/** Selects the ids of the sales of which some events are further reports. */
const reportedBy = (siteId: number, events: readonly SaleEvent[]): Sql =>
  sql`select transaction_id from revenue_aliases where site_id = ${siteId} and provider = ${EVENT}
    and alias in (select value from json_each(${JSON.stringify(events.map(({ sequence }) => String(sequence)))}))`

/** Returns whether a provider or a member has reported a transaction, or an event of an erased person. */
const isKnownWithoutEvents = ({ provider, sale_sequence, stated_at }: TransactionRow): boolean =>
  stated_at !== null || sale_sequence === null || (provider !== "tracker" && provider !== "import")

/** Removes the transactions of an import that was undone. */
export async function undoImport(area: Area, siteId: number, importId: number): Promise<number> {
  const isLeft = (event: SaleEvent) => event.import_id !== importId
  const removed = await changeAll(
    area,
    siteId,
    (after) => sql`site_id = ${siteId} and import_id = ${importId} and import_id > 0 and id > ${after} order by id`,
    (writer, row) => removeReports(area, writer, row, isLeft),
  )
  if (removed > 0) area.following.soon(siteId)
  return removed
}

/** Removes a transaction. A sale stays if some of its events are left. */
const removeReports = ({ host }: Area, writer: RevenueWriter, row: TransactionRow, isLeft: (event: SaleEvent) => boolean): void =>
  row.type === "sale" ? refoldSale(writer, host.sales, row, isLeft) : deleteRefund(writer, row)
const remove = (writer: RevenueWriter, row: TransactionRow): void =>
  row.type === "sale" ? deleteSale(writer, row.id) : deleteRefund(writer, row)

/** Changes all rows of a site that match, in slices in the order of the condition. Returns their number. */
async function changeAll(
  { host, writing }: Area,
  siteId: number,
  matches: (after: number) => Sql,
  change: (writer: RevenueWriter, row: TransactionRow) => void,
): Promise<number> {
  const site = host.services.sites.directory.byId(siteId)
  if (!site) return 0
  let after = 0
  return inSlices(async () => {
    const ids = await writing.writeInTurn(site, (writer) => {
      const found = writer.book.select(sql`${matches(after)} limit ${SLICE}`)
      for (const row of found) change(writer, row)
      return found.map(({ id }) => id)
    })
    after = ids.at(-1) ?? after
    return ids.length
  })
}

/** Repeats a slice until it has changed nothing, and lets incoming events pass in between. Returns the sum. */
async function inSlices(slice: () => Promise<number>): Promise<number> {
  for (let total = 0; ; await Bun.sleep(0)) {
    const changed = await slice()
    total += changed
    if (changed === 0) return total
  }
}

/** Yields the transactions of a site for its archive, with the names that visitors have in it. */
export async function* exportedTransactions({ host }: Area, site: Site, names: Parameters<Exporter>[1]): AsyncIterable<object> {
  for (let after = 0; ; ) {
    const found = await host.rows.write(({ all }) =>
      all<TransactionRow>(
        sql`select ${COLUMNS} from revenue_transactions where site_id = ${site.id} and id > ${after} order by id limit ${SLICE}`,
      ),
    )
    const visitors = names.visitors(found.flatMap(({ visitor }) => visitor ?? []))
    for (const row of found) {
      const { created_by: _, external_id, ...shown } = formatDetail(row, { seesPeople: false, related: [], aliases: [] })
      yield { ...shown, external_id, ...(row.visitor !== null && { visitor: visitors.shift() }) }
    }
    if (found.length < SLICE) return
    after = found.at(-1)!.id
  }
}

/** Yields the exchange rates of a site for its archive. */
export async function* exportedRates({ host }: Area, site: Site): AsyncIterable<object> {
  for (let after = ["", "", ""]; ; ) {
    const found = await host.rows.write(({ all }) =>
      all<{ day: string; base: string; quote: string; rate: string; source: string }>(sql`select day, base, quote, rate, source
        from revenue_rates where site_id = ${site.id} and (day, base, quote) > (${after[0]}, ${after[1]}, ${after[2]})
        order by day, base, quote limit ${SLICE}`),
    )
    yield* found
    const last = found.at(-1)
    if (!last || found.length < SLICE) return
    after = [last.day, last.base, last.quote]
  }
}
